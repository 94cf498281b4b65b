"""Field paths: where a value stands in a Kubernetes object."""

FieldPath = tuple[str | int, ...]


def text(path: FieldPath) -> str:
    """Write *path* as Kubernetes does: ``spec.volumes[0].name``, ``metadata.annotations[a.io/b]``.

    A key that contains a dot stands in brackets, since it could not be told from two keys.
    """
    out = ""
    for step in path:
        if isinstance(step, int) or "." in step:
            out += f"[{step}]"
        else:
            out += f".{step}" if out else step
    return out


def parse(dotted: str) -> FieldPath:
    """Read back what `text` wrote. Digits in brackets are list indexes."""
    steps: list[str | int] = []
    rest = dotted
    while rest:
        if rest.startswith("["):
            inner, _, rest = rest[1:].partition("]")
            steps.append(int(inner) if inner.isdecimal() else inner)
        else:
            rest = rest.removeprefix(".")
            end = min((i for i in (rest.find("."), rest.find("[")) if i >= 0), default=len(rest))
            steps.append(rest[:end])
            rest = rest[end:]
    return tuple(steps)
