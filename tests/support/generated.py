"""VMs, instancetypes and preferences made up by hypothesis from the type table: any field, with a value of its type."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from render.model import types

Json = dict[str, Any]
NAMES = ("a", "b", "root")
SPECS = {
    "VirtualMachineInstancetype": "instancetype.VirtualMachineInstancetypeSpec",
    "VirtualMachinePreference": "instancetype.VirtualMachinePreferenceSpec",
}
#: What an instancetype claims; a VM with any of it is in conflict nine times out of ten.
CLAIMED = ("cpu", "memory", "resources", "ioThreadsPolicy", "ioThreads", "launchSecurity")
_QUANTITIES = st.sampled_from(["1Gi", "512Mi", "2", "1500m", "1.5Gi", "4096Ki", "1e3", 2, 0])
_TEXTS = st.sampled_from(["", "a", "b", "virtio", "q35", "10.0.0.1", "yes", "true", "0x1F", "é: #"])
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "any": st.just({}),
    "bool": st.booleans(),
    "cidr": st.sampled_from(["10.0.2.0/24", "fd10::/120"]),
    "duration": st.just("30s"),
    "float32": st.sampled_from([0.5, 1, 2.5]),
    "intstr": st.sampled_from([80, "http"]),
    "ip": st.sampled_from(["10.0.0.1", "fd10::1"]),
    "quantity": _QUANTITIES,
    "time": st.just("2024-01-01T00:00:00Z"),
}
_DEPTH = 4


@cache
def of_type(go_type: str, depth: int = 0) -> st.SearchStrategy[Any]:
    """Values of a Go type: all required fields of a struct, and a few of the others."""
    go_type = go_type.removeprefix("*")
    if go_type.startswith("[]"):
        return st.lists(of_type(go_type[2:], depth + 1), max_size=2)
    if go_type.startswith("map["):
        values = of_type(go_type.partition("]")[2], depth + 1)
        return st.dictionaries(st.sampled_from(["a", "b.c/d"]), values, max_size=2)
    if go_type.startswith("enum:"):
        return st.sampled_from(types.enum(go_type.removeprefix("enum:")))
    if types.is_struct(go_type):
        return _struct(go_type, depth)
    if go_type in _SCALARS:
        return _SCALARS[go_type]
    return st.integers(0, 4) if "int" in go_type else _TEXTS


@st.composite
def _struct(draw: st.DrawFn, go_type: str, depth: int) -> Json:
    fields = types.fields(go_type)
    names = [name for name, field in fields.items() if field.required]
    others = [name for name, field in fields.items() if not field.required]
    if others and depth < _DEPTH:
        names += draw(st.lists(st.sampled_from(others), max_size=3, unique=True))
    return {name: draw(of_type(fields[name].type, depth + 1)) for name in names}


@st.composite
def definitions(draw: st.DrawFn, kind: str) -> Json:
    """An instancetype or a preference, in the namespace ``prod``."""
    spec = draw(of_type(SPECS[kind]))
    if kind == "VirtualMachineInstancetype":
        spec |= {"cpu": {**spec["cpu"], "guest": draw(st.integers(1, 8))}}
        spec |= {"memory": {**spec["memory"], "guest": draw(st.sampled_from(["1Gi", "2048Mi"]))}}
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": kind,
        "metadata": {"name": draw(st.sampled_from(NAMES)), "namespace": "prod"},
        "spec": spec,
    }


@st.composite
def machines(draw: st.DrawFn, name: str, instancetype: Json, preference: Json) -> Json:
    """A VM that uses *instancetype* and *preference*."""
    spec = draw(of_type("kubevirt.VirtualMachineInstanceSpec"))
    domain = {key: value for key, value in spec["domain"].items() if key not in CLAIMED}
    used = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
    domain["devices"] = {
        **domain["devices"],
        "disks": [{**draw(of_type("kubevirt.Disk")), "name": one} for one in used],
    }
    volumes = [{"name": one, "containerDisk": {"image": "registry/disk:1"}} for one in used]
    metadata = {"labels": draw(st.dictionaries(st.sampled_from(NAMES), _TEXTS, max_size=2))}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {
                "kind": instancetype["kind"],
                "name": instancetype["metadata"]["name"],
            },
            "preference": {"kind": preference["kind"], "name": preference["metadata"]["name"]},
            "template": {
                "metadata": metadata,
                "spec": {**spec, "domain": domain, "volumes": volumes},
            },
        },
    }


@st.composite
def repositories(draw: st.DrawFn) -> list[Json]:
    """Two VMs with what they use, and an object that is not ours."""
    instancetype = draw(definitions("VirtualMachineInstancetype"))
    preference = draw(definitions("VirtualMachinePreference"))
    vms = [draw(machines(name, instancetype, preference)) for name in ("one", "two")]
    other = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"y": "yes"},
    }
    return [*vms, instancetype, other, preference]
