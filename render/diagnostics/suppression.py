"""Silencing a finding on one object: ``virt-render.dev/ignore.VRnnn: reason`` among its annotations."""

from collections.abc import Iterable, Iterator

from render.diagnostics.codes import CODES, UNUSED_SUPPRESSION
from render.diagnostics.diagnostic import Diagnostic, at
from render.model import tree
from render.model.resource import OWN, Resource

PREFIX = f"{OWN}/ignore."


def suppress(
    diagnostics: Iterable[Diagnostic],
    resources: Iterable[Resource],
    *,
    reading: bool = False,
    asks_admission: bool = True,
) -> tuple[Diagnostic, ...]:
    """Leave out the findings that an annotation of the object they are about silences.

    Only codes that are suppressible, and only with a reason. A suppression that silences nothing, or cannot, is a
    warning in the result: it would hide the next finding of its kind, or lull its author. Annotations for the codes
    found in the text of a manifest count only when *reading*, and then no others do.

    Nothing is known of what was not looked for: of admission unless *asks_admission*, and of an object with an error
    that ends its checks.
    """
    found = tuple(diagnostics)
    ended = {one.location.index for one in found if one.is_error and CODES[one.code].withholds}
    codes_by_index: dict[int | None, set[str]] = {}
    for diagnostic in found:
        codes_by_index.setdefault(diagnostic.location.index, set()).update(_names(diagnostic))
    silenced: set[tuple[int | None, str]] = set()
    idle: list[Diagnostic] = []
    for resource, code, reason in _suppressions(resources):
        number = code.partition(".")[0]
        if (number in CODES and CODES[number].of_text) is not reading:
            continue
        reported = codes_by_index.get(resource.index, set())
        fault, cure = _fault(code, reason)
        if not fault and code not in reported:
            known = CODES[number]
            if resource.index in ended or (known.of_admission and not asks_admission):
                continue
            fault = f"{code} ({known.slug}) is suppressed here but does not occur"
            cure = "remove the annotation"
        if fault:
            place = at(resource, ("metadata", "annotations", f"{PREFIX}{code}"))
            idle.append(UNUSED_SUPPRESSION.at(place, fault, help=cure))
        else:
            silenced.add((resource.index, code))
    kept = (
        one
        for one in found
        if silenced.isdisjoint((one.location.index, name) for name in _names(one))
    )
    return (*kept, *idle)


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
    """Why no suppression of *code* for that *reason* could silence anything and what to do, ``""`` if it could."""
    known = CODES.get(code.partition(".")[0])
    if known is None:
        from render.model.nearest import nearest

        near = nearest(code, CODES)
        hint = f"; did you mean {near}?" if near else ""
        return f"{code} is not a diagnostic{hint}", "'virt-render rule --list' lists them"
    if not known.suppressible:
        return f"{code} ({known.slug}) cannot be suppressed", "remove the annotation"
    if not reason.strip():
        return f"the suppression of {code} ({known.slug}) gives no reason", "write why as its value"
    return "", ""
