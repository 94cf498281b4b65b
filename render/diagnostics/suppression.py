"""Silencing a finding on one object: ``virt-render.dev/ignore.VRnnn: reason`` among its annotations."""

from collections.abc import Callable, Iterable, Iterator

from render.diagnostics.codes import CODES, UNUSED_SUPPRESSION, Code
from render.diagnostics.diagnostic import Diagnostic, at
from render.diagnostics.fix import Fix, remove
from render.model import tree
from render.model.resource import OWN, Resource

PREFIX = f"{OWN}/ignore."


def _is_looked_through(_resource: Resource) -> bool:
    return True


def _is_asked(_code: Code) -> bool:
    return True


def _by_index(diagnostics: Iterable[Diagnostic]) -> dict[int | None, set[str]]:
    """By which names findings are known, by the object that they are about."""
    names: dict[int | None, set[str]] = {}
    for one in diagnostics:
        names.setdefault(one.location.index, set()).update(_names(one))
    return names


def suppress(
    diagnostics: Iterable[Diagnostic],
    resources: Iterable[Resource],
    *,
    reading: bool = False,
    is_asked: Callable[[Code], bool] = _is_asked,
    is_looked_through: Callable[[Resource], bool] = _is_looked_through,
) -> tuple[Diagnostic, ...]:
    """Leave out the findings that an annotation of the object they are about silences.

    Only codes that are suppressible, and only with a reason. A suppression that silences nothing, or cannot, is a
    warning in the result: it would hide the next finding of its kind, or lull its author. Annotations for
    the codes found in the text of a manifest count only when *reading*, and then no others do.

    Nothing is known of what was not looked for: of codes for which nobody *is_asked*, of an object that is not
    *is_looked_through*, and of one with an error, which may have kept others from being found.
    """
    every = tuple(diagnostics)
    codes_by_index = _by_index(every)
    silenced: set[tuple[int | None, str]] = set()
    idle: list[Diagnostic] = []
    unused: list[tuple[Resource, str]] = []
    for resource, code, reason in _suppressions(resources):
        number = code.partition(".")[0]
        if (number in CODES and CODES[number].of_text) is not reading:
            continue
        fault, cure = _fault(code, reason)
        if fault:
            idle.append(_idle(resource, code, fault, cure))
        elif code in codes_by_index.get(resource.index, ()):
            silenced.add((resource.index, code))
        else:
            unused.append((resource, code))
    kept = tuple(
        one
        for one in every
        if silenced.isdisjoint((one.location.index, name) for name in _names(one))
    )
    faulty = {one.location.index for one in kept if one.is_error}
    idle += (
        _unused(resource, code)
        for resource, code in unused
        if resource.index not in faulty
        and is_looked_through(resource)
        and is_asked(CODES[code.partition(".")[0]])
    )
    return (*kept, *idle)


def _unused(resource: Resource, code: str) -> Diagnostic:
    slug = CODES[code.partition(".")[0]].slug
    message = f"{code} ({slug}) is suppressed here but does not occur"
    return _idle(resource, code, message, _REMOVE)


_REMOVE = "remove the annotation"


def _idle(resource: Resource, code: str, message: str, cure: str) -> Diagnostic:
    """The finding that the suppression of *code* silences nothing; it is mended by its removal if *cure* says so."""
    place = at(resource, ("metadata", "annotations", f"{PREFIX}{code}"))
    annotations = resource.body["metadata"]["annotations"]
    dropped = place.path if len(annotations) > 1 else place.path[:-1]
    fixes = (Fix(_REMOVE, (remove(dropped),), safe=True),) if cure == _REMOVE else ()
    return UNUSED_SUPPRESSION.at(place, message, help=cure, fixes=fixes)


def _names(diagnostic: Diagnostic) -> tuple[str, ...]:
    """What an annotation may call a finding: by its code, or by that and its check (``VR420.name-unique``)."""
    rule = diagnostic.check.partition("/")[2]
    return (diagnostic.code, f"{diagnostic.code}.{rule}") if rule else (diagnostic.code,)


def _suppressions(resources: Iterable[Resource]) -> Iterator[tuple[Resource, str, str]]:
    for resource in resources:
        annotations = tree.get(resource.body, "metadata", "annotations")
        if not isinstance(annotations, dict):
            continue
        for key, reason in annotations.items():
            if key.startswith(PREFIX):
                yield resource, key.removeprefix(PREFIX), reason if isinstance(reason, str) else ""


def _fault(code: str, reason: str) -> tuple[str, str]:
    """Why a suppression of *code* can silence nothing and what to do, both ``""`` if it can."""
    known = CODES.get(code.partition(".")[0])
    if known is None:
        from render.model.nearest import nearest

        near = nearest(code, CODES)
        hint = f"; did you mean {near}?" if near else ""
        return f"{code} is not a diagnostic{hint}", "'virt-render rule --list' lists them"
    rule = code.partition(".")[2]
    if rule and known.of_admission and not known.beyond:
        from render.diagnostics.checks import of_code
        from render.model.nearest import nearest

        rules = of_code(known)
        near = "" if rule in rules else nearest(rule, rules)
        if near:
            return (
                f"{code} is not a check; did you mean {known.number}.{near}?",
                "correct the annotation",
            )
    if not known.suppressible:
        return f"{code} ({known.slug}) cannot be suppressed", _REMOVE
    if not reason.strip():
        return f"the suppression of {code} ({known.slug}) gives no reason", "write why as its value"
    return "", ""
