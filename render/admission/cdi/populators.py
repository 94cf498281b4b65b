"""What the webhook of CDI refuses of VolumeImportSources and VolumeUploadSources, from which claims are filled.

Upstream: of the containerized data importer pkg/apiserver/webhooks/populators-validate.go.
"""

from collections.abc import Iterator

from render.admission.cdi import sources
from render.admission.cdi.datavolume import name_length
from render.admission.cdi.sources import SpecPlace
from render.diagnostics.cause import Cause
from render.model.release import Version
from render.model.tree import Tree

_LONGEST_NAME = 63
_SPEC = SpecPlace((("spec",), ("spec",)))


def upload_causes(body: Tree, _version: Version) -> Iterator[Cause]:
    """What the webhook refuses of a VolumeUploadSource, which the schema has passed."""
    name = (body.get("metadata") or {}).get("name", "")
    too_long = tuple(name_length(name, _LONGEST_NAME, SpecPlace(((), ("metadata", "name")))))
    yield from too_long or sources.content_type(body["spec"].get("contentType"), _SPEC)


def import_causes(body: Tree, version: Version) -> Iterator[Cause]:
    """What the webhook refuses of a VolumeImportSource, which the schema has passed: the first rule that it breaks."""
    spec = body["spec"]
    refused = tuple(upload_causes(body, version))
    if refused:
        yield from refused
        return
    source = spec.get("source")
    if source is None:
        text = "Missing VolumeImport source: CDI's own webhook crashes without any"
        yield _SPEC.cause("one-source", ("source",), text, "name exactly one source")
        return
    refused = tuple(sources.count(source, "VolumeImport", _SPEC))
    if refused:
        yield from refused
        return
    if is_multi_stage(spec) and not spec.get("targetClaim"):
        text = "Unable to do multi-stage import without specifying a target claim"
        cure = "name the claim that all its checkpoints go to"
        yield _SPEC.cause("target-claim", ("targetClaim",), text, cure)
        return
    yield from sources.causes(spec, _SPEC, version)


def is_multi_stage(spec: Tree) -> bool:
    """Whether checkpoints of a running machine are imported one after the other."""
    source = spec.get("source") or {}
    is_staged = source.get("vddk") is not None or source.get("imageio") is not None
    return is_staged and bool(spec.get("checkpoints"))
