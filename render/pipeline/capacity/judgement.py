"""What Kubernetes says of the pods of one machine, in a namespace with what limits pods there.

Upstream: staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go (Create: first what fills in, then the
validation, then who refuses), plugin/pkg/admission of Kubernetes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy

from render.admission import metadata
from render.diff.sizes import Size, size_of
from render.kubevirt import vmi_controller
from render.kubevirt.vmi_controller import Launched
from render.launcher import devices
from render.launcher.beside import hotplug
from render.launcher.launch import DEVICES, PERMITTED_DEVICES, PodError
from render.launcher.sums import sums
from render.machine import Context, Machine
from render.model import tree
from render.model.apimachinery.quantity import Quantity
from render.model.fieldpath import FieldPath
from render.model.named_tuple import NamedTuple
from render.model.release import Version
from render.model.resource import Resource
from render.model.tree import Tree
from render.pipeline.capacity.blame import Blamed, by_field
from render.pipeline.capacity.namespaces import NamespaceRules
from render.pipeline.capacity.shares import shares
from render.pipeline.stages import emit
from render.room import amounts, limits, pod, quota, security
from render.room.amounts import Amounts
from render.room.quota import QuotaRule
from render.room.security import PodViolation


class Unmade(NamedTuple):
    """Why KubeVirt makes no pod, in its words: for what at *path* of the VMI, because of which *setting*, if any."""

    path: FieldPath
    text: str
    setting: FieldPath = ()


class PodJudgement(NamedTuple):
    """What Kubernetes says of the pods of a machine.

    *unmade*: why KubeVirt makes none; *invalid*: what of its launcher pod the API server itself refuses; *violations*
    of the level that its namespace enforces; *refusal*: the LimitRange that refuses it, and why; *unspoken*: the quota
    that wants to know more of its containers, and what. If it is refused by none of them: what its pods count against
    each quota (*usage*) and ask for (*requests*). *size*: that of its guest; *moves*: a drain of its node migrates it;
    *shares*: what containers have of an amount; *vmi*: what it starts. Quotas and LimitRanges are places in the rules:
    namespaces are alike in all else.
    """

    vmi: Tree
    unmade: tuple[Unmade, ...] = ()
    invalid: tuple[Blamed, ...] = ()
    violations: tuple[PodViolation, ...] = ()
    refusal: tuple[int, str] | None = None
    unspoken: tuple[int, str] | None = None
    usage: Mapping[int, Amounts] = {}
    requests: Mapping[str, Quantity] = {}
    size: Size = Size(0, 0)
    moves: bool = False
    shares: Mapping[str, str] = {}

    @property
    def is_refused(self) -> bool:
        """Whether there is no pod for a quota to count."""
        return bool(self.unmade or self.invalid or self.refusal or self.unspoken)


class PodJudge:
    """Judges pods in the cluster of *context*, with the classes among *resources*."""

    def __init__(self, context: Context, resources: Sequence[Resource]) -> None:
        self._context = context
        self._runtimes = {
            resource.name: resource.body
            for resource in resources
            if resource.kind == "RuntimeClass"
        }
        self._default_class = next(
            (
                resource.name
                for resource in resources
                if resource.kind == "PriorityClass" and resource.body.get("globalDefault") is True
            ),
            "",
        )

    def judge(
        self,
        machine: Machine,
        rules: NamespaceRules,
        *,
        is_doubtful: bool = True,
        release: Version | None = None,
    ) -> PodJudgement | None:
        """What is said of the pods of *machine* under *rules*, None where there is no pod: that is said elsewhere.

        *is_doubtful*: the API server may refuse them by themselves; *release*: as if another one than that of the
        input ran.
        """
        vmi, launch, unmade = launched(machine, release)
        if launch is None:
            return PodJudgement(vmi, unmade) if unmade else None
        spec = self._admitted(launch.pod["spec"])
        configuration = launch.launch.cluster.configuration
        refused = pod.refusals({**launch.pod, "spec": spec}) if is_doubtful else ()
        invalid = by_field(refused, vmi, launch.pod, configuration)
        if invalid:
            return PodJudgement(vmi, invalid=tuple(invalid))
        violations = (
            security.violations(spec, rules.level, rules.version) if rules.namespace else ()
        )
        judged = PodJudgement(vmi, violations=violations, size=size_of(vmi))
        beside = [self._admitted(attachment["spec"]) for attachment in _attachments(launch)]
        specs = [limits.filled_by_all(each, rules.limit_ranges) for each in (spec, *beside)]
        for each in specs:
            refusal = next(_refusals({**launch.pod, "spec": each}, rules.limit_ranges), None)
            if refusal is not None:
                return judged._replace(refusal=refusal)
        return _counted(judged, launch, specs, rules.demands)

    def _admitted(self, spec: Tree) -> Tree:
        """A pod *spec* with what the API server fills in from the objects of the input."""
        spec = amounts.defaulted(spec)
        runtime = self._runtimes.get(spec.get("runtimeClassName") or "")
        overhead = tree.get(runtime, "overhead", "podFixed") if runtime else None
        if overhead:
            spec = {**spec, "overhead": overhead}
        if self._default_class and not spec.get("priorityClassName"):
            spec = {**spec, "priorityClassName": self._default_class}
        return spec


def _counted(
    judged: PodJudgement, launch: Launched, specs: Sequence[Tree], quotas: Sequence[QuotaRule]
) -> PodJudgement:
    """*judged* with what its pods, which say *specs*, count against the *quotas*, or what one of these misses."""
    in_scope = _in_scope(specs, quotas)
    texts: dict[tuple[frozenset[str], int], str] = {}
    for index, limiting in enumerate(quotas):
        for place in in_scope[index]:
            known = limiting.demanded, place
            if known not in texts:
                texts[known] = quota.unspoken(limiting.demanded, specs[place])
            if texts[known]:
                return judged._replace(unspoken=(index, texts[known]))
    usage = [quota.usage(spec) for spec in specs] if any(in_scope) else []
    # Quotas that count the same pods share what they count.
    counted = {
        places: amounts.sums(usage[place] for place in places) for places in set(in_scope) if places
    }
    return judged._replace(
        usage={index: counted[places] for index, places in enumerate(in_scope) if places},
        requests=amounts.sums(amounts.of_pod(spec, "requests") for spec in specs),
        moves=tree.get(judged.vmi, "spec", "evictionStrategy") == "LiveMigrate",
        shares=shares(specs, sums(launch.launch, launch.pod)) if any(in_scope) else {},
    )


def _in_scope(specs: Sequence[Tree], quotas: Sequence[QuotaRule]) -> list[tuple[int, ...]]:
    """For each of the *quotas* the places of *specs* that it looks at."""
    found: dict[tuple[str, bool], tuple[int, ...]] = {}
    for each in quotas:
        if (each.scope, each.limits) not in found:
            found[each.scope, each.limits] = tuple(
                place for place, spec in enumerate(specs) if each.matches(spec)
            )
    return [found[each.scope, each.limits] for each in quotas]


def _refusals(made: Tree, limit_ranges: Sequence[Resource]) -> Iterator[tuple[int, str]]:
    """What is refused of a pod once LimitRanges have filled it in, and by which: by the API server first."""
    spec = made["spec"]
    for refusal in pod.refusals(made) if limit_ranges else ():
        group, index = refusal.path[1:3]
        words = str(refusal).partition(f"{group}[{index}].")[2]
        yield 0, f"container {spec[group][index]['name']}: {words}"
    for index, limit_range in enumerate(limit_ranges):
        text = limits.refusal(spec, limit_range.body)
        if text:
            yield index, text


def launched(
    machine: Machine, release: Version | None = None
) -> tuple[Tree, Launched | None, tuple[Unmade, ...]]:
    """The VMI of *machine* and its pod, None where there is none, and as far as anybody can know, why.

    *release*: as if another one than that of the input ran.
    """
    own = copy(machine)
    own.diagnostics, own.provenance = [], []
    if release is not None and release != machine.context.release:
        own.context = _in_release(machine.context, release)
    vmi = emit.vmi(own)
    if own.failed:
        return vmi, None, ()
    refused = devices.unpermitted(
        tree.get(vmi, *DEVICES) or {}, vmi_controller.launcher_cluster(own.context)
    )
    unpermitted = tuple(
        Unmade((*DEVICES, *path, "deviceName"), text, PERMITTED_DEVICES) for path, text in refused
    )
    if unpermitted:
        return vmi, None, unpermitted
    try:
        return vmi, vmi_controller.launch(own, vmi), ()
    except PodError as error:
        is_known = not error.setting or vmi_controller.has_settings(own.context)
        value = tree.get(vmi, *error.path)
        if not is_known or (isinstance(value, str) and re.search(metadata.PLACEHOLDER, value)):
            return vmi, None, ()
        return vmi, None, (Unmade(error.path, str(error), error.setting),)


def _in_release(context: Context, release: Version) -> Context:
    from render.model.cluster_config import builtin

    source = context.config_source
    config = source.in_release(release) if source else builtin(release)
    return context._replace(release=release, config=config, clusters=[])


def _attachments(made: Launched) -> list[Tree]:
    """The pod that attaches the volumes that are hotplugged from the start, if there are any."""
    try:
        attached = hotplug.attachment(made.launch, made.pod)
    except PodError:
        return []
    return [] if attached is None else [attached]
