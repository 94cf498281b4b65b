"""What goes with a finding once that is mended: the cause is told first, and what follows of it below."""

from collections.abc import Callable, Iterator, Sequence

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.regex import pattern
from render.model.resource import MACHINES, ResourceRef
from render.report.findings import Finding, Group

_Told = Callable[[Finding, object], Iterator[object]]
_INSTANCETYPE = "spec.instancetype"
#: Checks that miss something in the mapping that they name.
_LACKING_CHECKS = (
    "cloud-init/no-source",
    "data-volume-templates/name",
    "network/multus-name",
    "network/source",
    "volumes/one-source",
)
_AT_THEIR_FIELDS = frozenset(
    code.number
    for code in (
        codes.MISSING_FIELD,
        codes.INVALID_MATCHER,
        codes.AMBIGUOUS_SCALAR,
        codes.CONTENT_DROPPED,
        codes.DEPRECATED_FIELD,
        codes.PIN_ENDED,
    )
)
_NO_SIZE, _SIZE = "cdi/size", ("resources", "requests", "storage")
_NO_NETWORK, _NO_INTERFACE = (
    "network/interface-without-network",
    "network/network-without-interface",
)
_NOT_OF_PODS = "network/masquerade-pod"
_NO_VOLUME, _NO_NETWORK_NAME = "disks/volume", "network/multus-name"
#: Checks that miss one of these fields in what they name, or further in.
_ONE_OF = {
    "data-volume-templates/source": ("spec", "source", "sourceRef"),
    "data-volume-templates/target": ("spec", "pvc", "storage"),
    "network/binding": ("binding", "bridge", "masquerade", "passtBinding", "slirp", "sriov"),
}
_MEANT = pattern(r"did you mean (\S+)\?$")
_MISSED = pattern(r"'([^']*)' not found\.")
#: What is said of a variable of Flux that nobody sets, and in the help of a field that is empty for it.
_UNSET, _EMPTY = (
    pattern(r"substitutes no variable (\w+): "),
    pattern(r"nobody sets the variable (\w+)"),
)
_RUN_TWICE = "run-strategy/one"
_LACKING, _NO_MEMORY = "lacking", "memory/required"
#: Checks of values by which a VM has hardly any memory, or none; and what a preference then says of it.
_SLIPS_OF_MEMORY, _LITTLE_MEMORY = ("memory/page-size", "memory/request-small"), "little memory"
_NAMELESS, _NULL = pattern(r"give it a name\b"), pattern(r"\S+ is null: ")
_REFUSED = pattern(r"mend (.+) first(?:$|:)")
#: That a value is none, or hardly what was meant: all else that is said of it follows.
_OF_VALUES = frozenset(
    code.number for code in (codes.GUEST_MEMORY, codes.INVALID_QUANTITY, codes.WRONG_TYPE)
)
#: What is not found as long as an item of one of these lists has no name.
_BY_NAME = {"interfaces": _NO_INTERFACE, "networks": _NO_NETWORK, "volumes": _NO_VOLUME}
#: What is said besides as long as one of these checks refuses something.
_WITH_CHECK = {
    "architecture/supported": ("live-update/architecture",),
    "network/interface-unique": (_NO_INTERFACE,),
    "network/network-unique": (_NOT_OF_PODS, _NO_NETWORK),
    "network/source": (_NOT_OF_PODS,),
}
#: What is said of a VM where one of these fields is elsewhere.
_WITHOUT = {
    "interfaces": _NO_INTERFACE,
    "networks": _NO_NETWORK,
    "runStrategy": _RUN_TWICE,
    "volumes": _NO_VOLUME,
}


def folded(listed: Sequence[Group]) -> list[Group]:
    """*listed*, with what only holds until another is mended below that: see `_causes`."""
    causes: dict[object, int] = {}
    for index, group in enumerate(listed):
        for finding in (group.first, *group.others):
            for caused in _of_object(_causes, finding):
                causes.setdefault(caused, index)
    over: list[int] = []
    for index, group in enumerate(listed):
        found = {
            next(
                (causes[caused] for caused in _of_object(_caused, each) if caused in causes), index
            )
            for each in (group.first, *group.others)
        }
        over.append(found.pop() if len(found) == 1 else index)
    below: dict[int, list[Group]] = {}
    kept: list[tuple[int, Group]] = []
    for index, group in enumerate(listed):
        cause = over[over[index]]  # what follows of what follows stands with that
        if cause == index or over[cause] != cause:
            kept.append((index, group))
        else:
            below.setdefault(cause, []).append(group)
    return [group._replace(consequences=tuple(below.get(index, ()))) for index, group in kept]


def _of_object(told: _Told, finding: Finding) -> Iterator[object]:
    """What is *told* of the object that *finding* is about: in its file, and in the same kustomizations."""
    resource = finding.diagnostic.resource
    yield from told(finding, (resource, finding.place.file))
    if finding.builds:  # a patch stands in a file of its own
        yield from told(finding, (resource, finding.builds))


def _causes(finding: Finding, subject: object) -> Iterator[object]:
    """What goes with *finding*: what a VM lacks without its instancetype, and what is there but for a slip."""
    diagnostic = finding.diagnostic
    if codes.CODES[diagnostic.code].follows:
        if diagnostic.field.startswith(_INSTANCETYPE):
            yield codes.REQUIREMENT_UNMET.number, subject
        if diagnostic.fixes:  # else what the pin says helps most
            yield codes.PIN_ENDED.number, subject, diagnostic.location.path[:-1]
    elif diagnostic.code == codes.UNEXPECTED_KIND.number:
        if diagnostic.field.startswith(_INSTANCETYPE):
            yield codes.REQUIREMENT_UNMET.number, subject
    elif diagnostic.code in _OF_VALUES:
        yield _REFUSED, str(diagnostic.resource)
        yield _OF_VALUES, finding.place[:3], _of_machine(diagnostic)
        yield from _causes_of_field(diagnostic, subject)
    elif diagnostic.code == codes.UNKNOWN_KIND.number:
        yield _REFUSED, str(diagnostic.resource)
        yield _REFUSED, finding.place.file  # of which nobody knows another object by its name
    elif diagnostic.code == codes.METADATA_REFUSED.number:
        yield from _given_by_kustomization(finding)
        yield codes.POD.number, subject, diagnostic.location.path
    elif diagnostic.check:
        yield from _causes_of_check(diagnostic, subject)
    else:
        yield from _causes_of_field(diagnostic, subject)


def _of_machine(diagnostic: Diagnostic) -> ResourceRef | None:
    """The VM that *diagnostic* is about; None for a definition, of which that of any VM may follow.

    A template gives each VM another value at one place.
    """
    ref = diagnostic.resource
    return ref if ref is not None and ref.kind in MACHINES else None


def _of_any(diagnostic: Diagnostic) -> str:
    """What *diagnostic* says, of whichever object."""
    return diagnostic.message.removeprefix(f"{diagnostic.resource}: ")


def _causes_of_check(diagnostic: Diagnostic, subject: object) -> Iterator[object]:
    """What goes with *diagnostic*, which KubeVirt's admission says of *subject*."""
    path = diagnostic.location.path
    for check in _WITH_CHECK.get(diagnostic.check, ()):
        yield check, subject
    if diagnostic.check in _SLIPS_OF_MEMORY:
        yield _LITTLE_MEMORY, subject
    elif diagnostic.check == _NO_NETWORK:
        yield _NOT_OF_PODS, subject, path
        if near := _MEANT.match(diagnostic.help):
            yield _NO_INTERFACE, subject, near[1]
    elif diagnostic.check == _RUN_TWICE:
        yield codes.DEPRECATED_FIELD.number, subject, path


def _causes_of_field(diagnostic: Diagnostic, subject: object) -> Iterator[object]:
    """What goes with *diagnostic*, which is about a field of *subject* that is wrong as it is written."""
    code, path = diagnostic.code, diagnostic.location.path
    if code == codes.GUEST_MEMORY.number:
        yield _LITTLE_MEMORY, subject
    if unset := _UNSET.search(diagnostic.message):
        yield _UNSET, unset[1]
    elif _wants_memory(diagnostic):  # what is required is also enough
        yield _NO_MEMORY, subject
    elif code == codes.WRONG_TYPE.number:
        yield codes.AMBIGUOUS_SCALAR.number, subject, path
    elif code == codes.MISSING_FIELD.number:
        yield from _without_name(subject, path)
        yield codes.MISSING_FIELD, subject, _item_and_field(path)
    elif code == codes.CONTENT_DROPPED.number and _NULL.search(diagnostic.message):
        yield from _lacking_without(subject, path)
    elif code == codes.UNKNOWN_FIELD.number and len(diagnostic.fixes) == 1:
        meant = diagnostic.fixes[0].edits[0]
        if meant.action in ("rename", "move"):
            yield from _lacking_without(subject, meant.target)
            yield codes.CONTENT_DROPPED.number, subject, meant.target[:-1]
            yield codes.INVALID_MATCHER.number, subject, meant.target[:-1]


def _without_name(subject: object, path: FieldPath) -> Iterator[object]:
    """What is said of an object as long as it has no name at *path*."""
    if path[-1:] == ("networkName",):
        yield _NO_NETWORK_NAME, subject, path[:-2]
    elif path[-1:] == ("name",):
        yield _NAMELESS, subject
        if len(path) > 2 and path[-3] in _BY_NAME:  # noqa: PLR2004 - the list, the item, its name
            yield _BY_NAME[path[-3]], subject


def _wants_memory(diagnostic: Diagnostic) -> bool:
    """Whether *diagnostic* says that a VM has less memory than its preference requires."""
    is_unmet = diagnostic.code == codes.REQUIREMENT_UNMET.number
    return is_unmet and diagnostic.location.path[-1:] == ("memory",)


def _item_and_field(path: FieldPath) -> FieldPath:
    """The end of *path*, which is the same where KubeVirt leaves out what stands around."""
    return path[-3:]


def _lacking_without(subject: object, path: FieldPath) -> Iterator[object]:
    """What an object may be said to lack as long as what belongs at *path* of it is not there."""
    for end in range(1, len(path) + 1):
        yield codes.MISSING_FIELD.number, subject, path[:end]
        yield _LACKING, subject, path[:end]
        for lacked, fields in _ONE_OF.items():
            if path[-1] in fields:
                yield lacked, subject, path[:end]
    if _gives(path, "memory", "resources"):
        yield _NO_MEMORY, subject
    if _gives(path, "memory", "resources", "cpu"):
        yield codes.REQUIREMENT_UNMET.number, subject
    if path[-1] == "pod":  # of a network, whose name is not known here
        yield _NOT_OF_PODS, subject
    check = _WITHOUT.get(str(path[-1]))
    if check:
        yield check, subject


def _gives(path: FieldPath, *fields: str) -> bool:
    """Whether a VM whose field at *path* is lost may have none of these *fields* of a domain for that."""
    _, found, inside = fieldpath.text(path).partition("template.spec.domain.")
    if found:
        return inside.startswith(fields)
    return path[-1] in ("domain", "instancetype") or path[-2:] == ("template", "spec")


def _caused(finding: Finding, subject: object) -> Iterator[object]:
    """*finding* as `_causes` names it, the closest first."""
    diagnostic = finding.diagnostic
    path = (diagnostic.position or diagnostic.location).path
    if empty := _EMPTY.match(diagnostic.help):
        yield _UNSET, empty[1]
    if diagnostic.code in _AT_THEIR_FIELDS:
        yield diagnostic.code, subject, path
        return
    if _NAMELESS.match(diagnostic.help):
        yield _NAMELESS, subject
        return
    if diagnostic.code not in _OF_VALUES and finding.place.line:
        for of in (diagnostic.resource, None):
            yield _OF_VALUES, finding.place[:3], of
    yield from _again(finding, subject, path)
    if refused := _REFUSED.match(diagnostic.help):
        yield _REFUSED, refused[1]
    if diagnostic.check in (_NOT_OF_PODS, _NO_NETWORK_NAME):
        yield diagnostic.check, subject, diagnostic.location.path
    elif diagnostic.check == _NO_INTERFACE and (missed := _MISSED.search(diagnostic.message)):
        yield diagnostic.check, subject, missed[1]
    if _MEANT.match(diagnostic.help) and diagnostic.check in _BY_NAME.values():
        return  # that name is the slip
    yield from _lacking(diagnostic.check, subject, path)
    yield diagnostic.check or diagnostic.code, subject


def _again(finding: Finding, subject: object, path: FieldPath) -> Iterator[object]:
    """*finding* as what is said of something else says it, too, or brings it about."""
    diagnostic = finding.diagnostic
    if diagnostic.code == codes.METADATA_REFUSED.number:
        yield from _given_by_kustomization(finding)
    elif diagnostic.code == codes.POD.number:
        yield diagnostic.code, subject, path
    elif _wants_memory(diagnostic):
        yield _LITTLE_MEMORY, subject


def _given_by_kustomization(finding: Finding) -> Iterator[object]:
    """*finding* as what a kustomization gives all its objects; those of another overlay are refused for themselves."""
    for build in finding.builds or ("",):
        yield finding.diagnostic.code, finding.place[:3], _of_any(finding.diagnostic), build


def _lacking(check: str, subject: object, path: FieldPath) -> Iterator[object]:
    """What *check* misses at *path* of *subject*, as `_causes` names that."""
    if check == _NO_SIZE:
        yield _LACKING, subject, path[: -len(_SIZE)]
    elif check in _LACKING_CHECKS:
        yield _LACKING, subject, path
    elif check in _ONE_OF:
        yield check, subject, path
    if check:  # what is empty since nobody wrote it
        yield codes.MISSING_FIELD, subject, _item_and_field(path)
