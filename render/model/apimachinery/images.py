"""Names of container images, as the kubelet reads them before it pulls anything.

Upstream: github.com/distribution/reference (normalize.go, regexp.go); of Kubernetes pkg/util/parsers and
pkg/kubelet/images/image_manager.go.
"""

from functools import lru_cache

from render.model.regex import pattern

_DOMAIN = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_HOST = pattern(rf"(?:{_DOMAIN}(?:\.{_DOMAIN})*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?")
_PATH = pattern(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")
_TAG = pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST = pattern(r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}")
_LONGEST = 255
_LOCAL = "localhost"


@lru_cache(maxsize=1024)
def why_invalid(image: str) -> str:
    """What is wrong with the name *image*, in words; ``""`` if the kubelet can read it."""
    name, at, digest = image.partition("@")
    host, path = _parted(name)
    path, colon, tag = path.partition(":")
    if "://" in image:
        return "an image has no scheme: leave out what stands before the host"
    if at and not _DIGEST.fullmatch(digest):
        # Of a user with a password, which no image has, the password may stand there.
        named = "what stands behind @" if {"@", "/"} & {*digest} else digest or "nothing"
        return f"{named} is no digest: sha256: and 64 hexadecimal digits"
    if colon and not _TAG.fullmatch(tag):
        return f"{tag or 'nothing'} is no tag"
    if host and not _HOST.fullmatch(host):
        return f"{host} is no host"
    if path != path.lower():
        return "a repository is written in lower case"
    if not _PATH.fullmatch(path):
        return f"{path or 'nothing'} is no repository"
    return f"it is longer than {_LONGEST} characters" if len(host) + len(path) >= _LONGEST else ""


def _parted(name: str) -> tuple[str, str]:
    """The host of an image's *name*, ``""`` where that names none, and the rest: what might be either is a host."""
    first, slash, rest = name.partition("/")
    is_host = "." in first or ":" in first or first == _LOCAL or first != first.lower()
    return (first, rest) if slash and is_host else ("", name)
