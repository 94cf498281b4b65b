"""Whether the namespaces of an input have room for the pods of its VMs, and what these ask for in figures.

The pods are those of `render.launcher`; what is said of them is `render.room`'s.

Upstream: pkg/virt-controller/services (the pods), plugin/pkg/admission of Kubernetes (who refuses them).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from render.admission import metadata
from render.diagnostics.codes import LIMIT_EXCEEDED, LIMITS, POD, POD_SECURITY, QUOTA
from render.diagnostics.diagnostic import Diagnostic, Related, Severity, at
from render.launcher import devices
from render.launcher.launch import BINDINGS, FEATURE_GATES, PERMITTED_DEVICES
from render.machine import CONFIGURATION, Context, Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.hints import Any
from render.model.nearest import did_you_mean
from render.model.release import VERSIONS, Version, minor
from render.model.resource import VMI, Resource
from render.model.tree import Tree
from render.pipeline.capacity import blame, figures, namespaces, quotas, reasons
from render.pipeline.capacity.blame import Blamed, PodField
from render.pipeline.capacity.judgement import PodJudge, PodJudgement, Unmade
from render.pipeline.capacity.namespaces import AlikeNamespaces, NamespaceRules
from render.pipeline.capacity.quotas import CountedPods, NamespacePods, PodUse
from render.room import decoding, nodes, quota
from render.room.amounts import Amounts
from render.room.decoding import Unreadable
from render.room.figures import ClusterCapacity
from render.room.security import PodViolation

#: How a VM with a run strategy counts: it runs whenever it can, or only when somebody starts it.
_ALWAYS, _SOMETIMES = "Always", ("Manual", "Once", "RerunOnFailure")
#: The settings that would lift a refusal, by the word that it is about.
_LIFTING = (("memory", "memoryOvercommit"), ("cpu", "cpuAllocationRatio"))
#: What to do where KubeVirt makes no pod because of a setting.
_CURES = {
    PERMITTED_DEVICES: "name a device that permittedHostDevices has",
    BINDINGS: "name a plugin that network.binding of the KubeVirt resource has, or register this one there",
    FEATURE_GATES: "turn the feature gate on",
}
#: What may be named instead, of what such a setting says.
_CHOICES: Mapping[FieldPath, Callable[[Any], Iterable[str]]] = {
    PERMITTED_DEVICES: lambda configured: (
        devices.permitted({"permittedHostDevices": configured}) or ()
    ),
    BINDINGS: lambda configured: configured or (),
}
_FREE = NamespaceRules()
MOST_COMPARED = 150_000
"""What may be compared in an input: a pod, or a VM, with each quota and LimitRange of its namespace; some seconds."""
_PodKey = tuple[str, str]


class Capacity:
    """Collects what the pods of machines ask for, and what is wrong with them."""

    def __init__(self, context: Context, resources: Sequence[Resource]) -> None:
        self._context = context
        limiting = [
            resource
            for resource in resources
            if resource.kind in reasons.LIMITING and not resource.group
        ]
        self._rules = namespaces.rules(limiting, context.settings.namespace)
        self._nodes = nodes.nodes(resource.body for resource in limiting if resource.kind == "Node")
        self._judge = PodJudge(
            context,
            [
                resource
                for resource in resources
                if decoding.unreadable(resource.kind, resource.body) is None
            ],
        )
        self._alike = AlikeNamespaces(resources, self._rules, context.settings.namespace)
        self._judged: dict[_PodKey, PodJudgement | None] = {}
        #: A machine of each pod, where another release may judge otherwise.
        self._samples: dict[_PodKey, Machine] = {}
        self._elsewhere: dict[tuple[_PodKey, Version], PodJudgement | None] = {}
        #: What a pod counts in a namespace, with a release if that is another one: alike for many VMs and many quotas.
        self._counted: dict[tuple[str, _PodKey, Version | None], dict[int, Amounts]] = {}
        self._uses: dict[str, list[PodUse]] = {}
        self._found: list[Diagnostic] = []
        self._namespaces: set[str] = set()
        self._compared = 0

    def concerns(self, machine: Machine) -> bool:
        """Whether something limits what the pods of *machine* may ask for."""
        return bool(self._nodes) or machine.namespace in self._rules

    def observe(self, machine: Machine, *, is_doubtful: bool) -> bool:
        """Judge the pods of *machine*, and remember what they count; whether something is wrong with one of them.

        *is_doubtful*: the API server may refuse them by themselves.
        """
        known = len(self._found)
        rules = self._rules.get(machine.namespace, _FREE)
        if not self._has_room(machine, rules):
            return True
        key = (
            self._alike.key(machine.namespace),
            _fingerprint(
                machine, is_doubtful=is_doubtful, knows_networks=self._alike.knows_networks
            ),
        )
        if key not in self._judged:
            self._judged[key] = self._judge.judge(machine, rules, is_doubtful=is_doubtful)
            if self._is_release_assumed():
                self._samples[key] = machine
        judged = self._judged[key]
        if judged is None:
            return False
        self._namespaces.add(machine.namespace)
        self._found += (self._unmade(machine, key, unmade) for unmade in judged.unmade)
        self._found += (self._invalid(machine, key, blamed) for blamed in judged.invalid)
        if judged.violations:
            self._found.append(self._insecure(machine, key, judged.violations))
        if judged.refusal:
            index, text = judged.refusal
            self._found.append(self._refused_by(machine, key, rules.limit_ranges[index], text))
        elif judged.unspoken:
            index, missing = judged.unspoken
            self._found.append(_unspoken(machine, rules.quotas[index], missing))
        elif not judged.is_refused:
            self._count(machine, key, judged)
        return len(self._found) > known

    def is_whole(self) -> bool:
        """Whether all pods that there are could be compared."""
        return self._compared <= MOST_COMPARED

    def _has_room(self, machine: Machine, rules: NamespaceRules) -> bool:
        """Whether the pods of *machine* may be compared with what *rules* has; where they may not, it is said once."""
        most = MOST_COMPARED
        if self.is_whole():
            self._compared += len(rules.quotas) + len(rules.limit_ranges)
            if not self.is_whole():
                self._uses.clear()  # sums of some VMs would be wrong
                self._found.append(
                    LIMIT_EXCEEDED.at(
                        at(machine.resource.written),
                        f"whether its pod fits is not looked at, nor those after it: more than {most:,} comparisons of"
                        " VMs with the quotas and LimitRanges of their namespaces",
                        help="let a namespace have fewer ResourceQuotas and LimitRanges, or split the input",
                    )
                )
        return self.is_whole()

    def _count(self, machine: Machine, key: _PodKey, judged: PodJudgement) -> None:
        """Remember what the pods of *machine* count."""
        strategy, replicas = _strategy(machine), _replicas(machine)
        if not replicas or strategy not in {_ALWAYS, *_SOMETIMES}:
            return
        name = machine.instancetype.name if machine.instancetype else ""
        self._uses.setdefault(machine.namespace, []).append(
            PodUse(
                at(machine.resource.written),
                machine.resource.ref.name,
                machine.namespace,
                self._by_resource(machine.namespace, key, judged),
                judged.requests,
                judged.size._replace(instancetype=name),
                replicas,
                strategy == _ALWAYS,
                judged.moves,
                judged.shares,
                key,
                {
                    part: tree.get(judged.vmi, "spec", part)
                    for part in ("nodeSelector", "affinity", "tolerations")
                },
            )
        )

    def diagnostics(self) -> Iterator[Diagnostic]:
        """What is wrong with single pods, and the quotas that all of a namespace do not fit."""
        for namespace in sorted(self._namespaces & self._rules.keys()):
            for resource, fault in self._rules[namespace].unreadable:
                yield _not_read(resource, fault)
        yield from self._found
        for namespace, uses in self._uses.items():
            every = NamespacePods(uses)
            always = NamespacePods(use for use in uses if use.always)
            for limiting in self._rules.get(namespace, _FREE).quotas:
                counted = always.against(limiting.index), every.against(limiting.index)
                yield from quotas.exceeded(limiting, *counted, self._lifting_of_quota)

    def figures(self) -> ClusterCapacity:
        """What the pods ask for, against what there is; of VMs that nothing limits, nothing."""
        uses = [use for several in self._uses.values() for use in several]
        return figures.capacity(uses, self._rules, self._nodes)

    def _unmade(self, machine: Machine, key: _PodKey, unmade: Unmade) -> Diagnostic:
        """That KubeVirt makes no pod of *machine*, for what *unmade* says."""
        doubt = self._doubt_of_release(
            key, lambda other: unmade.path in {each.path for each in other.unmade}
        )
        source = self._context.config_source
        configured = tree.get(source.kubevirt, *CONFIGURATION, *unmade.setting) if source else None
        related = []
        if source is not None and unmade.setting and configured is not None:
            setting = ".".join(map(str, unmade.setting))
            place = source.place(unmade.setting)
            related.append(Related(f"{source.resource.ref} sets {setting}", place))
        cure = _CURES.get(unmade.setting, "mend what is named")
        choices = _CHOICES.get(unmade.setting, lambda _: ())
        name = str(tree.get(machine.vmi, *unmade.path))
        return POD.at(
            at(machine.resource.written, blame.place(PodField(unmade.path), machine)),
            f"KubeVirt makes no pod: {unmade.text}{doubt}",
            *related,
            help=did_you_mean(
                name, sorted(choices(configured)), f"the VM is admitted, but never starts: {cure}"
            ),
            severity=Severity.WARNING if doubt else None,
        )

    def _invalid(self, machine: Machine, key: _PodKey, found: Blamed) -> Diagnostic:
        """That the API server refuses the pod of *machine* for what one field brought."""
        text = "; ".join(map(str, found.refusals))
        related = []
        source = self._context.config_source
        if found.field.setting and source is not None:
            setting = ".".join(str(step) for step in found.field.setting[:2])
            place = source.place(found.field.setting)
            related.append(Related(f"{source.resource.ref} sets {setting}", place))
        doubt = self._doubt_of_release(
            key, lambda other: found.field in {blamed.field for blamed in other.invalid}
        )
        return POD.at(
            at(machine.resource.written, blame.place(found.field, machine)),
            f"the API server refuses its pod: {text}{doubt}",
            *related,
            help="the VM is admitted, but never starts: mend what is named",
            severity=Severity.WARNING if doubt else None,
        )

    def _insecure(
        self, machine: Machine, key: _PodKey, found: tuple[PodViolation, ...]
    ) -> Diagnostic:
        """That the level of the namespace forbids the pod of *machine*."""
        rules = self._rules[machine.namespace]
        words = ", ".join(map(str, found))
        level = f"{rules.level}:{rules.version}"
        assumed = self._assumes() and all(
            violation.reason == "seccompProfile" for violation in found
        )
        doubt = _doubt("seccompConfiguration") if assumed else ""
        doubt = doubt or self._doubt_of_release(key, lambda other: bool(other.violations))
        related = []
        if rules.namespace is not None:
            place = at(rules.namespace, ("metadata", "labels", reasons.ENFORCE))
            related.append(Related(f"the namespace enforces {rules.level}", place))
        return POD_SECURITY.at(
            at(machine.resource.written, _blamed(machine, found)),
            f'it needs a privileged namespace to run: violates PodSecurity "{level}": {words}{doubt}',
            *related,
            help="the VM is admitted, but never starts: mend what is named, or let the namespace enforce another level"
            " (whom the cluster exempts, only the cluster knows)",
            severity=Severity.WARNING if doubt else None,
        )

    def _refused_by(
        self, machine: Machine, key: _PodKey, limit_range: Resource, text: str
    ) -> Diagnostic:
        lifting = self._lifting(text)
        doubt = _doubt(lifting) if lifting else ""
        doubt = doubt or self._doubt_of_release(key, lambda other: other.refusal is not None)
        return LIMITS.at(
            at(machine.resource.written),
            f"{text}{doubt}",
            Related("the LimitRange", at(limit_range, ("spec", "limits"))),
            help="the VM is admitted, but its pod is refused: the pod of a VM is larger than its guest, by the overhead"
            " of its processes",
            severity=Severity.WARNING if doubt else None,
        )

    def _assumes(self) -> bool:
        """Whether nothing says how the cluster is set up."""
        return self._context.config.is_assumed and self._context.settings.admission != "strict"

    def _is_release_assumed(self) -> bool:
        """Whether nothing says which release runs."""
        return self._context.release_is_assumed and self._context.settings.admission != "strict"

    def _lifting(self, text: str) -> str:
        """The setting that could lift what *text* says, where nobody has set it; ``""`` if none does."""
        if not self._assumes() or text.startswith("limits.") or "minimum" in text:
            return ""
        return next((setting for word, setting in _LIFTING if word in text), "")

    def _lifting_of_quota(self, names: list[str], resource: Resource, uses: CountedPods) -> str:
        """What would lift that *uses* need more than the quota *resource* grants of *names*, in words."""
        settings = {self._lifting(name) for name in names}
        if "" not in settings:
            return _doubt(" and ".join(sorted(settings)))
        if not self._is_release_assumed():
            return ""
        granted = quota.hard(resource.body)
        return _doubt_of(
            release
            for release in VERSIONS
            if any(
                name in names
                for name in quota.exceeded(granted, {}, self._in(release, resource, uses))
            )
        )

    def _in(self, release: Version, resource: Resource, uses: CountedPods) -> Amounts:
        """What *uses* would count against the quota *resource* under *release*."""
        if release not in uses.elsewhere:
            others = ((use, self._judged_in(use.pod, release)) for use in uses.alike)
            uses.elsewhere[release] = NamespacePods(
                use._replace(usage=self._by_resource(use.namespace, use.pod, other, release))
                for use, other in others
                if other is not None
            )
        return uses.elsewhere[release].against(resource.index).total

    def _by_resource(
        self, namespace: str, key: _PodKey, judged: PodJudgement, release: Version | None = None
    ) -> dict[int, Amounts]:
        """What the pods of *key*, *judged* as in *release*, count in *namespace*, by the indexes of its quotas."""
        known = namespace, key, release
        if known not in self._counted:
            limiting = self._rules.get(namespace, _FREE).quotas
            self._counted[known] = {
                limiting[place].index: counted for place, counted in judged.usage.items()
            }
        return self._counted[known]

    def _judged_in(self, key: _PodKey, release: Version) -> PodJudgement | None:
        """What is said of the pods of *key* where *release* runs."""
        if (key, release) not in self._elsewhere:
            machine = self._samples[key]
            rules = self._rules.get(machine.namespace, _FREE)
            self._elsewhere[key, release] = self._judge.judge(machine, rules, release=release)
        return self._elsewhere[key, release]

    def _doubt_of_release(self, key: _PodKey, refuses: Callable[[PodJudgement], bool]) -> str:
        """The releases that alone refuse the pod of *key*, as far as nothing says which one runs."""
        if not self._is_release_assumed():
            return ""
        judged = ((release, self._judged_in(key, release)) for release in VERSIONS)
        return _doubt_of(
            release for release, other in judged if other is not None and refuses(other)
        )


def _doubt_of(refusing: Iterable[Version]) -> str:
    releases = [*refusing]
    if len(releases) in {0, len(VERSIONS)}:
        return ""
    names = ", ".join(map(minor, releases))
    return f" (by KubeVirt {names} alone, and nothing says which release runs)"


def _not_read(resource: Resource, fault: Unreadable) -> Diagnostic:
    """What the API server says of a quota or a LimitRange; that one with a placeholder is not looked at, as a note."""
    code, cure = _UNREAD[resource.kind]
    place = at(resource, fault.path)
    if isinstance(fault.value, str) and re.search(metadata.PLACEHOLDER, fault.value):
        return code.at(
            place,
            f"a placeholder is not filled in: whether pods fit the {resource.kind} is not looked at",
            help="render the template first, and pipe its output into `virt-render check -`",
            severity=Severity.INFO,
        )
    return code.at(
        place,
        f"{fault.why}: the API server refuses the {resource.kind}, and it limits no pod",
        help=fault.help or cure,
    )


_AMOUNT = "write quantities like 2Gi, 500M, 1500m or 3"
#: What is said of an object of each kind that the API server does not read, and what to do.
_UNREAD = {
    "ResourceQuota": (QUOTA, _AMOUNT),
    "LimitRange": (LIMITS, _AMOUNT),
    "Namespace": (
        POD_SECURITY,
        "write privileged, baseline or restricted, and latest or v1.28 as a version",
    ),
}


def _doubt(setting: str) -> str:
    return f" ({setting} decides, and nothing in the input says what it is)"


def _unspoken(machine: Machine, resource: Resource, missing: str) -> Diagnostic:
    """That a quota wants to know more of the containers of each pod of *machine*."""
    return QUOTA.at(
        at(resource, ("spec", "hard")),
        f"failed quota: {resource.name}: must specify {missing}, of {machine.resource.ref}",
        Related("the VM", at(machine.resource.written)),
        help="the VM is admitted, but its pod is refused: let a LimitRange give such containers a default",
    )


#: Of a VMI what tells VMs of one kind apart, and does not reach the resources or the rights of a pod.
_OWN_SOURCES = ("persistentVolumeClaim", "dataVolume", "cloudInitNoCloud", "cloudInitConfigDrive")
_IDENTITY = ("uuid", "serial")
_encode = json.JSONEncoder(check_circular=False, default=str).encode


def _fingerprint(machine: Machine, *, is_doubtful: bool, knows_networks: bool) -> str:
    """What of the VMI of *machine* decides the resources and the rights of its pod.

    *knows_networks*: it matters which network an interface is of.
    """
    spec = dict(machine.vmi.get("spec") or {})
    spec.pop("hostname", None)
    if not knows_networks and spec.get("networks"):
        spec["networks"] = [_own_network(network) for network in spec["networks"]]
    volumes = spec.get("volumes")
    if volumes:
        spec["volumes"] = [
            {key: _own_source(key, value) for key, value in volume.items()} for volume in volumes
        ]
    domain = spec.get("domain") or {}
    devices = dict(domain.get("devices") or {})
    if devices.get("interfaces"):
        devices["interfaces"] = [
            {key: value for key, value in interface.items() if key != "macAddress"}
            for interface in devices["interfaces"]
        ]
    spec["domain"] = {
        **domain,
        "devices": devices,
        "firmware": {
            key: value
            for key, value in (domain.get("firmware") or {}).items()
            if key not in _IDENTITY
        },
    }
    annotations = tree.get(machine.vmi, "metadata", "annotations")
    level = tree.get(machine.vmi, "metadata", "labels", reasons.VERBOSITY)
    resource = machine.resource
    odd = resource.name if is_doubtful and reasons.is_odd_name(resource.name) else ""
    place = bool(resource.holders), odd
    return _encode((annotations, level, spec, resource.kind, place))


def _own_network(network: Tree) -> Tree:
    multus = network.get("multus")
    if not isinstance(multus, dict):
        return network
    return {
        **network,
        "multus": {key: value for key, value in multus.items() if key != "networkName"},
    }


def _own_source(key: str, value: object) -> object:
    """What counts of the source of a volume: that there is one, and whether it is hotplugged."""
    if key not in _OWN_SOURCES:
        return value
    return isinstance(value, dict) and bool(value.get("hotpluggable"))


def _strategy(machine: Machine) -> str:
    if machine.resource.kind == VMI:
        return _ALWAYS
    running = machine.spec.get("running")
    if running is not None:
        return _ALWAYS if running else "Halted"
    return str(machine.spec.get("runStrategy") or "Halted")


def _replicas(machine: Machine) -> int:
    """How many pods there are of *machine*."""
    holder = machine.resource.holder
    if holder is None:
        return 1
    replicas = holder.spec.get("replicas")
    return replicas if isinstance(replicas, int) else 1


def _blamed(machine: Machine, found: Iterable[PodViolation]) -> FieldPath:
    """The field of the VM that brings what the namespace forbids: a volume, if one is named."""
    if machine.resource.holder is not None:
        return ()
    words = " ".join(violation.detail for violation in found if "volume" in violation.reason)
    volumes = tree.get(machine.decoded, *machine.vmi_path, "volumes") or ()
    for index, volume in enumerate(volumes):
        if f'"{volume.get("name")}"' in words:
            return (*machine.vmi_path, "volumes", index)
    return ()
