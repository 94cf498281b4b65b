"""What is said of slips in the objects of Argo CD and Flux, and for which of these the API server refuses them."""

from collections.abc import Callable, Iterable, Iterator

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.manifests.uses.slips import objects
from render.manifests.uses.slips.objects import Slip
from render.manifests.uses.use import FolderUse, named
from render.model import fieldpath
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING
from render.model.resource import text_at
from render.system.files import inside, real_path

if TYPE_CHECKING:
    from render.yaml.reader import Document

#: What says where an object has what stands at a path.
Locate = Callable[["Document", FieldPath], Location]
#: The code of what is said of a slip.
_CODES = {
    "field": codes.UNKNOWN_FIELD,
    "kind": codes.UNKNOWN_KIND,
    "template": codes.UNKNOWN_FIELD,
    "type": codes.WRONG_TYPE,
}
_FLUX = ".toolkit.fluxcd.io/"
_FAILS = ": the API server refuses it, and nothing that it applies changes"


def warnings(
    documents: "Iterable[Document]", concerns: "Callable[[Document], bool]", locate: Locate
) -> Iterator[Diagnostic]:
    """What is misspelt in those of *documents*, objects of Argo CD and Flux, of which one *concerns* KubeVirt's."""
    for document in documents:
        kind = objects.kind_slip(document)
        found = [kind] if kind else [*objects.slips(document)]
        if not found or not concerns(document):
            continue
        for slip in found:
            yield _told(document, slip, locate)


def refused(
    documents: "Iterable[Document]", uses: Iterable[FolderUse], locate: Locate
) -> dict[str, list[Diagnostic]]:
    """Why the API server takes some of *documents* not, by what these are called: with their places, and without.

    Flux applies them server-side, which fails for a field that the schema does not have, and prunes nothing then
    (fluxcd/kustomize-controller internal/controller/kustomization_controller.go, reconcile: apply before prune). An
    Application among *uses* that does not apply so what stands below its folder has the API server drop the field.
    """
    dropping = [
        real_path(use.folder)
        for use in uses
        if use.is_plain and not use.is_server_side and use.title.startswith("Application ")
    ]
    all_faults: dict[str, list[Diagnostic]] = {}
    for document in documents:
        if _FLUX not in text_at(document.body, "apiVersion"):
            continue
        faults = [
            found._replace(message=f"{found.message}{_FAILS}", severity=Severity.ERROR)
            for slip in objects.slips(document)
            if slip.what in {"field", "kind"} and (found := _told(document, slip, locate))
        ]
        file = document.origin.file
        if faults and not inside(real_path(file), dropping):
            title = named(document)
            all_faults |= {title: faults, f"{title} in {file}": faults}
    return all_faults


def _told(document: "Document", slip: Slip, locate: Locate) -> Diagnostic:
    return _CODES[slip.what].at(
        locate(document, slip.path),
        f"{named(document)}: {fieldpath.text(slip.path)}: {slip.message}",
        help=slip.help,
        severity=Severity.WARNING,
    )
