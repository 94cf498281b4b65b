"""Silencing a finding on one object: ``virt-render.dev/ignore.VRnnn: reason`` among its annotations."""

import re
from collections.abc import Callable, Iterable, Iterator

from render.diagnostics.codes import CODES, UNUSED_SUPPRESSION, Code
from render.diagnostics.diagnostic import Diagnostic, at
from render.diagnostics.fix import Fix, remove
from render.model.hints import Any
from render.model.nearest import did_you_mean, nearest
from render.model.resource import OWN, Resource, annotations_of

PREFIX = f"{OWN}/ignore."
#: The annotation that was meant for one, by the code in it.
_CODED = r"(?i)([^/]+)/.*?(VR\d{3})(\.[a-z0-9-]+)?"
_WORD = "ignore"


def _is_looked_through(_resource: Resource) -> bool:
    return True


def _is_enabled(_code: Code) -> bool:
    return True


def _by_index(diagnostics: Iterable[Diagnostic]) -> dict[int | None, set[str]]:
    """By which names findings are known, by the object that they are about."""
    names: dict[int | None, set[str]] = {}
    for diagnostic in diagnostics:
        names.setdefault(diagnostic.location.index, set()).update(_names(diagnostic))
    return names


def suppress(
    diagnostics: Iterable[Diagnostic],
    resources: Iterable[Resource],
    *,
    reading: bool = False,
    is_enabled: Callable[[Code], bool] = _is_enabled,
    is_looked_through: Callable[[Resource], bool] = _is_looked_through,
) -> tuple[Diagnostic, ...]:
    """Leave out the findings that an annotation of the object they are about silences.

    Only codes that are suppressible, and only with a reason. A suppression that silences nothing, or cannot, is a
    warning in the result: it would hide the next finding of its kind, or lull its author. Annotations for
    the codes found in the text of a manifest count only when *reading*, and then no others do.

    Nothing is known of what was not looked for: of codes that are not enabled (*is_enabled*), of an object that is not
    *is_looked_through*, and of one with an error, which may have kept others from being found.
    """
    every, resources = tuple(diagnostics), tuple(resources)
    names = _by_index(every)
    silenced: set[tuple[int | None, str]] = set()
    impossible: list[Diagnostic] = []
    unused: list[tuple[Resource, str]] = []
    for resource, code, reason in _suppressions(resources, reading=reading):
        fault, cure = _fault(code, reason)
        if fault:
            impossible.append(_idle(resource, code, fault, cure))
        elif code in names.get(resource.index, ()):
            silenced.add((resource.index, code))
        else:
            unused.append((resource, code))
    kept = [diagnostic for diagnostic in every if silenced.isdisjoint(_keys(diagnostic))]
    faulty = {diagnostic.location.index for diagnostic in kept if diagnostic.is_error}
    idle = (
        _unused(resource, code)
        for resource, code in unused
        if resource.index not in faulty
        and is_looked_through(resource)
        and is_enabled(CODES[code.partition(".")[0]])
    )
    return (*kept, *impossible, *(() if reading else _misspelt(resources)), *idle)


def _keys(diagnostic: Diagnostic) -> Iterator[tuple[int | None, str]]:
    """By what a suppression finds *diagnostic*: the index of its object, and each of its names."""
    return ((diagnostic.location.index, name) for name in _names(diagnostic))


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


def _suppressions(
    resources: Iterable[Resource], *, reading: bool
) -> Iterator[tuple[Resource, str, str]]:
    """The annotations that are to silence something: of whose object, what, and why; *reading*: see `suppress`."""
    for resource in resources:
        for key, reason in annotations_of(resource.body).items():
            if not key.startswith(PREFIX):
                continue
            code = key.removeprefix(PREFIX)
            number = code.partition(".")[0]
            if (number in CODES and CODES[number].of_text) is reading:
                yield resource, code, reason if isinstance(reason, str) else ""


def _misspelt(resources: Iterable[Resource]) -> Iterator[Diagnostic]:
    """The annotations of *resources* that were meant to silence something, and are called otherwise."""
    for resource in resources:
        for key in annotations_of(resource.body):
            meant = "" if key.startswith(PREFIX) else _meant(key)
            if meant:
                place = at(resource, ("metadata", "annotations", key))
                message = f"the annotation {key} suppresses nothing"
                yield UNUSED_SUPPRESSION.at(place, message, help=f"did you mean {meant}?")


def _meant(key: str) -> str:
    """What the annotation *key* was probably meant to be called, if that is one of ours; else ``""``."""
    if coded := re.fullmatch(_CODED, key):
        group, code, rule = coded.groups("")
        return f"{PREFIX}{code.upper()}{rule}" if nearest(group, (OWN,)) else ""
    group, _, word = key.partition("/")
    return f"{PREFIX}VRnnn" if group == OWN and nearest(word, (_WORD,)) else ""


def silences(annotation: Any, reason: Any) -> bool:
    """Whether an object with this *annotation* may have findings that are left out."""
    if not isinstance(annotation, str) or not annotation.startswith(PREFIX):
        return False
    return not _fault(annotation.removeprefix(PREFIX), reason if isinstance(reason, str) else "")[0]


def _fault(code: str, reason: str) -> tuple[str, str]:
    """Why a suppression of *code* can silence nothing and what to do, both ``""`` if it can."""
    known = CODES.get(code.partition(".")[0])
    if known is None:
        hint = did_you_mean(code, CODES)
        hint = f"; {hint}" if hint else ""
        return f"{code} is not a diagnostic{hint}", "'virt-render rule --list' lists them"
    rule = code.partition(".")[2]
    if rule and known.of_admission and not known.beyond:
        from render.diagnostics.checks import of_code

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
