"""What KubeVirt answered, in the shape of what we print."""

import gc
from collections.abc import Iterable
from typing import Any

from render import Diagnostic, Rendered, Settings, render
from render.diagnostics.codes import CODES
from render.model import tree

Json = dict[str, Any]
OURS = "virt-render.dev/"
KINDS = ("VirtualMachine", "VirtualMachineInstance")


def machines(case: Json) -> list[Json]:
    """The objects that the answers of a case are about, in order."""
    return [o for o in case["objects"] if o["kind"] in KINDS]


def comparable(body: Json) -> Json:
    """metadata (name, namespace, labels, annotations without our stamps) and spec."""
    metadata = {
        key: body["metadata"][key]
        for key in ("name", "namespace", "labels", "annotations")
        if body["metadata"].get(key)
    }
    kept = {k: v for k, v in metadata.get("annotations", {}).items() if not k.startswith(OURS)}
    metadata.pop("annotations", None)
    if kept:
        metadata["annotations"] = kept
    return {"metadata": metadata, "spec": body["spec"]}


#: So many renderings are kept for the next test of the same family: those in modes that several tests look at.
_MOST_KEPT = 5000
_KEPT_MODES = ("vm", "vmi")
#: Renderings by case and settings. The case is kept with its rendering, so that no other one gets its identity.
_kept: dict[tuple[int, Settings], tuple[Json, Rendered]] = {}


def rendered(case: Json, **settings: Any) -> Rendered:
    """What *case* renders to, presets as KubeVirt takes them. Tests share it: do not change what is in it."""
    requested = Settings(**{"preset_conflicts": "override", **settings})
    key = id(case), requested
    if key in _kept:
        return _kept[key][1]
    found = render(tree.copy(case["objects"]), requested)
    if requested.emit in _KEPT_MODES:
        if len(_kept) >= _MOST_KEPT:
            del _kept[next(iter(_kept))]  # the oldest
        _kept[key] = case, found
        gc.freeze()  # which the collector would walk over again and again
    return found


def kept_promises(case: Json, **settings: Any) -> int:
    """How many VMs of *case* render: the VMI of each is that of its source, and rendering it again changes nothing.

    A case with presets is passed over: they reach what is rendered too. So is one with a KubeVirt resource that no API
    server takes: it is not rendered, and KubeVirt's own defaults hold then.
    """
    if any("Preset" in body["kind"] for body in case["objects"]):
        return 0
    first = rendered(case, **settings)
    if any(body["kind"] == "KubeVirt" and errors_of(first, body) for body in case["objects"]):
        return 0
    rendering = [machine for machine in machines(case) if not errors_of(first, machine)]
    if not rendering:
        return 0
    again = render(first.resources, Settings(**settings))
    direct = rendered(case, emit="vmi", **settings)
    through = render(first.resources, Settings(emit="vmi", **settings))
    for machine in rendering:
        assert result_for(again, machine) == result_for(first, machine)
        assert result_for(through, machine) == result_for(direct, machine)
    return len(rendering)


def result_for(rendered_case: Rendered, machine: Json) -> Json | None:
    """What became of *machine*, None where it was withheld."""
    name, namespace = machine["metadata"]["name"], machine["metadata"].get("namespace", "")
    for body in rendered_case.resources:
        metadata = body["metadata"]
        same = metadata.get("name") == name and metadata.get("namespace", "") == namespace
        if same and body["kind"] in KINDS:
            return comparable(body)
    return None


def wanted(case: Json, machine: Json, answer: Json) -> Json:
    """A recorded answer without the random firmware uuid that a bare VMI got."""
    inputs = [machine, *(o for o in case["objects"] if o["kind"].endswith("Preset"))]
    uuids = {tree.get(o, "spec", "domain", "firmware", "uuid") for o in inputs}
    answer = tree.copy(answer)
    uuid = tree.get(answer, "spec", "domain", "firmware", "uuid")
    if machine["kind"] == "VirtualMachineInstance" and uuid not in uuids:
        tree.remove(answer, "spec", "domain", "firmware", "uuid")
        if tree.get(answer, "spec", "domain", "firmware") == {}:
            tree.remove(answer, "spec", "domain", "firmware")
    return answer


def of_kubevirt(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The errors among *diagnostics* but for what comes after the webhooks that were asked."""
    return [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.is_error and not CODES[diagnostic.code].beyond
    ]


def errors_of(rendered_case: Rendered, machine: Json) -> list[str]:
    """The texts of the errors about *machine*, those of the other parties included."""
    metadata = machine["metadata"]
    key = (machine["kind"], metadata.get("namespace", ""), metadata["name"])
    return [
        text
        for d in of_kubevirt(rendered_case.diagnostics)
        if d.resource == key
        for text in (d.message, *(r.message for r in d.related))
    ]
