"""Stages of resolution and admission: definitions in force, requirements, spread, conflicts.

Upstream: pkg/virt-api/webhooks/validating-webhook/admitters/vms-admitter.go,
pkg/instancetype/webhooks/vm/admitter.go, pkg/instancetype/controller/vm/controller.go.
"""

from render.admission import requirements
from render.apply import application
from render.defaults import devices, network
from render.diagnostics.cause import Cause
from render.diagnostics.codes import (
    BUNDLED_USED,
    DEFINED_ELSEWHERE,
    INSTANCETYPE_CONFLICT,
    NO_CPU_FOR_FEATURES,
    RENAMED_AWAY,
    REQUIREMENT_UNMET,
    SPREAD_INDIVISIBLE,
    SPREAD_RATIO_ZERO,
)
from render.diagnostics.diagnostic import Related, at
from render.diagnostics.fix import choice, set_to
from render.machine import Checked, Machine, place_in, ref_of, setting
from render.model import tree, types
from render.model.catalogue import Definition, Key
from render.model.draft import Draft
from render.model.fieldpath import FieldPath
from render.model.kinds import INSTANCETYPE, KIND_CLASSES, PREFERENCE, KindClass
from render.model.release import Version, holds, newest_patch, tag, until, variant
from render.model.resource import LOCK_KIND, TEMPLATE
from render.model.types import VM_TYPE, VMI_TYPE
from render.resolve import renames
from render.resolve.find import Missing, find
from render.rules import Conflict


def definition_of(machine: Machine, kind_class: KindClass) -> Definition | Missing | None:
    """What a matcher of the VM means; None where it has none."""
    matcher = machine.spec.get(kind_class.word)
    if matcher is None:
        return None
    if kind_class.word in machine.pinned:
        return machine.pinned[kind_class.word]
    status = machine.raw.get("status")
    return find(
        kind_class,
        matcher,
        status if isinstance(status, dict) else {},
        machine.namespace,
        machine.context.catalogue,
        machine.context.release,
    )


def named_definitions(machine: Machine) -> list[Definition]:
    """The definitions that matchers with a ``revisionName`` name beside that, where there are any."""
    context = machine.context
    matchers = (
        (kind_class, machine.spec.get(kind_class.word) or {}) for kind_class in KIND_CLASSES
    )
    found = (
        find(
            kind_class,
            {key: matcher[key] for key in ("name", "kind") if key in matcher},
            {},
            machine.namespace,
            context.catalogue,
            context.release,
        )
        for kind_class, matcher in matchers
        if matcher.get("revisionName")
    )
    return [definition for definition in found if isinstance(definition, Definition)]


def resolve(machine: Machine) -> None:
    """Find the definitions in force. KubeVirt >= 1.6 admits a VM without them and fails later: we fail."""
    by_word = {kind_class.word: definition_of(machine, kind_class) for kind_class in KIND_CLASSES}
    definitions = {
        word: definition
        for word, definition in by_word.items()
        if isinstance(definition, Definition)
    }
    machine.instancetype = definitions.get(INSTANCETYPE.word)
    machine.preference = definitions.get(PREFERENCE.word)
    for kind_class in KIND_CLASSES:
        definition = by_word[kind_class.word]
        if isinstance(definition, Missing):
            _report_missing(machine, kind_class, definition)
        elif (
            definition is not None
            and definition.resource is None
            and kind_class.word not in machine.pinned
        ):
            _report_outside(machine, definition, ("spec", kind_class.word, "name"))


def _report_missing(machine: Machine, kind_class: KindClass, missing: Missing) -> None:
    """Say what of *kind_class* was not found."""
    path: FieldPath = ("spec", kind_class.word)
    lead = _lead(machine, kind_class)
    if not lead and machine.spec[kind_class.word].get(missing.key) is not None:
        path = (*path, missing.key)
    machine.report(
        missing.code,
        path,
        lead + missing.message,
        *(
            Related(f"{ref_of(known)} stands here", at(known.resource, ("metadata", "name")))
            for known in missing.namesakes()
            if known.resource is not None
        ),
        help=missing.suggest(),
        fixes=() if machine.resource.older else missing.fixes(path[:2]),
    )
    if not lead:
        check_conflicts(machine)


def _report_outside(machine: Machine, definition: Definition, path: FieldPath) -> None:
    """Say that *definition*, which *path* names, does not stand in the input."""
    if definition.elsewhere is not None:
        machine.report(
            DEFINED_ELSEWHERE,
            path,
            f"{ref_of(definition)} is not in the input, and taken from elsewhere",
            Related("it stands here", place_in(definition, ())),
        )
        _say_renamed(machine, definition, path)
        return
    release = tag(newest_patch(machine.context.release))
    machine.report(
        BUNDLED_USED,
        path,
        f"{definition.kind} {definition.name} is taken from the bundled catalogue of KubeVirt {release}",
    )
    _say_renamed(machine, definition, path)


def _say_renamed(machine: Machine, definition: Definition, path: FieldPath) -> None:
    """That kustomize renamed an object of the input of the name by which another *definition* is meant now."""
    ref = ref_of(definition)
    scope = "" if "Cluster" in definition.kind else machine.namespace
    own = machine.context.catalogue.renamed(Key(definition.kind, scope, definition.name))
    if own is None:
        return
    beside = definition.elsewhere is not None
    whose = (
        f"the {ref} that stands elsewhere" if beside else f"the {ref.kind} that KubeVirt deploys"
    )
    machine.report(
        RENAMED_AWAY,
        path,
        f"{definition.name} means {whose}, since kustomize renamed the one of the input to {own.name}",
        Related("the renamed one", at(own, ("metadata", "name"))),
        *(
            [Related("the one that is meant stands here", place_in(definition, ()))]
            if beside
            else []
        ),
        help=f"name {own.name}, or {renames.cure(own.kind, str(path[-2]))}",
    )


def _lead(machine: Machine, kind_class: KindClass) -> str:
    """How the refusal of a VM begins whose definition is missing; since 1.6 only the controller fails, later."""
    if not refuses_missing(machine.context.release) or machine.context.settings.emit == "expand":
        return ""
    return missing(kind_class)


def missing(kind_class: KindClass) -> str:
    """What the webhook says before the controller's own words."""
    return f"Failure to find {kind_class.word}: "


_REFUSES_MISSING = until("1.6", "the webhook refuses a VM whose definition is missing")


def refuses_missing(release: Version) -> bool:
    """Whether the webhook of *release* refuses a VM whose definition is missing."""
    return holds(_REFUSES_MISSING, release)


def _lacks_instancetype(machine: Machine) -> bool:
    """Whether the VM names an instancetype that nobody found."""
    return machine.instancetype is None and machine.spec.get(INSTANCETYPE.word) is not None


def check_requirements(machine: Machine) -> None:
    """What the preference requires of the VM, as the validating webhook checks it."""
    preference = machine.preference
    if preference is None or not preference.spec.get("requirements"):
        return
    if _lacks_instancetype(machine) and refuses_missing(machine.context.release):
        return
    checked = applied_template(machine)
    if checked is None:
        return
    instancetype = machine.instancetype.spec if machine.instancetype else None
    cause = requirements.check(checked.vmi, instancetype, preference.spec)
    if cause is not None:
        place = at(machine.resource, cause.place) if cause.place else None
        from render.kubevirt import instancetype_fixes

        fixes = instancetype_fixes.sufficient(machine, preference, cause)
        cure = instancetype_fixes.cure(cause, preference, fixes)
        if _lacks_instancetype(machine):  # which may well have it
            fixes, cure = (), "name an instancetype that is there first"
        if unstated := instancetype_fixes.unstated(machine.instancetype, cause):
            fixes, cure = (), unstated
        diagnostic = REQUIREMENT_UNMET.at(
            at(machine.resource, cause.path),
            cause.message,
            setting(preference, cause.source),
            help=cure,
            fixes=fixes,
        )
        machine.diagnostics.append(diagnostic._replace(position=place))


def _spread(machine: Machine) -> Cause | None:
    """Why the vCPUs of the instancetype cannot be spread as the preference wants it."""
    if machine.instancetype is None or machine.preference is None:
        return None
    if requirements.ratio_is_zero(machine.preference.spec):
        return None
    return requirements.check_spread(machine.instancetype.spec, machine.preference.spec)


def check_spread(machine: Machine) -> None:
    """Report vCPUs that cannot be spread: the webhook looks at that before it applies anything."""
    cause = _spread(machine)
    if cause is None or machine.instancetype is None or machine.preference is None:
        return
    vcpus = setting(machine.instancetype, ("cpu", "guest"))
    diagnostic = SPREAD_INDIVISIBLE.at(
        at(machine.resource, cause.path),
        cause.message,
        vcpus,
        setting(machine.preference, cause.source),
    )
    machine.diagnostics.append(diagnostic._replace(position=vcpus.location))


def applied_template(machine: Machine) -> Checked | None:
    """The template of a VM as its validating webhook checks it: with its definitions and defaults.

    None where it gets no further than these.
    """
    if machine.checked is None:
        machine.checked = _applied_template(machine)
    return machine.checked or None


def _applied_template(machine: Machine) -> Checked | tuple[()]:
    if crashes(machine) or _spread(machine) is not None:
        return ()
    from render.defaults.spec import fill_spec

    draft = _as_applied(machine) if machine.vmi else with_definitions(machine)
    if draft is None or not fill_zeros(machine, draft, len(TEMPLATE)):
        return ()
    if fill_spec(draft, machine.context.config, machine.context.release):
        return ()
    return Checked(draft.tree, machine.decided)


def with_definitions(machine: Machine) -> Draft | None:
    """The template with what definitions there are, None where they conflict with it."""
    draft = Draft(machine.spec.get("template") or {})
    return None if applied_to(machine, draft).conflicts else draft


def applied_to(machine: Machine, template: Draft) -> application.Applied:
    """What the instancetype and the preference of *machine* made of the draft of a *template*."""
    instancetype, preference = machine.instancetype, machine.preference
    return application.apply(
        template,
        instancetype.spec if instancetype else None,
        preference.spec if preference else None,
        machine.context.release,
        application.rules_for(instancetype.kind if instancetype else ""),
    )


def _as_applied(machine: Machine) -> Draft:
    """The template of the VMI that the controller creates, without what is only added there.

    To a VM the webhook applies its definitions first: they say nothing of devices that are added afterwards.
    """
    draft = Draft(machine.vmi)
    added = machine.additions
    if added.disks:
        disks = draft.get(*devices.DISKS)
        draft.put(devices.DISKS, [*disks[: len(disks) - len(added.disks)], *added.disks])
    if added.inputs:
        draft.remove(devices.INPUTS)
    if added.interfaces:
        draft.put(network.INTERFACES, list(added.interfaces))
    return draft


def fill_zeros(machine: Machine, template: Draft, depth: int) -> bool:
    """Give required fields that are missing what Go has there; False where the webhook's schema asks for one too.

    It asks for whatever is no text, number or boolean. *depth*: where *template* begins in the object.
    """
    kind = VM_TYPE if machine.template else VMI_TYPE
    for path in machine.missing:
        zero = types.zero_at(kind, path, machine.context.release)
        if zero is None:
            return False
        if template.get(*path[depth:-1]) is not None:
            template.put(path[depth:], zero)
    return True


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
    if _lacks_instancetype(machine):
        return  # it may bring the CPUs
    if machine.instancetype is None:
        machine.report(
            NO_CPU_FOR_FEATURES,
            ("spec", "preference"),
            f"{ref_of(preference)} prefers CPU features, but the VM has neither an instancetype nor "
            "spec.template.spec.domain.cpu: KubeVirt crashes on this combination",
            setting(preference, ("cpu", "preferredCPUFeatures")),
            help="add spec.template.spec.domain.cpu (an empty `cpu: {}` is enough), or an instancetype",
            fixes=choice(("add `cpu: {}`", set_to((*TEMPLATE, "spec", "domain", "cpu"), {}))),
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


_FIELD = (until("1.5", "field"), "field(s)")


def _in_force(machine: Machine, definition: Definition, source: FieldPath) -> Related:
    """What *definition* sets at *source*, with its place in the lock where no object holds that content."""
    related = setting(definition, source)
    if definition.resource or definition.elsewhere:
        return related
    contents = machine.context.contents.items()
    hash_ = next((known for known, spec in contents if spec is definition.spec), "")
    lock = machine.context.references.holding(LOCK_KIND, "revisions", hash_) if hash_ else None
    if lock is None:
        return related
    place = at(lock, ("revisions", hash_, INSTANCETYPE.word, *source))
    return Related(f"{related.message}, as the lock has it", place)


def report_conflicts(machine: Machine, conflicts: tuple[Conflict, ...]) -> None:
    """One error a conflict, with KubeVirt's text and the instancetype's line."""
    definition = machine.instancetype
    if definition is None:
        return
    for conflict in conflicts:
        from render.kubevirt import instancetype_fixes

        field = ".".join(map(str, conflict.spelling))
        if conflict.spelling[0] == "spec":
            field = f"spec.template.{field}"
        path = (*TEMPLATE, *conflict.path)
        # KubeVirt spells some fields in its own way.
        named = (
            (*TEMPLATE, *conflict.spelling) if conflict.spelling[0] == "spec" else conflict.spelling
        )
        diagnostic = INSTANCETYPE_CONFLICT.at(
            at(machine.resource, named),
            f"VM {variant(_FIELD, machine.context.release)} {field} conflicts with selected instance type",
            _in_force(machine, definition, conflict.source),
            help=f"remove {field} from the VM, or choose an instance type that leaves it open",
            fixes=instancetype_fixes.without(machine, definition, conflict),
        )
        position = None if named == path else at(machine.resource, path)
        machine.diagnostics.append(diagnostic._replace(position=position))
        machine.failed = True
