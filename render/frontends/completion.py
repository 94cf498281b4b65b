"""The words that a shell completes: codes, names of the catalogue, and the VMs that stand in files."""

import os
from collections.abc import Iterable, Mapping

from render.model.hints import Any
from render.yaml.budget import Limits


def words(name: str, values: Mapping[str, Any], incomplete: str) -> list[str]:
    """What the argument or option *name* may be that begins like *incomplete*, beside *values*; sorted."""
    known: Iterable[str]
    if name == "code":
        from render.diagnostics.codes import CODES

        known = {word for row in CODES.values() for word in (row.number, row.slug)}
    elif name == "name":
        from render.model.release import NEWEST, release_named
        from render.resolve import bundled

        release = release_named(str(values.get("kubevirt") or "")) or NEWEST
        known = {other for _, other in bundled.definitions(release)}
    else:
        known = _vms(values.get("path") or values.get("paths"))
    return sorted(word for word in known if word.startswith(incomplete))


def _vms(paths: Any) -> set[str]:
    """The VMs in the files below *paths*, else the current folder, as they are written: nothing is built."""
    from render.manifests.relevance import Scope
    from render.manifests.sources import loading
    from render.manifests.sources.reading import Reading
    from render.model.resource import from_body
    from render.pipeline.input import definitions

    wanted = [paths] if isinstance(paths, str) else list(paths or ())
    reading = Reading(Limits(), kustomize="never", scope=Scope())
    inputs = loading.load_all(
        [path for path in wanted if path != "-" and os.path.exists(path)] or ["."], reading
    )
    machines = (
        resource
        for loaded in inputs
        for document in loaded.documents
        if definitions.is_machine(resource := from_body(document.body, 0)) and resource.name
    )
    return {
        f"{machine.namespace}/{machine.name}" if machine.namespace else machine.name
        for machine in machines
    }
