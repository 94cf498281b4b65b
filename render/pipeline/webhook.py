"""Stages of the VM mutating webhook: run strategy, matchers, inference, defaults on creation.

Upstream: pkg/virt-api/webhooks/mutating-webhook/mutators/vm-mutator.go, pkg/instancetype/webhooks/vm.
"""

from typing import TYPE_CHECKING

from render.defaults import vm as vm_defaults
from render.diagnostics.codes import (
    DEPRECATED_FIELD,
    INFERENCE_FAILED,
    INFERENCE_IGNORED,
    INVALID_MATCHER,
    NO_STABLE_IDENTITY,
    RUN_STRATEGY,
)
from render.diagnostics.diagnostic import Related, at
from render.model.catalogue import Definition
from render.model.draft import Draft
from render.model.nearest import nearest
from render.model.resource import CDI
from render.model.tree import Tree
from render.pipeline.admission import definition_of
from render.pipeline.machine import TEMPLATE, Machine
from render.resolve import matcher
from render.resolve.kinds import INSTANCETYPE, KIND_CLASSES, PREFERENCE, KindClass

if TYPE_CHECKING:
    from render.resolve.infer import Failed

_RUN_STRATEGIES = ("Halted", "Manual", "Always", "RerunOnFailure", "Once")


def check_run_strategy(machine: Machine) -> None:
    """Exactly one of ``running`` and ``runStrategy``, with a known value."""
    strategy, running = machine.spec.get("runStrategy"), machine.spec.get("running")
    if running is not None:
        machine.report(
            DEPRECATED_FIELD,
            ("spec", "running"),
            "spec.running is deprecated, please use spec.runStrategy instead.",
            help=f"write runStrategy: {'Always' if running else 'Halted'}",
        )
    if strategy is not None and running is not None:
        machine.report(
            RUN_STRATEGY,
            ("spec", "running"),
            "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, "
            "please use RunStrategy instead",
            help="drop spec.running",
        )
    elif strategy is None and running is None:
        machine.report(
            RUN_STRATEGY,
            ("spec",),
            "RunStrategy must be specified",
            help=f"set spec.runStrategy to one of {', '.join(_RUN_STRATEGIES)}",
        )
    elif strategy == "WaitAsReceiver":
        if "DecentralizedLiveMigration" not in machine.context.config.feature_gates:
            machine.report(
                RUN_STRATEGY,
                ("spec", "runStrategy"),
                "Invalid RunStrategy (WaitAsReceiver), DecentralizedLiveMigration feature gate is "
                "not enabled in kubevirt resource",
            )
    elif strategy is not None and strategy not in _RUN_STRATEGIES:
        near = nearest(strategy, _RUN_STRATEGIES)
        machine.report(
            RUN_STRATEGY,
            ("spec", "runStrategy"),
            f"Invalid RunStrategy ({strategy})",
            help=f"did you mean {near}?" if near else f"use one of {', '.join(_RUN_STRATEGIES)}",
        )


def check_matchers(machine: Machine) -> None:
    """Refuse malformed matchers; the webhook answers with all flaws in one text."""
    flaws = matcher.validate(machine.spec)
    if flaws:
        machine.report(
            INVALID_MATCHER,
            flaws[0].path,
            ", ".join(flaw.message for flaw in flaws),
            *(Related(flaw.message, at(machine.resource, flaw.path)) for flaw in flaws[1:]),
            help="a matcher has a name (and perhaps a kind), or inferFromVolume alone",
        )


def infer_matchers(machine: Machine) -> None:
    """Replace ``inferFromVolume`` by what the labels of the volume's source name."""
    for kind_class in KIND_CLASSES:
        given = machine.spec.get(kind_class.word)
        if given and given.get("inferFromVolume") and not machine.failed:
            _infer(machine, kind_class, given)


def _infer(machine: Machine, kind_class: KindClass, given: Tree) -> None:
    volume = given["inferFromVolume"]
    path = ("spec", kind_class.word, "inferFromVolume")
    from render.resolve import infer

    result = infer.infer(
        kind_class, volume, machine.spec, machine.namespace, machine.context.catalogue
    )
    draft = Draft(machine.vm)
    ignore = given.get("inferFromVolumeFailurePolicy") == "Ignore"
    if isinstance(result, infer.Inferred):
        if ignore and kind_class is INSTANCETYPE:
            # The whole block goes, hugepages included.
            draft.remove((*TEMPLATE, "spec", "domain", "memory"))
        found = {"name": result.name, "kind": result.kind}
        draft.put(("spec", kind_class.word), {key: text for key, text in found.items() if text})
    elif result.ignorable and ignore:
        draft.remove(("spec", kind_class.word))
        machine.report(
            INFERENCE_IGNORED,
            path,
            f"{result.message}; the failure policy is Ignore, so the VM has no {kind_class.word}",
        )
    else:
        machine.report(INFERENCE_FAILED, path, result.message, help=_inference_help(result))
    machine.vm = draft.tree


def _inference_help(failed: "Failed") -> str:
    if failed.missing is None:
        return "name the object instead, or label the volume's source"
    _, kind, namespace, name = failed.missing
    where = f"{namespace}/{name}" if namespace else name
    return (
        f"add the {kind} {where} to the input (its labels are enough), or name the object instead "
        "of inferFromVolume"
    )


def set_defaults(machine: Machine) -> None:
    """What the mutating webhook writes into a new VM; a preference that is not found counts as none."""
    preference = definition_of(machine, PREFERENCE)
    wanted = preference.spec if isinstance(preference, Definition) else None
    draft = Draft(machine.vm)
    templates = machine.spec.get("dataVolumeTemplates")
    catalogue = machine.context.catalogue

    def data_source(namespace: str, name: str) -> Tree | None:
        found = catalogue.find(CDI, "DataSource", namespace, name)
        return found.body if found else None

    architecture = ""
    if templates:
        filled = vm_defaults.fill_storage_class(templates, wanted)
        if filled is not templates:
            draft.put(("spec", "dataVolumeTemplates"), filled)
        architecture = vm_defaults.architecture_of_sources(
            templates, machine.namespace, data_source
        )
    template = Draft(machine.spec.get("template") or {})
    if machine.context.settings.firmware_uuid == "stable":
        _identify(machine, template)
    vm_defaults.fill_template(template, wanted, machine.context.config, architecture)
    draft.put(TEMPLATE, template.tree)
    machine.vm = draft.tree


def _identify(machine: Machine, template: Draft) -> None:
    if machine.resource.name:
        vm_defaults.stable_identity(template, machine.namespace, machine.resource.name)
        return
    machine.report(
        NO_STABLE_IDENTITY,
        ("metadata", "generateName"),
        "the cluster makes up the name, so no firmware uuid and serial follow from it",
        help="name the VM, or leave out --firmware-uuid stable",
    )
