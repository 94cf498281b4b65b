"""Paths of files in container images (upstream: ValidatePath in pkg/storage/admitters/disks.go)."""

from posixpath import normpath

HELP = "write the whole path of a file, from / on, without . and .."


def fault(field: str, path: str) -> str:
    """Why *path* names no file, in KubeVirt's words, with *field* in them; ``""`` if it does."""
    if path == "/":
        return f"{field} must not point to root"
    if normpath("/" + path.lstrip("/")) != path.removesuffix("/"):
        return f"{field} must be an absolute path to a file without relative components"
    return ""
