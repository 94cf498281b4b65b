"""Which rules are asked of an object of the group cdi.kubevirt.io, and what an update of one is asked.

Upstream: of the containerized data importer pkg/apiserver/webhooks and pkg/operator/resources/crds_generated.go.
"""

from collections.abc import Callable, Iterator

from render.admission.cdi import datavolume
from render.diagnostics.cause import Cause
from render.model import packaged
from render.model.apimachinery import quantity
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.tree import Tree

Webhook = Callable[[Tree, Version], Iterator[Cause]]


class JudgedKind(NamedTuple):
    """A kind that CDI judges: its *type* in the table of types, what the *schema* asks for beyond that, its *webhook*.

    *staged*: an update of its spec is accepted while checkpoints are imported; *immutable*: any other is refused.
    """

    type: str
    schema: Callable[[Tree], Iterator[Cause]] = lambda _: iter(())
    webhook: Webhook = lambda _body, _version: iter(())
    staged: bool = False
    immutable: bool = True


def _rare(home: str) -> Callable[..., Iterator[Cause]]:
    """What ``module:function`` of this folder yields, imported when it is asked: most inputs have DataVolumes alone."""
    module, _, name = home.partition(":")

    def ask(*judged: Any) -> Iterator[Cause]:
        causes: Iterator[Cause] = getattr(packaged.module(f"{__package__}.{module}"), name)(*judged)
        return causes

    return ask


KINDS: dict[str, JudgedKind] = {
    "DataVolume": JudgedKind("importer.DataVolume", webhook=datavolume.causes, staged=True),
    "DataImportCron": JudgedKind(
        "importer.DataImportCron", _rare("dataimportcron:schema"), _rare("dataimportcron:causes")
    ),
    "DataSource": JudgedKind("importer.DataSource", immutable=False),
    "VolumeImportSource": JudgedKind(
        "importer.VolumeImportSource", webhook=_rare("populators:import_causes"), staged=True
    ),
    "VolumeUploadSource": JudgedKind(
        "importer.VolumeUploadSource", webhook=_rare("populators:upload_causes")
    ),
}


_name_causes = _rare("dataimportcron:name_causes")


def causes(kind: str, body: Tree, version: Version) -> tuple[Cause, ...]:
    """Why CDI *version* refuses *body*, an object of *kind* that has the types of the schema."""
    row = KINDS[kind]
    return tuple(row.schema(body)) or tuple(row.webhook(body, version))


def update_causes(kind: str, before: Tree, after: Tree, version: Version) -> tuple[Cause, ...]:
    """Why an update of an object of *kind* from *before* to *after* is refused; both have the types of the schema."""
    row = KINDS[kind]
    refused = tuple(row.schema(after))
    if refused:
        return refused
    if kind == "DataImportCron":  # what it was created with is not judged again
        refused = tuple(_name_causes(after))
    if refused or _may_update(row, before["spec"], after["spec"]):
        return refused if kind == "DataImportCron" else causes(kind, after, version)
    return (
        Cause(
            "cdi/update",
            (kind, "Spec"),
            f"Cannot update {kind} Spec",
            "give the new one another name, or delete the old one first",
            place=("spec",),
        ),
    )


def _may_update(row: JudgedKind, old: Tree, new: Tree) -> bool:
    if not row.immutable or _is_same(old, new):
        return True
    from render.admission.cdi import populators

    is_next_stage = row.staged and populators.is_multi_stage(new)
    return is_next_stage and _is_same(_unstaged(old), _unstaged(new))


def _unstaged(spec: Tree) -> Tree:
    """*spec* without what changes from one checkpoint to the next."""
    return {
        key: value for key, value in spec.items() if key not in ("checkpoints", "finalCheckpoint")
    }


_AMOUNTS = ("requests", "limits")


def _is_same(old: Any, new: Any, *, of_amounts: bool = False) -> bool:
    """Whether two trees are semantically equal: amounts by value, in whatever notation."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(
            _is_same(old[key], new[key], of_amounts=of_amounts or key in _AMOUNTS) for key in old
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_is_same, old, new))
    if of_amounts:
        return quantity.compare(old, new) == 0
    return bool(old == new)
