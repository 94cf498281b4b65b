"""``inferFromVolume``: from a volume to the labels that name an instancetype or preference.

Upstream: pkg/instancetype/infer/volume.go, handler.go, errors.go.
"""

from render.model import tree
from render.model.catalogue import Catalogue
from render.model.kinds import KindClass
from render.model.named_tuple import NamedTuple
from render.model.release import Version, in_force, since, until, variant
from render.model.resource import CDI, SNAPSHOT, Resource, text_at
from render.model.tree import Tree


class Inferred(NamedTuple):
    """What the labels say, and the object that carries them."""

    name: str
    kind: str
    source: Resource


class Failed(NamedTuple):
    """KubeVirt's text; *ignorable* failures are forgiven under the policy ``Ignore``.

    *missing*: (group, kind, namespace, name) of an object that the input lacks.
    """

    message: str
    ignorable: bool
    missing: tuple[str, str, str, str] | None = None


Result = Inferred | Failed
_PVC = ("", "PersistentVolumeClaim", "persistentvolumeclaims")
_SNAPSHOT = (SNAPSHOT, "VolumeSnapshot", f"volumesnapshots.{SNAPSHOT}")
#: What a volume may be made of, if its labels are to be asked.
_SOURCES = (("pvc", _PVC), since("1.9", ("snapshot", _SNAPSHOT)))
_NO_SOURCE = (
    until("1.9", "DataVolumeSourcePVC"),
    "DataVolumeSourcePVC or DataVolumeSourceSnapshot",
)
_DATA_SOURCE = (CDI, "DataSource", f"datasources.{CDI}")


class _Search(NamedTuple):
    """One inference: the kind class, the VM's spec and namespace, the input, and the release that infers."""

    kind_class: KindClass
    spec: Tree
    namespace: str
    catalogue: Catalogue
    release: Version

    def from_volumes(self, volume_name: str) -> Result:
        for volume in tree.get(self.spec, "template", "spec", "volumes") or ():
            if volume.get("name") != volume_name:
                continue
            claim, data_volume = volume.get("persistentVolumeClaim"), volume.get("dataVolume")
            if claim is not None:
                return self.from_object(_PVC, self.namespace, claim.get("claimName", ""))
            if data_volume is not None:
                return self.from_data_volume(data_volume.get("name", ""))
            return Failed(
                f"unable to infer defaults from volume {volume_name} as type is not supported",
                ignorable=True,
            )
        return Failed(f"unable to find volume {volume_name} to infer defaults", ignorable=False)

    def from_data_volume(self, name: str) -> Result:
        for template in self.spec.get("dataVolumeTemplates") or ():
            if tree.get(template, "metadata", "name") == name:
                # Labels of a template are not looked at.
                return self.from_data_volume_spec(template.get("spec") or {})
        data_volume = self.catalogue.find(CDI, "DataVolume", self.namespace, name)
        if data_volume is None:
            return self.from_object(_PVC, self.namespace, name)
        labelled = self.from_labels(data_volume)
        if isinstance(labelled, Inferred):
            return labelled
        return self.from_data_volume_spec(data_volume.spec)

    def from_data_volume_spec(self, spec: Tree) -> Result:
        result = self.from_source(spec.get("source"))
        if result is not None:
            return result
        reference = spec.get("sourceRef")
        if reference is None:
            return Failed(
                "unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported",
                ignorable=True,
            )
        kind = text_at(reference, "kind")
        if kind != "DataSource":
            return Failed(
                f"unable to infer defaults from DataVolumeSourceRef as Kind {kind} is not "
                "supported",
                ignorable=True,
            )
        namespace = tree.get(reference, "namespace")
        return self.from_data_source(
            self.namespace if namespace is None else text_at(reference, "namespace"),
            text_at(reference, "name"),
        )

    def from_data_source(self, namespace: str, name: str) -> Result:
        data_source = self.lookup(_DATA_SOURCE, namespace, name)
        if isinstance(data_source, Failed):
            return data_source
        labelled = self.from_labels(data_source)
        if isinstance(labelled, Inferred):
            return labelled
        return self.from_source(tree.get(data_source.body, "spec", "source")) or Failed(
            "unable to infer defaults from DataSource that doesn't provide "
            + variant(_NO_SOURCE, self.release),
            ignorable=True,
        )

    def from_source(self, source: Tree | None) -> Result | None:
        """A claim or snapshot, with its namespace as written; None where *source* has neither."""
        for key, target in in_force(_SOURCES, self.release):
            reference = tree.get(source, key)
            if isinstance(reference, dict):
                return self.from_object(
                    target, text_at(reference, "namespace"), text_at(reference, "name")
                )
        return None

    def from_object(self, target: tuple[str, str, str], namespace: str, name: str) -> Result:
        resource = self.lookup(target, namespace, name)
        return resource if isinstance(resource, Failed) else self.from_labels(resource)

    def lookup(self, target: tuple[str, str, str], namespace: str, name: str) -> Resource | Failed:
        group, kind, plural = target
        if not name:
            return Failed("resource name may not be empty", ignorable=False)
        resource = self.catalogue.find(group, kind, namespace, name)
        if resource is None:
            return Failed(
                f'{plural} "{name}" not found',
                ignorable=False,
                missing=(group, kind, namespace, name),
            )
        return resource

    def from_labels(self, resource: Resource) -> Result:
        labels = tree.get(resource.body, "metadata", "labels")
        labels = labels if isinstance(labels, dict) else {}
        label = self.kind_class.name_label
        # An empty label exists too: it yields a matcher without a name.
        if label not in labels:
            return Failed(
                f"unable to find required {label} label on the volume",
                ignorable=True,
            )
        return Inferred(str(labels[label]), str(labels.get(f"{label}-kind", "")), resource)


def infer(  # noqa: PLR0913, PLR0917 - the fields of a search
    kind_class: KindClass,
    volume_name: str,
    spec: Tree,
    namespace: str,
    catalogue: Catalogue,
    release: Version,
) -> Result:
    """Infer a matcher from the volume *volume_name* of the VM *spec* (decoded), as *release* does."""
    return _Search(kind_class, spec, namespace, catalogue, release).from_volumes(volume_name)
