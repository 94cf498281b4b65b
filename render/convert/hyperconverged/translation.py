"""From a HyperConverged in a repository to the KubeVirt resource of a cluster, step by step.

Upstream: what the API server does with a HyperConverged (schema, pkg/webhooks, conversion), and then
controllers/handlers/kubevirt.go, all of the hyperconverged-cluster-operator. The steps are those of
a create in a new cluster, once the operator has nothing more to do.
"""

from render.convert.hyperconverged import crd, fields, kubevirt, patch, webhooks
from render.convert.hyperconverged.cluster import Cluster, recorded
from render.convert.hyperconverged.conversion import V1_ONLY, stored
from render.convert.hyperconverged.decoding import DecodingError, decoded
from render.convert.hyperconverged.desired import Desired, Setting
from render.convert.hyperconverged.kubevirt import Origins, TuningError
from render.convert.hyperconverged.patch import PatchError
from render.diagnostics.cause import Cause
from render.diagnostics.fix import Fix, misnamed
from render.model import fieldpath, tree
from render.model.cluster_release import PRODUCT_AHEAD
from render.model.fieldpath import FieldPath
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.release import Version, holds, since
from render.model.resource import HYPERCONVERGED
from render.model.tree import Tree

KIND = "HyperConverged"
Stage = Literal["version", "mutating webhook", "schema", "validating webhook", "operator"]
_PATCH = ("metadata", "annotations", patch.ANNOTATION)


class Pruned(NamedTuple):
    """A field of the HyperConverged that its API version does not have: the API server drops it."""

    path: FieldPath
    help: str
    fixes: tuple[Fix, ...] = ()


class Refusal(NamedTuple):
    """Why there is no KubeVirt resource: the *stage* that refuses, its *messages*, and the *causes* by field.

    The causes say more than the messages where the operator's webhook cannot even read the object.
    """

    stage: Stage
    messages: tuple[str, ...]
    causes: tuple[Cause, ...]


class Assumption(NamedTuple):
    """A value at *path* of the KubeVirt resource that the manifest does not give, and what it rests on."""

    path: FieldPath
    text: str


class Translation(NamedTuple):
    """What becomes of a HyperConverged.

    *kubevirt* is the KubeVirt resource (None: refused, see *refusal*). *origins* says for a path there
    which path of the HyperConverged decided it; `origin` looks it up.
    """

    kubevirt: Tree | None
    refusal: Refusal | None
    warnings: tuple[str, ...]
    pruned: tuple[Pruned, ...]
    origins: Origins
    assumptions: tuple[Assumption, ...]

    def origin(self, path: FieldPath) -> FieldPath | None:
        """The field of the HyperConverged that decided what stands at *path* of the KubeVirt resource."""
        for end in range(len(path), 0, -1):
            origin = self.origins.get(path[:end])
            if origin is not None:
                return origin
        return None


def kubevirt_of(body: Tree, release: Version, cluster: Cluster | None = None) -> Translation:
    """The KubeVirt resource that the operator of the KubeVirt *release* writes for *body*, a HyperConverged.

    Without *cluster* it is the usual one: amd64, three nodes of the control plane and three workers,
    or what the ``status`` of *body* tells.
    """
    known = recorded(body, Cluster()) if cluster is None else cluster
    group, _, api_version = str(body.get("apiVersion")).rpartition("/")
    schema = crd.schema(api_version, release) if group == HYPERCONVERGED else None
    if schema is None:
        return _refused_translation(_not_served(body, release), ())
    spec, unknown = crd.pruned(body.get("spec"), schema["properties"]["spec"])
    pruned = tuple(_pruned(field, api_version, release) for field in unknown)
    spec = crd.defaulted({"spec": spec}, schema).get("spec", {})
    object_ = {"metadata": body.get("metadata"), "spec": spec}
    unreadable = tuple(crd.undecodable(spec, schema["properties"]["spec"]))
    if unreadable:
        return _refused_translation(_unreadable(unreadable, crd.invalid(object_, schema)), pruned)
    desired = webhooks.mutated(Desired(api_version, release, spec, _annotations(body)))
    if isinstance(desired, Cause):
        return _refused_translation(_refusal_by("mutating webhook", desired), pruned)
    causes = tuple(crd.invalid({**object_, "spec": desired.spec}, schema))
    if causes:
        messages = tuple(f"{fieldpath.text(cause.path)}: {cause.message}" for cause in causes)
        return _refused_translation(Refusal("schema", messages, causes), pruned)
    return _admitted(body, desired, known, pruned)


def _annotations(body: Tree) -> dict[str, str]:
    annotations = tree.get(body, "metadata", "annotations")
    pairs = annotations.items() if isinstance(annotations, dict) else ()
    return {key: value for key, value in pairs if isinstance(value, str)}


def _admitted(
    body: Tree, desired: Desired, cluster: Cluster, pruned: tuple[Pruned, ...]
) -> Translation:
    """What comes of an object that the schema accepts."""
    verdict = webhooks.validated(desired)
    if verdict.cause is not None:
        refusal = _refusal_by("validating webhook", verdict.cause)
        return _refused_translation(refusal, pruned, verdict.warnings)
    try:
        steady = stored(desired)
    except ValueError as error:
        where = ("metadata", "annotations", V1_ONLY)
        cause = Cause("hyperconverged/v1-only", where, str(error), "take the annotation out")
        refusal = _refusal_by("validating webhook", cause)
        return _refused_translation(refusal, pruned, verdict.warnings)
    stage: Stage = "validating webhook"
    annotation = patch.ANNOTATION
    try:
        if not verdict.stopped:
            # The webhook tries it on an object whose eviction strategy nobody has filled in yet.
            _patched(kubevirt.written(steady, cluster).body, steady)
            for annotation in patch.OTHER_ANNOTATIONS:
                patch.parsed(desired.annotations.get(annotation, "[]"))
        stage, annotation = "operator", patch.ANNOTATION
        steady = _with_eviction(steady, cluster)
        result = kubevirt.written(steady, cluster)
        final = _patched(result.body, steady)
    except TuningError as error:
        path = ("spec", *(fields.TUNING.of(desired.api_version) or ()))
        help_text = f"correct {kubevirt.TUNING_ANNOTATION}, or take the policy out"
        cause = Cause("hyperconverged/tuning", path, str(error), help_text)
        return _refused_translation(_refusal_by(stage, cause), pruned, verdict.warnings)
    except (PatchError, DecodingError) as error:
        text = f"invalid jsonPatch in the {annotation} annotation: {error}"
        where = ("metadata", "annotations", annotation)
        cause = Cause("hyperconverged/json-patch", where, text, "correct the patch")
        return _refused_translation(_refusal_by(stage, cause), pruned, verdict.warnings)
    origins = _origins(result.origins, body, desired, steady)
    assumptions = _assumptions(final, origins)
    return Translation(final, None, verdict.warnings, pruned, origins, assumptions)


def _with_eviction(desired: Desired, cluster: Cluster) -> Desired:
    """*desired* with the eviction strategy that the webhook fills in once the operator has counted the nodes."""
    path = fields.EVICTION.of(desired.api_version)
    if path is None or desired.get(fields.EVICTION) is not None:
        return desired
    spec = tree.copy(desired.spec)
    tree.put(spec, path, "LiveMigrate" if cluster.is_highly_available() else "None")
    return desired._replace(spec=spec)


def _patched(written: Tree, desired: Desired) -> Tree:
    """*written* with the JSON patch of the annotation; PatchError, DecodingError."""
    text = desired.annotations.get(patch.ANNOTATION)
    if text is None:
        return written
    document = patch.applied(written, patch.parsed(text))
    kubevirt: Tree = decoded(written, document, "kubevirt.KubeVirt", desired.release)
    return kubevirt


def _refused_translation(
    refusal: Refusal, pruned: tuple[Pruned, ...], warnings: tuple[str, ...] = ()
) -> Translation:
    return Translation(None, refusal, warnings, pruned, {}, ())


def _refusal_by(stage: Stage, cause: Cause) -> Refusal:
    return Refusal(stage, (cause.message,), (cause,))


def _not_served(body: Tree, release: Version) -> Refusal:
    api_version = body.get("apiVersion")
    text = f'no matches for kind "{KIND}" in version "{api_version}"'
    help_text = f"write apiVersion: {HYPERCONVERGED}/v1beta1"
    if crd.schema("v1", release) is not None:
        help_text += f", or {HYPERCONVERGED}/v1"
    elif api_version == f"{HYPERCONVERGED}/v1":
        help_text += "; v1 came with KubeVirt 1.8 (OpenShift Virtualization 4.22)"
    return _refusal_by("version", Cause("hyperconverged/version", ("apiVersion",), text, help_text))


def _unreadable(paths: tuple[FieldPath, ...], causes: list[Cause]) -> Refusal:
    """The webhook says only that it cannot read the object; the schema says where, if it is asked."""
    text = "failed to parse the HyperConverged"
    seen = {cause.path for cause in causes}
    others = tuple(
        Cause(
            "hyperconverged/schema",
            path,
            "the value does not fit the operator's type",
            "correct it",
        )
        for path in paths
        if path not in seen
    )
    return Refusal("mutating webhook", (text,), (*causes, *others))


def _pruned(unknown: crd.UnknownField, api_version: str, release: Version) -> Pruned:
    """What to do about an *unknown* field: of another version, of another release, or of none."""
    hint = _hint(unknown.path, api_version, release)
    if hint:
        return Pruned(unknown.path, hint)
    near, fixes = misnamed(unknown.path, unknown.known)
    cure = f'did you mean "{near}"?' if near else "take it out, or correct its name"
    return Pruned(unknown.path, f"the API server drops it; {cure}", fixes)


def _hint(path: FieldPath, api_version: str, release: Version) -> str:
    """Where an unknown field belongs, ``""`` where no version and no release has it: they are easily mixed up."""
    other_version = "v1" if api_version == "v1beta1" else "v1beta1"
    for field in fields.CONVERTED:
        here, elsewhere = field.of(api_version), field.of(other_version)
        if here is None or elsewhere is None or here == elsewhere:
            continue
        if path[1:] == elsewhere[: len(path) - 1] or path[1 : len(elsewhere) + 1] == elsewhere:
            if len(path) - 1 < len(elsewhere):
                return f"{fieldpath.text(path)} belongs to {HYPERCONVERGED}/{other_version}"
            rest = path[len(elsewhere) + 1 :]
            right = fieldpath.text(("spec", *here, *rest))
            return f"that is the field of {HYPERCONVERGED}/{other_version}; in {api_version} it is {right}"
    return _window_hint(path, api_version, release)


def _window_hint(path: FieldPath, api_version: str, release: Version) -> str:
    """Which releases have the field at *path*, in words; ``""`` where *release* is one of them, or none has it."""
    first, gone = crd.window(api_version, path)
    if first is not None and not holds(since(first, "it has the field"), release):
        product = int(first.removeprefix("1.")) + PRODUCT_AHEAD
        return f"KubeVirt {first} (OpenShift Virtualization 4.{product}) is the first to have it"
    return "" if gone is None else f"KubeVirt {gone} has it no more; take it out"


def _origins(stored_origins: Origins, body: Tree, desired: Desired, steady: Desired) -> Origins:
    """*stored_origins*, whose paths are those of the stored version, as paths of what the author wrote."""
    origins: Origins = {}
    for target, source in stored_origins.items():
        path = ("spec", *_as_written(source, desired, steady))
        if tree.get(body, *path) is not None:
            origins[target] = path
    text = desired.annotations.get(patch.ANNOTATION)
    if text is not None:
        for operation in patch.parsed(text):
            if operation["op"] != "test":
                origins[_list_indexes(patch.steps(operation["path"]))] = _PATCH
    return origins


def _list_indexes(path: FieldPath) -> FieldPath:
    return tuple(int(step) if isinstance(step, str) and step.isdecimal() else step for step in path)


def _as_written(path: FieldPath, desired: Desired, steady: Desired) -> FieldPath:
    """A path of the stored version in the version that the author wrote."""
    if desired.api_version == steady.api_version:
        return path
    if path[0] == "featureGates":
        return _gate_as_written(path, desired, steady)
    best: tuple[int, Setting] | None = None
    for field in fields.CONVERTED:
        stored_path = field.of(steady.api_version)
        if stored_path is None or not field.of(desired.api_version):
            continue
        if path[: len(stored_path)] == stored_path:
            best = max(best or (0, field), (len(stored_path), field), key=lambda each: each[0])
    if best is None:
        return path
    return (*(best[1].of(desired.api_version) or ()), *path[best[0] :])


def _gate_as_written(path: FieldPath, desired: Desired, steady: Desired) -> FieldPath:
    listed: Any = steady.spec["featureGates"]
    name = listed[path[1]]["name"] if isinstance(path[1], int) else path[1]
    gates = desired.spec.get("featureGates")
    if not isinstance(gates, list):
        return ("featureGates", name)
    at = next(
        (i for i, gate in enumerate(gates) if gate["name"].lower() == str(name).lower()), None
    )
    return ("featureGates",) if at is None else ("featureGates", at)


_CONFIGURATION = ("spec", "configuration")


def _assumptions(final: Tree, origins: Origins) -> tuple[Assumption, ...]:
    """The values that decide VMs and that no manifest gives."""
    assumptions: list[Assumption] = []
    for path, text in _ASSUMED:
        whole = (*_CONFIGURATION, *path)
        value = tree.get(final, *whole)
        if value is not None and whole not in origins:
            assumptions.append(Assumption(whole, text.format(value=value)))
    return tuple(assumptions)


_ASSUMED: tuple[tuple[FieldPath, str], ...] = (
    (("evictionStrategy",), "{value}: by the number of worker nodes"),
    (
        ("architectureConfiguration", "defaultArchitecture"),
        "{value}: by the architectures of the nodes",
    ),
    (
        ("architectureConfiguration", "amd64", "machineType"),
        "{value}: by the build of the operator; those of Red Hat say pc-q35-rhel9.Y.0",
    ),
)
