"""URLs as Go reads and prints them.

Upstream: the standard library of Go, net/url (Parse, ParseRequestURI, URL.String).
"""

from render.model.named_tuple import NamedTuple

#: What Go leaves as it is beside letters and digits, by the part of a URL.
_UNRESERVED = "-_.~"
_OF_PATH = frozenset(f"{_UNRESERVED}$&+,/:;=@")
_OF_FRAGMENT = frozenset(f"{_UNRESERVED}$&+,/:;=?@!()*")
_OF_USER = frozenset(f"{_UNRESERVED}$&+,;=")
_OF_HOST = frozenset(f"{_UNRESERVED}!$&'()*+,;=:[]<>\"")
#: What may stand there without being escaped, and Go would escape all the same.
_SUB_DELIMITERS = frozenset("!$&'()*+,;=:@[]%")
_USER_INFO = frozenset(f"{_UNRESERVED}:!$&'()*+,;=%@")
_HEX = frozenset("0123456789abcdefABCDEF")
_ESCAPE = 3
_FIRST_BEYOND = "\x80"  # of ASCII
_DELETE = "\x7f"


class URLError(ValueError):
    """The text is not a URL."""


class URL(NamedTuple):
    """The parts of a URL.

    *path* and *fragment* are unescaped, *raw_path* and *raw_fragment* as they were written; *opaque* is what follows a
    scheme without a slash; *user* is escaped again, None where there is none; *has_query*: a ``?`` was written;
    *omits_host*: a scheme is followed by one slash. All texts are bytes as Latin-1.
    """

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    host: str = ""
    path: str = ""
    raw_path: str = ""
    has_query: bool = False
    query: str = ""
    fragment: str = ""
    raw_fragment: str = ""
    omits_host: bool = False

    def __str__(self) -> str:
        """The URL as Go prints it."""
        url = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            url += self.opaque
        else:
            url += self._authority()
            path = _escaped_again(self.path, self.raw_path, _OF_PATH)
            if path and path[0] != "/" and self.host:
                url += "/"
            if not url and ":" in path.partition("/")[0]:
                url = "./"
            url += path
        if self.has_query or self.query:
            url += f"?{self.query}"
        if self.fragment:
            url += f"#{_escaped_again(self.fragment, self.raw_fragment, _OF_FRAGMENT)}"
        return url.encode("latin-1").decode(errors="replace")

    def _authority(self) -> str:
        has_authority = bool(self.host) or self.user is not None
        if not has_authority and (not self.scheme or self.omits_host or not self.path):
            return ""
        user = "" if self.user is None else f"{self.user}@"
        return f"//{user}{_escape(self.host, _OF_HOST)}"


def parse(text: str) -> URL:
    """Read *text* as ``url.Parse`` does; URLError where it is none."""
    whole, _, fragment = _bytes(text).partition("#")
    url = _parse(whole, of_request=False)
    return url._replace(fragment=_unescape(fragment), raw_fragment=fragment) if fragment else url


def parse_request(text: str) -> URL:
    """Read *text* as ``url.ParseRequestURI`` does: absolute, or an absolute path; URLError where it is neither."""
    return _parse(_bytes(text), of_request=True)


def _bytes(text: str) -> str:
    return text.encode(errors="surrogatepass").decode("latin-1")


def _parse(text: str, *, of_request: bool) -> URL:
    if any(character < " " or character == _DELETE for character in text):
        raise URLError("invalid control character in URL")
    if not text and of_request:
        raise URLError("empty url")
    if text == "*":
        return URL(path="*")
    scheme, rest = _scheme(text)
    scheme = scheme.lower()
    has_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    url = URL(scheme=scheme, has_query=has_query, query=query)
    if not rest.startswith("/"):
        if scheme:
            return url._replace(opaque=rest)
        if of_request:
            raise URLError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise URLError("first path segment in URL cannot contain colon")
    has_authority = scheme or (not of_request and not rest.startswith("///"))
    if has_authority and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        user, host = _authority(scheme, authority)
        url, rest = url._replace(user=user, host=host), slash + path
    elif scheme and rest.startswith("/"):
        url = url._replace(omits_host=True)
    return url._replace(path=_unescape(rest), raw_path=rest)


def _scheme(text: str) -> tuple[str, str]:
    """The scheme of *text*, ``""`` if it has none, and what follows."""
    for index, character in enumerate(text):
        if character.isascii() and character.isalpha():
            continue
        if character in "0123456789+-." and index:
            continue
        if character != ":":
            break
        if not index:
            raise URLError("missing protocol scheme")
        return text[:index], text[index + 1 :]
    return "", text


def _authority(scheme: str, authority: str) -> tuple[str | None, str]:
    info, at_sign, host = authority.rpartition("@")
    host = _host(scheme, host)
    if not at_sign:
        return None, host
    if not all((_is_word(character) or character in _USER_INFO) for character in info):
        raise URLError("invalid userinfo")
    name, colon, password = info.partition(":")
    user = _escape(_unescape(name), _OF_USER)
    return (f"{user}:{_escape(_unescape(password), _OF_USER)}" if colon else user), host


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise URLError("invalid IP-literal")
    if bracket == 0:
        end = host.rfind("]")
        if end < 0:
            raise URLError("missing ']' in host")
        _check_port(host[end + 1 :])
        return f"[{_ip_literal(host[1:end])}]{host[end + 1 :]}"
    colon = host.find(":") if scheme in ("http", "https") else host.rfind(":")
    if colon >= 0:
        _check_port(host[colon:])
    return _unescape_host(host)


def _ip_literal(text: str) -> str:
    """An IPv6 address between brackets, perhaps with a zone behind ``%25``."""
    from ipaddress import IPv6Address

    address, mark, zone = text.partition("%25")
    unescaped = _unescape_host(address)
    host = unescaped + _unescape_host(mark + zone, of_zone=True)
    plain, percent, name = host.partition("%")
    try:
        IPv6Address(plain)
    except ValueError:
        raise URLError("invalid host") from None
    if percent and not name:
        raise URLError("invalid host")
    return host


def _check_port(text: str) -> None:
    if text and (text[0] != ":" or not (text[1:].isascii() and (text[1:] or "0").isdigit())):
        raise URLError("invalid port after host")


def _unescape_host(text: str, *, of_zone: bool = False) -> str:
    index = 0
    while index < len(text):
        escape = text[index : index + _ESCAPE]
        if escape[0] == "%":
            byte = _unescape(escape)
            is_kept = byte == " " or _is_kept(byte, _OF_HOST) if of_zone else byte >= _FIRST_BEYOND
            if escape != "%25" and not is_kept:
                raise URLError("invalid URL escape")
            index += _ESCAPE
            continue
        if escape[0] < _FIRST_BEYOND and not _is_kept(escape[0], _OF_HOST):
            raise URLError("invalid character in host name")
        index += 1
    return _unescape(text)


def _unescape(text: str) -> str:
    first, *parts = text.split("%")
    unescaped = first
    for part in parts:
        code = part[:2]
        if len(code) < _ESCAPE - 1 or not _HEX.issuperset(code):
            raise URLError("invalid URL escape")
        unescaped += chr(int(code, 16)) + part[2:]
    return unescaped


def _escaped_again(text: str, written: str, kept: frozenset[str]) -> str:
    """*text* as it was *written*, if that is a valid way to write it."""
    if text == "*" and kept is _OF_PATH:
        return text
    is_valid = all(
        _is_kept(character, kept) or character in _SUB_DELIMITERS for character in written
    )
    return written if written and is_valid else _escape(text, kept)


def _escape(text: str, kept: frozenset[str]) -> str:
    return "".join(
        character if _is_kept(character, kept) else f"%{ord(character):02X}" for character in text
    )


def _is_kept(character: str, kept: frozenset[str]) -> bool:
    return _is_word(character) or character in kept


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
