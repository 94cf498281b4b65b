"""Stages of resolution and admission: definitions in force, requirements, spread, conflicts.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go,
pkg/instancetype/webhooks/vm/admitter.go, pkg/instancetype/controller/vm/controller.go.
"""

from render import requirements
from render.apply import order as application
from render.diagnostics.codes import (
    BUNDLED_USED,
    INSTANCETYPE_CONFLICT,
    NO_CPU_FOR_FEATURES,
    REQUIREMENT_UNMET,
    SPREAD_INDIVISIBLE,
    SPREAD_RATIO_ZERO,
)
from render.diagnostics.diagnostic import Related, at
from render.model import tree
from render.model.catalogue import Definition
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.pipeline.machine import TEMPLATE, Machine, ref_of, setting
from render.requirements import Finding
from render.resolve.find import Missing, find
from render.resolve.kinds import INSTANCETYPE, KIND_CLASSES, PREFERENCE, KindClass
from render.rules import Conflict


def definition_of(machine: Machine, kind_class: KindClass) -> Definition | Missing | None:
    """What a matcher of the VM means; None where it has none."""
    given = machine.spec.get(kind_class.word)
    if given is None:
        return None
    if kind_class.word in machine.pinned:
        return machine.pinned[kind_class.word]
    status = machine.resource.body.get("status")
    return find(
        kind_class,
        given,
        status if isinstance(status, dict) else {},
        machine.namespace,
        machine.context.catalogue,
    )


def resolve(machine: Machine) -> None:
    """Find the definitions in force. KubeVirt >= 1.6 admits a VM without them and fails later: we fail."""
    found = {kind_class.word: definition_of(machine, kind_class) for kind_class in KIND_CLASSES}
    definitions = {
        word: definition for word, definition in found.items() if isinstance(definition, Definition)
    }
    machine.instancetype = definitions.get(INSTANCETYPE.word)
    machine.preference = definitions.get(PREFERENCE.word)
    for kind_class in KIND_CLASSES:
        definition = found[kind_class.word]
        if isinstance(definition, Missing):
            path: FieldPath = ("spec", kind_class.word)
            if machine.spec[kind_class.word].get(definition.key) is not None:
                path = (*path, definition.key)
            machine.report(
                definition.code,
                path,
                definition.message,
                # Admission goes on as if there were no matcher, and may complain about that.
                *(_related(machine, finding) for finding in _admission(machine)),
                help=definition.suggest(),
            )
            check_conflicts(machine)
        elif (
            definition is not None
            and definition.resource is None
            and kind_class.word not in machine.pinned
        ):
            settings = machine.context.settings
            catalogue = (
                f"the bundled catalogue of KubeVirt {settings.kubevirt}"
                if settings.catalog == "bundled"
                else f"the catalogue {settings.catalog}"
            )
            machine.report(
                BUNDLED_USED,
                ("spec", kind_class.word, "name"),
                f"{definition.kind} {definition.name} is taken from {catalogue}",
            )


def _related(machine: Machine, finding: Finding) -> Related:
    return Related(finding.message, at(machine.resource, finding.path))


def admit(machine: Machine) -> None:
    """Requirements and spread, as the validating webhook checks them."""
    for finding in _admission(machine):
        preference = machine.preference
        code, location = REQUIREMENT_UNMET, at(machine.resource, finding.path)
        related: tuple[Related, ...] = ()
        if finding.path == ("spec", "cpu", "guest"):
            code, location = SPREAD_INDIVISIBLE, at(machine.resource, ("spec", "instancetype"))
            if machine.instancetype is not None:
                related = (setting(machine.instancetype, ("cpu", "guest")),)
        if preference is not None:
            related = (*related, setting(preference, finding.source))
        machine.diagnostics.append(code.at(location, finding.message, *related))


def _admission(machine: Machine) -> list[Finding]:
    """What the validating webhook would refuse of the VM with the definitions that were found."""
    instancetype = machine.instancetype.spec if machine.instancetype else None
    preference = machine.preference.spec if machine.preference else None
    if instancetype is not None and preference is not None:
        spread = None
        if not requirements.ratio_is_zero(preference):
            spread = requirements.check_spread(instancetype, preference)
        if spread is not None:
            return [spread]
    if preference is None or not preference.get("requirements") or crashes(machine):
        return []
    from render.defaults import spec as spec_defaults

    draft = Draft(machine.spec.get("template") or {})
    applied = application.apply(draft, instancetype, preference, machine.context.release)
    if applied.conflicts:
        return []
    if spec_defaults.fill(draft, machine.context.config):
        return []
    finding = requirements.check(draft.tree, instancetype, preference)
    return [] if finding is None else [finding]


def crashes(machine: Machine) -> bool:
    """Whether applying the definitions would crash KubeVirt's own code."""
    preference = machine.preference
    if preference is None:
        return False
    if machine.instancetype is None:
        features = tree.get(preference.spec, "cpu", "preferredCPUFeatures")
        return (
            bool(features)
            and tree.get(machine.spec, *TEMPLATE[1:], "spec", "domain", "cpu") is None
        )
    if machine.context.settings.emit == "expand" and vcpus_of(machine.instancetype) == 1:
        # One vCPU is laid out before anything is divided; only the webhook divides first.
        return False
    return requirements.ratio_is_zero(preference.spec)


def vcpus_of(instancetype: Definition) -> int:
    """The vCPUs of an instancetype."""
    return tree.get(instancetype.spec, "cpu", "guest") or 0


def check_crashes(machine: Machine) -> None:
    """Refuse with a clear error what makes KubeVirt's own code crash."""
    preference = machine.preference
    if preference is None or not crashes(machine):
        return
    if machine.instancetype is None:
        machine.report(
            NO_CPU_FOR_FEATURES,
            ("spec", "preference"),
            f"{ref_of(preference)} prefers CPU features, but the VM has neither an instancetype nor "
            "spec.template.spec.domain.cpu: KubeVirt crashes on this combination",
            setting(preference, ("cpu", "preferredCPUFeatures")),
            help="add spec.template.spec.domain.cpu (an empty `cpu: {}` is enough), or an instancetype",
        )
    else:
        machine.report(
            SPREAD_RATIO_ZERO,
            ("spec", "preference"),
            f"{ref_of(preference)} spreads vCPUs with a ratio of 0: KubeVirt divides by zero",
            setting(preference, ("cpu", "spreadOptions", "ratio")),
            help="set a ratio of at least 1",
        )


def check_conflicts(machine: Machine) -> None:
    """Report the conflicts of a VM whose rendering ends before the instancetype is applied."""
    if machine.instancetype is not None:
        template = Draft(machine.spec.get("template") or {})
        rules = application.rules_for(machine.instancetype.kind)
        applied = application.apply(
            template, machine.instancetype.spec, None, machine.context.release, rules
        )
        report_conflicts(machine, applied.conflicts)


def report_conflicts(machine: Machine, conflicts: tuple[Conflict, ...]) -> None:
    """One error a conflict, with KubeVirt's text and the instancetype's line."""
    definition = machine.instancetype
    if definition is None:
        return
    for conflict in conflicts:
        shown = ".".join(map(str, conflict.shown))
        if conflict.shown[0] == "spec":
            shown = f"spec.template.{shown}"
        machine.report(
            INSTANCETYPE_CONFLICT,
            (*TEMPLATE, *conflict.path),
            f"VM field(s) {shown} conflicts with selected instance type {definition.name}",
            setting(definition, conflict.source),
            help=f"remove {shown} from the VM, or choose an instance type that leaves it open",
        )
