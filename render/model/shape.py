"""The shape of a VMI spec: what two machines of a fleet have alike, once what is a machine's own is left out.

Names of claims, addresses, identities and the texts of cloud-init differ from machine to machine, and next to nothing
else does. A value counts as a machine's own only where it is *plain*: one of those between which no check makes any
difference. So the shape still tells an empty name, a malformed address or a long text from a usual one, and how claims
are shared (two volumes with one claim have another shape than two with two).
"""

import marshal
from collections.abc import Callable, Hashable
from operator import is_

from render.model.hints import Any
from render.model.regex import pattern
from render.model.tree import Tree

#: In place of a plain value.
_OWN = "own"
_LONGEST_TEXT = 2048
_LONGEST_BASE64 = _LONGEST_TEXT // 3 * 4
_RESERVED_ADDRESS = "02:00:00:00:00:00"
_IS_LABEL = pattern(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
#: Of unicast: libvirt refuses the others.
_IS_ADDRESS = pattern(r"[0-9A-Fa-f][02468ACEace](?::[0-9A-Fa-f]{2}){5}")
_IS_UUID = pattern(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_IS_SERIAL = pattern(r"[A-Za-z0-9_.+-]{1,256}")
_IS_LABEL_VALUE = pattern(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_IS_NETWORK = pattern(r"(?:[a-z0-9][-a-z0-9]{0,61}/)?[a-z0-9][-a-z0-9]{0,61}")
_IS_BASE64 = pattern(
    r"(?:[A-Za-z0-9+/]{4})++(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+|"
    r"[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}="
)

#: Names so far, with what stands for them.
_Names = dict[str, str]
_Leaf = Callable[[Any, _Names], Any]


def _matching(is_plain: Any, *but: str) -> _Leaf:
    """The rule of texts that *is_plain* matches as a whole, *but* for some, and of what the cluster makes up.

    That is a text of a type of its own.
    """

    def leaf(value: Any, _names: _Names) -> Any:
        if isinstance(value, str) and value not in but:
            return _OWN if type(value) is not str or is_plain.fullmatch(value) else value
        return value

    return leaf


def _claim(value: Any, names: _Names) -> Any:
    """A name that stands in several places: each gets a stand-in of its own, in the order in which they are met."""
    if isinstance(value, str) and _IS_LABEL.fullmatch(value):
        return names.get(value) or names.setdefault(value, f"{_OWN}-{len(names)}")
    return value


def _text(value: Any, _names: _Names) -> Any:
    if isinstance(value, str) and 0 < len(value) <= _LONGEST_TEXT and value.isascii():
        return _OWN
    return value


def _base64(value: Any, _names: _Names) -> Any:
    if isinstance(value, str) and len(value) <= _LONGEST_BASE64 and _IS_BASE64.fullmatch(value):
        return _OWN
    return value


def _labels(value: Any, names: _Names) -> Any:
    if type(value) is not dict:
        return value
    return {label: _label(text, names) for label, text in value.items()}


_label = _matching(_IS_LABEL_VALUE)
_name = _matching(_IS_LABEL)
_serial = _matching(_IS_SERIAL)
_CLOUD_INIT = {
    "userData": _text,
    "networkData": _text,
    "userDataBase64": _base64,
    "networkDataBase64": _base64,
    "secretRef": {"name": _name},
    "networkDataSecretRef": {"name": _name},
}
#: What may be a machine's own, below a VMI spec; the rules of an object hold for each one of a list.
_SPEC: dict[str, Any] = {
    "hostname": _name,
    "domain": {
        "firmware": {"uuid": _matching(_IS_UUID), "serial": _serial},
        "devices": {
            "disks": {"serial": _serial},
            "interfaces": {"macAddress": _matching(_IS_ADDRESS, _RESERVED_ADDRESS)},
        },
    },
    "networks": {"multus": {"networkName": _matching(_IS_NETWORK)}},
    "volumes": {
        "dataVolume": {"name": _claim},
        "persistentVolumeClaim": {"claimName": _claim},
        "cloudInitNoCloud": _CLOUD_INIT,
        "cloudInitConfigDrive": _CLOUD_INIT,
    },
}


def _masked(value: Any, rules: dict[str, Any], names: _Names) -> Any:
    """*value* without what *rules* find; only what is on the way to it is copied."""
    if type(value) is list:
        return [
            item
            if type(item) is dict and rules.keys().isdisjoint(item)
            else _masked(item, rules, names)
            for item in value
        ]
    if type(value) is not dict:
        return value
    masked = value
    for key, item in value.items():
        rule = rules.get(key)
        if rule is not None:
            put = _masked(item, rule, names) if type(rule) is dict else rule(item, names)
            if put is not item:
                if masked is value:
                    masked = value.copy()
                masked[key] = put
    return masked


#: The same, below the spec of a VM.
_VM_SPEC: dict[str, Any] = {
    "dataVolumeTemplates": {"metadata": {"name": _claim}},
    "template": {"metadata": {"labels": _labels}, "spec": _SPEC},
}


def of_vm(name: str, namespace: str, spec: Tree, but: frozenset[str]) -> bytes | None:
    """The shape of the VM of a *name* in a *namespace* with this *spec*, *but* for some fields; None if it has none.

    Annotations count as they are.
    """
    names: _Names = {}
    kept = {field: value for field, value in spec.items() if field not in but}
    whole = _masked(kept, _VM_SPEC, names)
    return key([_name(name, names), _name(namespace, names), whole])


class Verdicts:
    """What was found to be without fault, each by all that this hangs on, as far as it is not the same in a whole run.

    *basis*: what is.
    """

    __slots__ = ("_basis", "_passed")
    _ROOM = 4096
    _LONGEST = 16_384
    """Bytes of a shape that is remembered."""

    def __init__(self, *basis: object) -> None:
        self._basis = basis
        self._passed: dict[Hashable, object] = {}

    def hold(self, *basis: object) -> bool:
        """Whether they are those of a run with this *basis*."""
        return all(map(is_, basis, self._basis))

    def __contains__(self, key: Hashable) -> bool:
        return key in self._passed

    def add(self, key: Hashable, shape: bytes, alive: object) -> None:
        """Remember that what hangs on *key*, which holds *shape*, is without fault.

        *alive*: the objects whose ids are in *key*, which are kept.
        """
        if len(shape) <= self._LONGEST:
            if len(self._passed) >= self._ROOM:
                self._passed.clear()
            self._passed[key] = alive


def masked(spec: Tree) -> Tree:
    """The VMI *spec* with stand-ins for what is plain and a machine's own; nothing of *spec* is changed."""
    shape: Tree = _masked(spec, _SPEC, {})
    return shape


def key(value: Any) -> bytes | None:
    """Bytes that two trees of plain JSON have in common where they are the same, keys in the same order.

    None where *value* has something else in it.
    """
    try:
        return marshal.dumps(value, 0)  # later versions tell objects apart that are equal
    except ValueError:
        return None
