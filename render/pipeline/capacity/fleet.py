"""Whether the namespaces of an input have room for the pods of its VMs.

The pods are those of `render.launcher`; what is said of them is `render.room`'s. Nothing of either is imported where no
object of the input limits pods.

Upstream: pkg/virt-controller/services (the pods), plugin/pkg/admission of Kubernetes (who refuses them).
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from render.admission import metadata
from render.diagnostics.codes import LIMITS, POD_SECURITY, QUOTA
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.machine import Context, Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.model.resource import VMI, Resource
from render.model.tree import Tree
from render.pipeline.capacity.namespaces import ENFORCE, NamespaceRules
from render.pipeline.stages import emit
from render.room import decoding
from render.room.decoding import Unreadable

if TYPE_CHECKING:
    from render.kubevirt.vmi_controller import Launched
    from render.room.amounts import Amounts
    from render.room.security import PodViolation

#: How a VM with a run strategy counts: it runs whenever it can, or only when somebody starts it.
_ALWAYS, _SOMETIMES = "Always", ("Manual", "Once", "RerunOnFailure")
_MOST_NAMED = 3
#: The settings that would lift a refusal, by the word that it is about.
_LIFTING = (("memory", "memoryOvercommit"), ("cpu", "cpuAllocationRatio"))


class _PodUse(NamedTuple):
    """What the pods of one machine count: *usage* of each of *replicas*, by the quotas in whose scope they are.

    *always*: they run whenever they can; *moves*: a drain of the node migrates them.
    """

    where: Location
    name: str
    usage: "Amounts"
    quotas: frozenset[int]
    replicas: int
    always: bool
    moves: bool
    shares: dict[str, str]


class _PodJudgement(NamedTuple):
    """What Kubernetes says of a pod.

    *violations* of the level that its namespace enforces; *refusal*: the LimitRange that refuses it, and why;
    *unspoken*: the quota that wants to know more of its containers, and what; else its *usage* of the *quotas* in whose
    scope it is. *moves*: a drain of its node migrates it. *shares*: what its containers have of that.
    """

    violations: tuple["PodViolation", ...] = ()
    refusal: tuple[Resource, str] | None = None
    unspoken: tuple[Resource, str] | None = None
    usage: "Amounts | None" = None
    quotas: frozenset[int] = frozenset()
    moves: bool = False
    shares: dict[str, str] = {}  # noqa: RUF012 - never changed


class Capacity:
    """Collects what the pods of machines ask for, in namespaces that limit it."""

    def __init__(
        self, context: Context, resources: Sequence[Resource], found: dict[str, NamespaceRules]
    ) -> None:
        self._context = context
        self._rules = found
        self._classes = {
            (one.kind, one.name): one
            for one in resources
            if one.kind in ("RuntimeClass", "PriorityClass")
            and decoding.unreadable(one.kind, one.body) is None
        }
        self._judged: dict[tuple[str, str], _PodJudgement | None] = {}
        self._uses: dict[str, list[_PodUse]] = {}
        self._found: list[Diagnostic] = []
        self._namespaces: set[str] = set()

    def observe(self, machine: Machine) -> None:
        """Judge the pod of *machine*, and remember what it counts."""
        known = self._rules.get(machine.namespace)
        if known is None or machine.failed or not machine.vmi:
            return
        key = (machine.namespace, _fingerprint(machine))
        if key not in self._judged:
            self._judged[key] = self._judge(machine, known)
        judged = self._judged[key]
        if judged is None:
            return
        if judged.violations:
            self._found.append(self._insecure(machine, judged.violations, known))
        if judged.refusal:
            self._found.append(self._refused_by(machine, *judged.refusal))
        elif judged.unspoken:
            self._found.append(_unspoken(machine, *judged.unspoken))
        elif judged.usage is not None:
            self._count(machine, judged, judged.usage)

    def _judge(self, machine: Machine, known: NamespaceRules) -> _PodJudgement | None:
        """What is said of the pod of *machine* in its namespace, None where there is no pod."""
        from render.launcher.sums import sums
        from render.pipeline.capacity.shares import shares
        from render.room import limits, quota, security

        pod = _pod(machine)
        if pod is None:
            return None
        self._namespaces.add(machine.namespace)
        vmi, launched = pod
        spec = self._admitted(launched.pod["spec"])
        violations = security.violations(spec, known.level) if known.namespace else ()
        for one in known.limit_ranges:
            spec = limits.filled(spec, one.body)
        for one in known.limit_ranges:
            text = limits.refusal(spec, one.body)
            if text:
                return _PodJudgement(violations, (one, text))
        for group, index, text in limits.invalid(spec) if known.limit_ranges else ():
            words = f"resources.requests: {text.partition(': ')[2]}"
            refusal = (known.limit_ranges[0], f"container {spec[group][index]['name']}: {words}")
            return _PodJudgement(violations, refusal)
        in_scope = [one for one in known.quotas if quota.matches(one.body, spec)]
        for one in in_scope:
            missing = quota.unspoken(one.body, spec)
            if missing:
                return _PodJudgement(violations, unspoken=(one, missing))
        return _PodJudgement(
            violations,
            usage=quota.usage(spec) if in_scope else None,
            quotas=frozenset(one.index for one in in_scope),
            moves=tree.get(vmi, "spec", "evictionStrategy") == "LiveMigrate",
            shares=shares(spec, sums(launched.launch, launched.pod)) if in_scope else {},
        )

    def _admitted(self, spec: Tree) -> Tree:
        """A pod *spec* with what the API server fills in from the objects of the input."""
        from render.room import amounts

        spec = amounts.defaulted(spec)
        runtime = self._classes.get(("RuntimeClass", spec.get("runtimeClassName") or ""))
        overhead = tree.get(runtime.body, "overhead", "podFixed") if runtime else None
        if overhead:
            spec = {**spec, "overhead": overhead}
        if not spec.get("priorityClassName"):
            for (kind, name), one in self._classes.items():
                if kind == "PriorityClass" and one.body.get("globalDefault") is True:
                    spec = {**spec, "priorityClassName": name}
        return spec

    def _insecure(
        self, machine: Machine, found: tuple["PodViolation", ...], known: NamespaceRules
    ) -> Diagnostic:
        """That the level of the namespace forbids the pod of *machine*."""
        words = ", ".join(map(str, found))
        assumed = self._assumes() and all(one.reason == "seccompProfile" for one in found)
        doubt = _doubt("seccompConfiguration") if assumed else ""
        related = []
        if known.namespace is not None:
            place = at(known.namespace, ("metadata", "labels", ENFORCE))
            related.append(Related(f"the namespace enforces {known.level}", place))
        return POD_SECURITY.at(
            at(machine.resource.written, _blamed(machine, found)),
            f'it needs a privileged namespace to run: violates PodSecurity "{known.level}:latest": {words}{doubt}',
            *related,
            help="the VM is admitted, but never starts: mend what is named, or let the namespace enforce another level"
            " (whom the cluster exempts, only the cluster knows)",
            severity=Severity.WARNING if assumed else None,
        )

    def _refused_by(self, machine: Machine, limit_range: Resource, text: str) -> Diagnostic:
        lifting = self._lifting(text)
        return LIMITS.at(
            at(machine.resource.written),
            f"{text}{_doubt(lifting) if lifting else ''}",
            Related("the LimitRange", at(limit_range, ("spec", "limits"))),
            help="the VM is admitted, but its pod is refused: the pod of a VM is larger than its guest, by the overhead"
            " of its processes",
            severity=Severity.WARNING if lifting else None,
        )

    def _count(self, machine: Machine, judged: _PodJudgement, usage: "Amounts") -> None:
        """Remember what the pods of *machine* count."""
        strategy = _strategy(machine)
        replicas = _replicas(machine)
        if replicas and (strategy == _ALWAYS or strategy in _SOMETIMES):
            self._uses.setdefault(machine.namespace, []).append(
                _PodUse(
                    at(machine.resource.written),
                    machine.resource.ref.name,
                    usage,
                    judged.quotas,
                    replicas,
                    strategy == _ALWAYS,
                    judged.moves,
                    judged.shares,
                )
            )

    def diagnostics(self) -> Iterator[Diagnostic]:
        """What is wrong with single pods, and the quotas that all of a namespace do not fit."""
        for namespace in sorted(self._namespaces):
            for resource, fault in self._rules[namespace].unreadable:
                yield _not_read(resource, fault)
        yield from self._found
        for namespace, uses in self._uses.items():
            for one in self._rules[namespace].quotas:
                yield from self._exceeded(one, [use for use in uses if one.index in use.quotas])

    def _exceeded(self, resource: Resource, uses: list[_PodUse]) -> Iterator[Diagnostic]:
        from render.room import amounts, quota

        granted = quota.hard(resource.body)
        always = [use for use in uses if use.always]
        steady, every = _sum(always), _sum(uses)
        known: set[str] = set()
        cases = [
            (always, steady, "what always runs", False),
            (uses, every, "what always runs, and what may be started", True),
        ]
        for involved, total, what, mild in cases:
            names = [name for name in quota.exceeded(granted, {}, total) if name not in known]
            if names:
                known.update(names)
                yield self._too_much(resource, names, total, involved, what, mild=mild)
        spare = _most_moving(always, granted, steady, known)
        if spare is not None:
            use, names = spare
            total = amounts.add(steady, use.usage)
            shown = amounts.shown({name: total[name] for name in names})
            limit = amounts.shown({name: granted[name] for name in names})
            yield QUOTA.at(
                at(resource, ("spec", "hard", names[0])),
                f"no room for a live migration of {use.name}, which takes a second pod: requested with it: {shown},"
                f" limited: {limit}",
                Related(f"{use.name} is to migrate when its node is drained", use.where),
                help="leave room for the largest VM that migrates, or its migration waits until something stops",
                severity=Severity.WARNING,
            )

    def _too_much(  # noqa: PLR0913, PLR0917 - what is said, of what
        self,
        resource: Resource,
        names: list[str],
        total: "Amounts",
        involved: list[_PodUse],
        what: str,
        mild: bool,  # noqa: FBT001 - said once, above
    ) -> Diagnostic:
        from render.room import amounts, quota

        granted = quota.hard(resource.body)
        first = names[0]
        largest = sorted(involved, key=lambda use: _amount(use, first), reverse=True)
        named = [use for use in largest if first in use.usage][:_MOST_NAMED]
        shown = ", ".join(
            f"{f'{use.replicas} x ' if use.replicas > 1 else ''}{use.name} {amounts.shown({first: use.usage[first]})}"
            for use in named
        )
        rest = len([use for use in largest if first in use.usage]) - len(named)
        more = f" and {rest} more" if rest else ""
        lifting = {self._lifting(name) for name in names}
        doubt = _doubt(" and ".join(sorted(lifting))) if "" not in lifting else ""
        requested = amounts.shown({name: total[name] for name in names})
        limited = amounts.shown({name: granted[name] for name in names})
        return QUOTA.at(
            at(resource, ("spec", "hard", first)),
            f"exceeded quota: {resource.name}, requested: {requested}, limited: {limited}"
            f": {what}: {shown}{more}{doubt}",
            *(Related(_named(use, first), use.where) for use in named),
            help="the VMs are admitted, but those that start last get no pod: raise the quota, or ask for less; the pod"
            " of a VM is larger than its guest",
            severity=Severity.WARNING if mild or doubt else None,
        )

    def _assumes(self) -> bool:
        """Whether nothing says how the cluster is set up."""
        return self._context.config.is_assumed and self._context.settings.admission != "strict"

    def _lifting(self, text: str) -> str:
        """The setting that could lift what *text* says, where nobody has set it; ``""`` if none does."""
        if not self._assumes() or text.startswith("limits.") or "minimum" in text:
            return ""
        return next((setting for word, setting in _LIFTING if word in text), "")


def _not_read(resource: Resource, fault: Unreadable) -> Diagnostic:
    """What the API server says of a quota or a LimitRange; that one with a placeholder is not looked at, as a note."""
    code = QUOTA if resource.kind == "ResourceQuota" else LIMITS
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
        help="write quantities like 2Gi, 500M, 1500m or 3",
    )


def _doubt(setting: str) -> str:
    return f" ({setting} decides, and nothing in the input says what it is)"


def _pod(machine: Machine) -> "tuple[Tree, Launched] | None":
    """The VMI of *machine* and its pod, None where there is none: that is said elsewhere."""
    from render.kubevirt import vmi_controller

    own = copy(machine)
    own.diagnostics, own.provenance = [], []
    vmi = emit.vmi(own)
    launched = None if own.failed else vmi_controller.launched(own, vmi)
    return None if launched is None else (vmi, launched)


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


def _fingerprint(machine: Machine) -> str:
    """What of the VMI of *machine* decides the resources and the rights of its pod."""
    spec = dict(machine.vmi.get("spec") or {})
    spec.pop("hostname", None)
    volumes = spec.get("volumes")
    if volumes:
        spec["volumes"] = [
            {key: key in _OWN_SOURCES or value for key, value in volume.items()}
            for volume in volumes
        ]
    domain = spec.get("domain") or {}
    devices = dict(domain.get("devices") or {})
    if devices.get("interfaces"):
        devices["interfaces"] = [
            {key: value for key, value in one.items() if key != "macAddress"}
            for one in devices["interfaces"]
        ]
    spec["domain"] = {**domain, "devices": devices}
    annotations = tree.get(machine.vmi, "metadata", "annotations")
    return json.dumps((annotations, spec, machine.resource.kind), default=str)


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


def _blamed(machine: Machine, found: Iterable["PodViolation"]) -> FieldPath:
    """The field of the VM that brings what the namespace forbids: a volume, if one is named."""
    if machine.resource.holder is not None:
        return ()
    words = " ".join(one.detail for one in found if "volume" in one.reason)
    volumes = tree.get(machine.decoded, *machine.vmi_path, "volumes") or ()
    for index, volume in enumerate(volumes):
        if f'"{volume.get("name")}"' in words:
            return (*machine.vmi_path, "volumes", index)
    return ()


def _named(use: _PodUse, resource: str) -> str:
    shares = use.shares.get(resource)
    return f"{use.name}: {shares}" if shares else use.name


def _amount(use: _PodUse, name: str) -> float:
    amount = use.usage.get(name)
    return 0.0 if amount is None else use.replicas * amount.mantissa * 10.0**amount.scale


def _sum(uses: Iterable[_PodUse]) -> "Amounts":
    from render.room import amounts

    return amounts.sums(use.usage for use in uses for _ in range(use.replicas))


def _most_moving(
    always: list[_PodUse], granted: "Amounts", steady: "Amounts", known: set[str]
) -> tuple[_PodUse, list[str]] | None:
    """The VM for whose second pod there is least room, and the resources that it lacks; None if there is room."""
    from render.room import quota

    found = [
        (use, names)
        for use in always
        if use.moves
        and (
            names := [
                name for name in quota.exceeded(granted, steady, use.usage) if name not in known
            ]
        )
    ]
    return max(found, key=lambda one: _amount(one[0], one[1][0]), default=None)
