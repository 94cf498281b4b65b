"""What `check` says of the texts that a guest boots with: less than cloud-init, and nothing of the texts themselves.

A guest may have another agent than cloud-init, and a text may be filled in later: then there are notes at most. No word
of a text is in a remark, unless it is one of cloud-init's own schemas.
"""

import functools
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby, islice

from render.guest import engine, yaml11
from render.guest.engine import SchemaAnswer
from render.guest.problem import Problem
from render.guest.volumes import GZIP
from render.model import fieldpath, tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.nearest import nearest
from render.model.regex import pattern

#: What a template language fills in, and what is encrypted.
_PLACEHOLDER = pattern(
    r"\{\{|\{%|\$\{[A-Za-z_]|\$\([A-Za-z_]\w*\)|ENC\[|(?<![\w.])@[A-Za-z_]\w*@"
    r"|__[A-Za-z][A-Za-z0-9_]*__|<[A-Za-z_][^<>\n]*>|%%\w+%%"
)
_BRACES = pattern(r"\{\{|\{%")
_ENCRYPTED = "ENC["
_MIME = pattern(r"^(?:mime-version|content-type):", re.IGNORECASE)
_MIME_SPAN = 4096
_OPENSTACK = frozenset({"links", "networks", "services"})
_OF_NETWORK = frozenset({"bonds", "bridges", "config", "ethernets", "vlans"})
#: A colon without a blank, which PyYAML takes inside of brackets and libyaml does not.
_TIGHT = pattern(r"""\w:[\[{'"]""")
_MOST = 20
"""Remarks of one kind about one text."""
_SHARED = 64
"""So many answers are kept: the machines of several inputs may boot with the same text."""
_LOOKED_AT = 200
"""Problems of one text: who has more of them wants to mend the first."""
#: What is for cloud-init and no cloud-config, by its type; the others are scripts.
_UNREAD = {
    engine.JINJA: "template",
    "text/x-include-url": "list of URLs",
    "text/x-include-once-url": "list of URLs",
    "text/cloud-config-archive": "archive",
    "text/cloud-config-jsonp": "JSON patch",
}
_UNSURE = "it may be for another agent than cloud-init"
_TYPES = {
    "object": "a mapping", "array": "a list", "string": "a text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false", "null": "nothing",
}  # fmt: skip
#: What netplan reads from a text as well.
_NETPLAN_TEXTS = {
    "boolean": pattern(r"(?i:true|false|on|off|yes|no|y|n)"),
    "integer": pattern(r"[0-9]+"),
}
#: What netplan has on top of version 2.
_OF_NETPLAN = frozenset(
    {
        "bonds", "bridges", "dummy-devices", "ethernets", "modems", "nm-devices", "openvswitch", "renderer", "tunnels",
        "version", "virtual-ethernets", "vlans", "vrfs", "wifis",
    }
)  # fmt: skip
#: Fields that netplan takes in more forms than cloud-init's schema.
_NETPLAN_OWN = frozenset({"driver", "parameters", "use-domains"})
_MAC = pattern(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")


_Placer = Callable[[FieldPath], tuple[int, int]]


#: The check that user data begin as what they are.
FIRST_LINE = "guest/first-line"


class Remark(NamedTuple):
    """What is to be said of a text: by which check, in which words, and where in it (from 1; 0: of all of it).

    *about* is the field in the document, where that tells more than the line does; *lead* is what mends the text before
    it.
    """

    check: str
    message: str
    help: str = ""
    line: int = 0
    column: int = 0
    about: str = ""
    lead: str = ""
    is_note: bool = False


class TextVerdict(NamedTuple):
    """What there is to say of a text; *unread*: why it was not looked into, ``""`` if it was.

    *addresses* are the MAC addresses that network data look for, with the places of their lines; *reaches_default_user*
    is whether an SSH key in the metadata gets to a user that may log in.
    """

    remarks: tuple[Remark, ...] = ()
    unread: str = ""
    addresses: tuple[tuple[str, int, int], ...] = ()
    reaches_default_user: bool = True


@functools.lru_cache(_SHARED)
def user_data(text: str) -> TextVerdict:
    """What is wrong with the user data *text*."""
    unread = _unreadable(text)
    if unread or not text.strip():
        return TextVerdict(unread=unread)
    named = engine.type_of(text)
    if named == engine.CLOUD_CONFIG:
        return _cloud_config(text)
    if named is not None:
        return TextVerdict(unread=_UNREAD.get(named, "script"))
    if _is_ignition(text):
        return ignition(text)
    return _headless(text)


@functools.lru_cache(_SHARED)
def network_data(text: str) -> TextVerdict:
    """What is wrong with the network data *text*."""
    unread = _unreadable(text)
    if unread or not text.strip():
        return TextVerdict(unread=unread)
    try:
        answer = engine.network_data(text)
    except yaml11.TooMuchError:
        return TextVerdict(unread="large document")
    loaded = answer.loaded
    assert loaded is not None  # noqa: S101 - network data are always looked into
    if loaded.fault:
        return _syntax(text, loaded.fault)
    if _is_open(text, loaded):
        return TextVerdict(unread="template")
    value = loaded.value
    if not isinstance(value, dict):
        return TextVerdict(unread="text of another format")
    inner = value["network"] if isinstance(value.get("network"), dict) else value
    if inner.get("config") == "disabled":
        return TextVerdict()
    version = inner.get("version")
    if version not in (1, 2) and _OF_NETWORK.isdisjoint(inner):
        unread = "document of another format" if inner and not _OPENSTACK.isdisjoint(inner) else ""
        return TextVerdict(unread=unread)
    problems = [*answer.errors]
    if version == 2:  # noqa: PLR2004 - cloud-init's second version
        problems = [problem for problem in problems if _is_wrong_for_netplan(problem, value)]
    place = yaml11.placer(text)
    remarks = _schema_remarks(place, problems, value, "guest/network-schema")
    if version == 2:  # noqa: PLR2004
        remarks = (*remarks, *_misspelt_devices(place, inner, ("network",) * (inner is not value)))
    return TextVerdict(
        (*remarks, *_deprecated(place, answer, value)), "", tuple(_addresses(place, value))
    )


def _misspelt_devices(place: _Placer, inner: dict[str, Any], above: FieldPath) -> Iterator[Remark]:
    """The keys of *inner*, at *above* of network data of version 2, that are a slip of one of netplan's."""
    for key in inner:
        near = "" if key in _OF_NETPLAN else _near(str(key), _OF_NETPLAN)
        if near and near not in inner:
            message = f"netplan has no devices of a kind called so (did you mean {near}?)"
            yield Remark("guest/network-schema", message, f"write {near}", *place((*above, key)))


def ignition(text: str) -> TextVerdict:
    """What is wrong with the Ignition configuration *text*, which has to be JSON."""
    unread = _unreadable(text)
    if unread or _BRACES.search(text):
        return TextVerdict(unread=unread or "template")
    try:
        json.loads(text, parse_int=float)  # a number may have more digits than Python counts
    except json.JSONDecodeError as error:
        if _PLACEHOLDER.search(text):
            return TextVerdict(unread="template")
        message = f"Ignition reads JSON, and this is none: {error.msg[:1].lower()}{error.msg[1:]}"
        cure = "let butane write it, or check it with ignition-validate"
        return TextVerdict((Remark("guest/ignition", message, cure, error.lineno, error.colno),))
    except RecursionError:
        return TextVerdict(unread="large document")
    return TextVerdict()


def answer_file(text: str) -> TextVerdict:
    """What is wrong with *text*, an answer file for the setup of Windows."""
    from xml.parsers import expat

    if _PLACEHOLDER.search(_XML_TAG.sub("", text)):
        return TextVerdict(unread="template")
    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)  # noqa: FBT003 - that it is all
    except expat.ExpatError as error:
        message = (
            f"the setup of Windows reads XML, and this is none: {expat.ErrorString(error.code)}"
        )
        cure = "repair it, or write it anew with Windows System Image Manager"
        place = (error.lineno, error.offset + 1)
        return TextVerdict((Remark("guest/sysprep-xml", message, cure, *place),))
    except _DoctypeError:
        return TextVerdict(unread="XML with a document type")
    return TextVerdict()


_XML_TAG = pattern(r"</?[A-Za-z_][^<>]*>")


class _DoctypeError(Exception):
    """No answer file has a document type, whose entities may stand for any amount of text."""


def _refuse_doctype(*_: Any) -> None:
    raise _DoctypeError


def _unreadable(text: str) -> str:
    """Why nobody can look into *text*, ``""`` if that is possible."""
    if text.lstrip().startswith(_ENCRYPTED):
        return "encrypted text"
    if text.startswith(GZIP):
        return "compressed text"
    head = text[:_MIME_SPAN].lower()
    return "MIME message" if "mime-version:" in head or _MIME.match(head.lstrip()) else ""


def _is_ignition(text: str) -> bool:
    return text.lstrip()[:1] == "{" and '"ignition"' in text


def _cloud_config(text: str) -> TextVerdict:
    try:
        answer = engine.user_data(text)
    except yaml11.TooMuchError:
        return TextVerdict(unread="large document")
    loaded = answer.loaded
    assert loaded is not None  # noqa: S101 - a cloud-config is looked into
    if loaded.fault:
        return _syntax(text, loaded.fault)
    if _is_open(text, loaded):
        return TextVerdict(unread="template")
    value = loaded.value
    if value is None:
        return TextVerdict()
    if not isinstance(value, dict):
        message = "a cloud-config is a mapping, and this is none: cloud-init ignores it"
        return TextVerdict((Remark("guest/user-data-schema", message, _CURE, 1, 1),))
    from render.guest import schemas

    known = schemas.known_keys()
    strange = [key for key in value if key not in known and not _PLACEHOLDER.search(key)]
    errors = [error for error in answer.errors if error.path and error.path[0] in known]
    is_foreign = any(not _near(key, known) for key in strange)
    place = yaml11.placer(text)
    remarks = _schema_remarks(place, errors, value, "guest/user-data-schema")
    return TextVerdict(
        (
            *(_as_note(remark) if is_foreign else remark for remark in remarks),
            *_unknown(place, strange, known),
            *_deprecated(place, answer, value),
        ),
        reaches_default_user=is_foreign or _reaches_default_user(value),
    )


_CURE = "docs: cloudinit.readthedocs.io; in the guest: cloud-init schema --system"


def _as_note(remark: Remark) -> Remark:
    return remark._replace(is_note=True, help=_UNSURE)


def _syntax(text: str, fault: yaml11.Fault) -> TextVerdict:
    """That *text* is no YAML, where nobody fills in anything before cloud-init reads it."""
    if _PLACEHOLDER.search(text) or ("flow" in fault.words and _TIGHT.search(text)):
        return TextVerdict(unread="template")
    seen = f", seen in line {fault.seen} of it" if fault.seen > fault.line else ""
    message = f"this is not YAML, and cloud-init applies nothing of it: {fault.words}{seen}"
    return TextVerdict(
        (Remark("guest/yaml", message, "mind indentation and quotes", fault.line, fault.column),)
    )


def _is_open(text: str, loaded: yaml11.Loaded) -> bool:
    """Whether a template language decides the structure of *text*: in quotes and blocks it writes text alone."""
    if not _BRACES.search(text):
        return False
    at = 0
    for start, end in (*loaded.literal, (len(text), len(text))):
        if _BRACES.search(text, at, max(at, start)):
            return True
        at = max(at, end)
    return False


def _headless(text: str) -> TextVerdict:
    """User data that begin as nothing that cloud-init knows: it ignores them."""
    if _PLACEHOLDER.search(text):
        return TextVerdict(unread="template")
    message = "the first line is not #cloud-config: cloud-init ignores all of it"
    cure = "write #cloud-config, without a blank in it, as the first line"
    if _NO_HASH.match(text):
        return TextVerdict(
            (Remark(FIRST_LINE, message, f"{cure}: its # is missing", 1, 1, lead="#"),)
        )
    if ":" not in text:
        return TextVerdict(unread="text of another format")
    try:
        loaded = yaml11.load(text)
    except yaml11.TooMuchError:
        return TextVerdict(unread="large document")
    if not isinstance(loaded.value, dict) or not loaded.value:
        return TextVerdict(unread="text of another format")
    from render.guest import schemas

    if not loaded.value.keys() <= schemas.known_keys() - _OF_MANY:
        return TextVerdict(unread="text of another format")
    return TextVerdict((Remark(FIRST_LINE, message, cure, 1, 1, lead=_HEAD),))


_HEAD = "#cloud-config\n"
_NO_HASH = pattern(r"cloud-config:?[ \t]*\r?\n")
#: Keys that other formats have on top as well.
_OF_MANY = frozenset({"version"})


def _unknown(place: _Placer, strange: Sequence[str], known: Collection[str]) -> Iterator[Remark]:
    for key in strange[:_MOST]:
        near = _near(key, known)
        hint = f" (did you mean {near}?)" if near else ""
        message = f"cloud-init has no module for a key on top of the document{hint}"
        cure = f"write {near}, unless it is for another agent than cloud-init" if near else _UNSURE
        yield Remark("guest/unknown-key", message, cure, *place((key,)), is_note=True)


def _near(key: str, known: Collection[str]) -> str:
    return nearest(key, known, _SIMILAR)


_SIMILAR = 0.85
"""So near a key is a slip; one that is not may be for another agent, as all of the document then."""


def _schema_remarks(
    place: _Placer, problems: Sequence[Problem], value: Any, check: str
) -> tuple[Remark, ...]:
    """One remark a place: all that a schema would have there."""
    certain = [
        problem for problem in problems[:_LOOKED_AT] if not _may_be_filled_in(problem, value)
    ]
    paths = [problem.path for problem in certain]
    certain = [
        problem
        for problem in certain
        if problem.rule != "anyOf"
        or not any(_is_below(path, problem.path) and path != problem.path for path in paths)
    ]
    outer = [problem for problem in certain if problem.keys != ("network",)]
    ranked = sorted(outer or certain, key=lambda problem: tuple(map(str, problem.path)))
    by_path = islice(groupby(ranked, key=lambda problem: problem.path), _MOST)
    return tuple(
        Remark(check, _wishes(group), _cure(group, value), *place(path), _path_text(path))
        for path, group in ((path, list(each)) for path, each in by_path)
    )


def _cure(problems: Sequence[Problem], value: Any) -> str:
    """What mends *problems*, all at one place of *value*: where that is clear, else who knows more."""
    problems = [problem for problem in problems if not _is_of_other_type(problem, problems)]
    first = problems[0]
    surplus = (problem for problem in problems if problem.rule == "additionalProperties")
    if near := next(filter(None, map(_meant, surplus)), ""):
        return f"write {near}"
    if first.rule == "required" and len(problems) == len(first.keys) == 1:
        return f"add {first.keys[0]}"
    found = tree.get(value, *first.path)
    is_scalar = isinstance(found, int | float) or hasattr(found, "isoformat")
    if is_scalar and {problem.rule for problem in problems} == {"type"}:
        return "put it in quotes" if _wants_text(problems) else _CURE
    return _CURE


def _wants_text(problems: Sequence[Problem]) -> bool:
    """Whether one of *problems* is that a value is no text."""
    wanted = (problem.wanted for problem in problems)
    return any("string" in (each if isinstance(each, tuple) else (each,)) for each in wanted)


def _is_of_other_type(problem: Problem, problems: Sequence[Problem]) -> bool:
    """Whether *problem* is that a value has another type, where others of *problems* are of the mapping that it is."""
    return problem.rule == "type" and any(each.rule in _OF_MAPPINGS for each in problems)


#: What a schema asks of mappings alone.
_OF_MAPPINGS = frozenset({"additionalProperties", "maxProperties", "minProperties", "required"})


def _is_below(path: FieldPath, above: FieldPath) -> bool:
    return path[: len(above)] == above


def _may_be_filled_in(problem: Problem, value: Any) -> bool:
    return _holds_placeholder(tree.get(value, *problem.path)) or any(
        map(_PLACEHOLDER.search, problem.keys)
    )


def _holds_placeholder(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_placeholder, value.values()))
    if isinstance(value, list):
        return any(map(_holds_placeholder, value))
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


def _is_wrong_for_netplan(problem: Problem, value: Any) -> bool:
    """Whether a problem of version 2 is one for netplan too, which knows more keys, and more forms of some values."""
    found = tree.get(value, *problem.path)
    if problem.rule == "required":
        return problem.keys == ("version",)
    if (
        problem.rule not in ("type", "enum")
        or found is None
        or not _NETPLAN_OWN.isdisjoint(problem.path)
    ):
        return False
    wanted = problem.wanted if isinstance(problem.wanted, tuple) else (problem.wanted,)
    if problem.rule == "enum":  # of cloud-init's words for true and false
        return True in wanted and _is_no(found, "boolean")
    return not (isinstance(found, dict) and "addresses" in problem.path) and all(
        _is_no(found, str(type_name)) for type_name in wanted
    )


def _is_no(found: Any, wanted: str) -> bool:
    """Whether netplan, too, takes *found* for none of the type *wanted*."""
    pattern = _NETPLAN_TEXTS.get(wanted)
    return not (isinstance(found, str) and pattern is not None and pattern.fullmatch(found))


def _path_text(path: FieldPath) -> str:
    """*path*, with a star for a name that is none of the schema's."""
    from render.guest import schemas

    words = schemas.words()
    return fieldpath.text(
        tuple(step if isinstance(step, int) or step in words else "*" for step in path)
    )


def _wishes(problems: Sequence[Problem]) -> str:
    """What a schema wants in one place, in words."""
    types: list[str] = []
    wishes: list[str] = []
    lacked = [" and ".join(problem.keys) for problem in problems if problem.rule == "required"]
    for problem in problems:
        if _is_of_other_type(problem, problems):
            continue
        if problem.rule == "type":
            wanted = problem.wanted if isinstance(problem.wanted, tuple) else (problem.wanted,)
            types += (_TYPES.get(str(type_name), str(type_name)) for type_name in wanted)
        elif problem.rule == "required":  # one a schema of which the value may be
            wishes.append(f"lacks {' or '.join(dict.fromkeys(lacked))}")
        else:
            wishes.append(_wish(problem))
    if types:
        wishes.insert(0, f"has to be {' or '.join(dict.fromkeys(types))}")
    unique = list(dict.fromkeys(wishes))
    return "; ".join(unique[:_FEW])


_FEW = 3


def _wish(problem: Problem) -> str:
    wanted = problem.wanted
    if problem.rule == "additionalProperties":
        near = _meant(problem)
        hint = f" (did you mean {near}?)" if near else ""
        return f"has a key that cloud-init does not know there{hint}"
    if problem.rule in _LEAST and wanted == 1:
        return "must not be empty"
    words = " and ".join(problem.keys)
    if problem.rule == "enum":
        if len(wanted) == 1:
            return f"has to be {wanted[0]}"
        words = ", ".join(
            str(value).lower() if isinstance(value, bool) else str(value) for value in wanted
        )
    return _WISHES.get(problem.rule, _NO_FORM).format(words or wanted)


def _meant(problem: Problem) -> str:
    """What the keys that are too much for *problem* were probably meant to be."""
    return ", ".join(sorted({_near(key, problem.wanted or ()) for key in problem.keys} - {""}))


_LEAST = frozenset({"minItems", "minProperties", "minLength"})
_NO_FORM = "has none of the forms that cloud-init reads"
_WISHES = {
    "enum": "has to be one of {}",
    **dict.fromkeys(_LEAST, "needs at least {}"),
    **dict.fromkeys(("maxItems", "maxProperties", "maxLength"), "takes at most {}"),
    "minimum": "has to be at least {}",
    "maximum": "has to be at most {}",
    "uniqueItems": "has an item twice",
    "format": "has to be a {}",
    "not": "has two keys of which only one may be there",
}


_MARKUP = pattern(r"[*`]+|:[a-z]+:")


def _deprecated(place: _Placer, answer: SchemaAnswer, value: Any) -> Iterator[Remark]:
    for problem in answer.deprecations[:_MOST]:
        if not _may_be_filled_in(problem, value):
            cure = _MARKUP.sub("", problem.cure).strip()
            message = f"deprecated by cloud-init since {problem.version}"
            at, about = place(problem.path), _path_text(problem.path)
            yield Remark("guest/deprecated", message, cure, *at, about, is_note=True)


def _addresses(place: _Placer, value: Any) -> Iterator[tuple[str, int, int]]:
    """The MAC addresses by which network data choose an interface."""
    above: FieldPath = ("network",) if isinstance(value.get("network"), dict) else ()
    inner = tree.get(value, *above)
    entries, ethernets = inner.get("config"), inner.get("ethernets")
    paths: list[FieldPath] = [
        (*above, "config", index, "mac_address")
        for index, entry in enumerate(entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and entry.get("type") == "physical"
    ]
    paths += (
        (*above, "ethernets", name, "match", "macaddress")
        for name in (ethernets if isinstance(ethernets, dict) else ())
    )
    for path in paths:
        address = tree.get(value, *path)
        if isinstance(address, str) and _MAC.fullmatch(address.lower()):
            yield address.lower(), *place(path)


def _reaches_default_user(value: dict[str, Any]) -> bool:
    """Whether there is a user that SSH keys of the metadata are for: else root alone gets them, and may not log in.

    Upstream: cloudinit/distros/ug_util.py (normalize_users_groups, extract_default), cloudinit/config/cc_ssh.py.
    """
    users = value.get("users")
    if value.get("user") or value.get("disable_root") is False or not isinstance(users, list):
        return True
    if not users or not all(isinstance(user, str | dict) for user in users):
        return True
    names = [user if isinstance(user, str) else str(user.get("name")) for user in users]
    return any("default" in name.split(",") or _PLACEHOLDER.search(name) for name in names)
