"""Names in a machine that lead nowhere: what `render.resolve.references` finds, with what to do."""

from collections.abc import Iterator

from render.diagnostics.codes import REFERENCE
from render.diagnostics.diagnostic import Diagnostic, Related, Severity, at
from render.diagnostics.fix import Fix, choice, set_to
from render.machine import Machine
from render.model import tree
from render.model.catalogue import Catalogue
from render.model.fieldpath import FieldPath
from render.model.nearest import is_slip
from render.model.resource import CDI, Resource, text_at
from render.resolve.references import Dangling, is_impossible, misspelt_holder, named_in

_CRON = "DataImportCron"


def check_references(machine: Machine) -> None:
    """Report the names in the VMI spec of *machine* that only a slip explains."""
    spec = tree.get(machine.decoded, *machine.vmi_path)
    if not isinstance(spec, dict):
        return
    references, namespace = machine.context.references, machine.resource.namespace
    named = references.named(spec)
    machine.diagnostics += (
        _undecodable(secret, key) for secret, key in references.unreadable(named, namespace)
    )
    machine.diagnostics += (
        _finding(machine, missing, (*machine.vmi_path, *missing.path))
        for missing in references.dangling(named, namespace)
    )
    machine.diagnostics += _misspelt_sources(machine)


def check_names(machine: Machine) -> None:
    """Report the names in the VMI spec of *machine* that no object can have, but for those told as a slip already."""
    spec = tree.get(machine.decoded, *machine.vmi_path)
    if not isinstance(spec, dict):
        return
    told = {found.location.path for found in machine.diagnostics if found.code == REFERENCE.number}
    machine.diagnostics += [
        _impossible(machine, path, f"{field.target.word} {name}")
        for path, name, field in named_in(spec)
        if is_impossible(name, field) and (*machine.vmi_path, *path) not in told
    ]


def _misspelt_sources(machine: Machine) -> Iterator[Diagnostic]:
    """The DataSources that templates of *machine* name with a slip; those of the whole repository are known."""
    templates = machine.spec.get("dataVolumeTemplates")
    catalogue = machine.context.catalogue
    for index, template in enumerate(templates if isinstance(templates, list) else ()):
        reference = tree.get(template, "spec", "sourceRef")
        name = text_at(reference, "name")
        if not name or text_at(reference, "kind") != "DataSource":
            continue
        namespace = text_at(reference, "namespace") or machine.namespace
        known = [other for space, other in catalogue.names(CDI, "DataSource") if space == namespace]
        near = [] if name in known else [each for each in known if is_slip(name, each)]
        if not near or name in _made(catalogue):
            continue
        other = catalogue.find(CDI, "DataSource", namespace, near[0]) if len(near) == 1 else None
        if other is None or catalogue.find(CDI, "DataSource", namespace, name) is not None:
            continue
        path: FieldPath = ("spec", "dataVolumeTemplates", index, "spec", "sourceRef", "name")
        yield _finding(
            machine, Dangling("reference/slip", path, name, f"DataSource {name}", other), path
        )


def _made(catalogue: Catalogue) -> set[str]:
    """The names of the DataSources that objects of *catalogue* keep up to date."""
    crons = (catalogue.find(CDI, _CRON, space, name) for space, name in catalogue.names(CDI, _CRON))
    return {text_at(each.spec, "managedDataSource") for each in crons if each is not None}


def _undecodable(secret: Resource, key: str) -> Diagnostic:
    """That the API server refuses *secret*; of what stands at *key* nothing is told."""
    return REFERENCE.at(
        at(secret, ("data", key)),
        f"{secret.ref}: data.{key} is not base64: the API server refuses the Secret, and the VM has none",
        help="write it below stringData, or encode it with `base64`",
        severity=Severity.ERROR,
    )._replace(check="reference/base64")


def _impossible(machine: Machine, path: FieldPath, wanted: str) -> Diagnostic:
    return REFERENCE.at(
        at(machine.resource, (*machine.vmi_path, *path)),
        f"{wanted} cannot be there: Kubernetes has no object of such a name",
        help="a name has lower case letters, digits, '-' and '.', and begins and ends with a letter or a digit",
        severity=Severity.WARNING,
    )._replace(check="reference/name")


def _finding(machine: Machine, missing: Dangling, path: FieldPath) -> Diagnostic:
    other = missing.other
    fixes: tuple[Fix, ...] = ()
    match missing.check:
        case "reference/key":
            message = f"{missing.wanted} has no key {missing.keys[0]}, and KubeVirt reads no other"
            slip, meant = misspelt_holder(other)
            cure = f"write the text of the Secret below the key {missing.keys[0]}"
            cure = f"write {meant} for {slip}, which Kubernetes does not know" if slip else cure
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
