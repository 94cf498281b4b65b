"""Names in a machine that lead nowhere: what `render.resolve.references` finds, with what to do."""

from render.diagnostics.codes import REFERENCE
from render.diagnostics.diagnostic import Diagnostic, Related, Severity, at
from render.diagnostics.fix import Fix, choice, set_to
from render.machine import Machine
from render.model import tree
from render.model.fieldpath import FieldPath
from render.resolve.references import Dangling, is_impossible, named_in


def check_references(machine: Machine) -> None:
    """Report the names in the VMI spec of *machine* that only a slip explains."""
    spec = tree.get(machine.decoded, *machine.vmi_path)
    if not isinstance(spec, dict):
        return
    found = [*machine.context.references.dangling(spec, machine.resource.namespace)]
    machine.diagnostics += (_finding(machine, missing) for missing in found)
    told = {missing.path for missing in found}
    machine.diagnostics += (
        _impossible(machine, path, f"{field.target.word} {name}")
        for path, name, field in named_in(spec)
        if path not in told and is_impossible(name, field)
    )


def _impossible(machine: Machine, path: FieldPath, wanted: str) -> Diagnostic:
    return REFERENCE.at(
        at(machine.resource, (*machine.vmi_path, *path)),
        f"{wanted} cannot be there: Kubernetes has no object of such a name",
        help="a name has lower case letters, digits, '-' and '.', and begins and ends with a letter or a digit",
        severity=Severity.WARNING,
    )._replace(check="reference/name")


def _finding(machine: Machine, missing: Dangling) -> Diagnostic:
    other = missing.other
    path = (*machine.vmi_path, *missing.path)
    fixes: tuple[Fix, ...] = ()
    match missing.check:
        case "reference/key":
            message = f"{missing.wanted} has no key {missing.keys[0]}, and KubeVirt reads no other"
            cure = f"write the text of the Secret below the key {missing.keys[0]}"
        case "reference/hash":
            message = f"{missing.wanted} is not in the input, but {other.name} is: kustomize put a hash behind its name"
            cure = (
                "let kustomize rename what VMs refer to ('virt-render kustomize init'), or set"
                " generatorOptions.disableNameSuffixHash: true"
            )
        case "reference/slip":
            message = f"{missing.wanted} is not in the input, but {other.name} is"
            cure = f"write {other.name}, if that is meant"
            space = missing.name.rpartition("/")[0]
            fixes = choice(
                (f"write {other.name}", set_to(path, "/".join(filter(None, (space, other.name)))))
            )
        case _:
            message = f"{missing.wanted} is in the input in namespace {other.namespace} only"
            cure = "a VM sees the objects of its own namespace: move one of the two, or add the object there"
    severity = Severity.INFO if missing.check == "reference/namespace" else Severity.WARNING
    return REFERENCE.at(
        at(machine.resource, path),
        message,
        Related(f"{other.ref} is here", at(other)),
        help=cure,
        severity=severity,
        fixes=() if machine.resource.older else fixes,
    )._replace(check=missing.check)
