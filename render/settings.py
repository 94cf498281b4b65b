"""What was asked: one value, and the one table from which every front end takes names, defaults and help.

A row of `OPTIONS` gives the flag (``--preset-conflicts``), the Argo CD parameter (``preset-conflicts``), the
environment variable (``VIRT_RENDER_PRESET_CONFLICTS``), the key of RenderConfig and of a function config
(``presetConflicts``), the field of `Settings` and the line in the documentation.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

from render.diagnostics.codes import INVALID_SETTING
from render.diagnostics.diagnostic import Diagnostic, Location

Emit = Literal["vm", "vmi", "expand", "hashed", "revisions", "source"]


class Settings(NamedTuple):
    """The options of a rendering; the defaults are those of the command line.

    emit: what a VirtualMachine becomes (see docs/emit.md).
    stored: with emit=expand, answer as expand-spec does for the VM once stored.
    defaults: with emit=vm, ``cluster`` also writes the defaults that KubeVirt's expand writes.
    catalog: ``bundled``, ``none``, or the path of a directory or file with cluster instancetypes and preferences.
    pins: how the revision lock is used.
    preset_conflicts: ``fail``, or ``override`` to follow KubeVirt (the VM wins).
    firmware_uuid: ``stable`` derives uuid and serial for VMs that have none.
    namespace: where a VM without a namespace looks up namespaced objects.
    annotations: whether rendered VMs carry the ``virt-render.dev/`` stamps.
    kubevirt: the KubeVirt release whose behaviour is rendered.
    cluster_config: a KubeVirt custom resource, used where the input has none.
    lock: the parsed revision lock, or None.
    allow_empty: whether an input without objects is fine.
    """

    emit: Emit = "vm"
    stored: bool = False
    defaults: Literal["manifest", "cluster"] = "manifest"
    catalog: str = "bundled"
    pins: Literal["auto", "require", "ignore"] = "auto"
    preset_conflicts: Literal["fail", "override"] = "fail"
    firmware_uuid: Literal["none", "stable"] = "none"
    namespace: str = "default"
    annotations: bool = True
    kubevirt: str = "v1.9.0"
    cluster_config: dict[str, Any] | None = None
    lock: dict[str, Any] | None = None
    allow_empty: bool = False


class Source(Enum):
    """Who may ask, strongest first."""

    FLAG = "flag"
    PARAMETER = "parameter"
    ENVIRONMENT = "environment variable"
    FUNCTION_CONFIG = "function config key"
    FILE = "configuration key"


Kind = Literal["choice", "text", "flag", "path", "number"]


class Option(NamedTuple):
    """A row of the table.

    *choices* are all values of a ``choice``; of a ``path`` they are the words that are not paths.
    *needs* names the option and value without which this one means nothing; *most* is the largest number, 0 for any.
    """

    name: str
    kind: Kind
    default: str | bool | int
    help: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    short: str = ""
    needs: tuple[str, str] | None = None
    most: int = 0

    @property
    def field(self) -> str:
        """The name in Python: ``preset_conflicts``."""
        return self.name.replace("-", "_")

    def spelled(self, source: Source) -> str:
        """The name by which *source* knows the option."""
        if source is Source.FLAG:
            return f"--{self.name}"
        if source is Source.PARAMETER:
            return self.name
        if source is Source.ENVIRONMENT:
            return f"{ENVIRONMENT_PREFIX}{self.field.upper()}"
        first, *rest = self.name.split("-")
        return first + "".join(word.title() for word in rest)


ENVIRONMENT_PREFIX = "VIRT_RENDER_"
_DIGITS = 15
"""Of the longest number: more than any here can mean."""
_QUOTED = 100

OPTIONS: tuple[Option, ...] = (
    Option(
        "emit", "choice", "vm", "what a VirtualMachine becomes",
        choices=("vm", "vmi", "expand", "hashed", "revisions", "source"),
    ),
    Option(
        "stored", "flag", default=False, help="expand the VM as it is once stored, not as it is sent",
        needs=("emit", "expand"),
    ),
    Option(
        "defaults", "choice", "manifest",
        "write what the manifests decide, or also the defaults that KubeVirt's expand writes",
        choices=("manifest", "cluster"), needs=("emit", "vm"),
    ),
    Option(
        "catalog", "path", "bundled",
        "cluster instancetypes and preferences that are not in the input: those that KubeVirt deploys, none,"
        " or a file or folder",
        choices=("bundled", "none"), metavar="bundled|none|PATH",
    ),
    Option(
        "pins", "choice", "auto", "how the revision lock is used: where present, for every VM, not at all",
        choices=("auto", "require", "ignore"),
    ),
    Option(
        "preset-conflicts", "choice", "fail",
        "when a preset differs from the VM: fail, or let the VM win as KubeVirt does",
        choices=("fail", "override"),
    ),
    Option(
        "firmware-uuid", "choice", "none",
        "derive firmware uuid and serial from namespace and name where a VM has none (new fleets only)",
        choices=("none", "stable"),
    ),
    Option(
        "namespace", "text", "default", "where a VM without a namespace looks for namespaced objects",
        metavar="NAME",
    ),
    Option(
        "annotations", "flag", default=True, help="stamp rendered VMs with virt-render.dev/ annotations"
    ),
    Option(
        "kubevirt", "choice", "v1.9.0", "the KubeVirt release whose behaviour is rendered",
        choices=("v1.9.0",),
    ),
    Option(
        "cluster-config", "path", "", "a KubeVirt custom resource, used where the input has none",
        metavar="FILE",
    ),
    Option(
        "lock", "path", "", "the revision lock, instead of virt-render.lock.yaml in PATH",
        metavar="FILE",
    ),
    Option("allow-empty", "flag", default=False, help="accept an input without objects"),
)  # fmt: skip


class Layer(NamedTuple):
    """What one source asks for, under its own spelling; *location* is where it was written, if in a file.

    *others* are names that it may use too, and that are read elsewhere.
    """

    source: Source
    values: Mapping[str, Any]
    location: Location | None = None
    others: tuple[str, ...] = ()

    def at(self, key: str) -> Location:
        """Where *key* stands."""
        if self.location is None:
            return Location()
        place = self.location
        return Location(place.resource, (*place.path, key), place.index, place.file)


class Chosen(NamedTuple):
    """The value of each option by field name (its default where nobody asked), and what was wrong."""

    values: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]


def settle(layers: Iterable[Layer], options: Sequence[Option] = OPTIONS) -> Chosen:
    """Let the strongest of *layers* (strongest first) decide each of *options*.

    Unknown keys and unfit values are errors, also in a layer that another one overrules.
    """
    values: dict[str, Any] = {}
    asked: dict[str, tuple[int, Layer, str]] = {}
    diagnostics: list[Diagnostic] = []
    for rank, layer in enumerate(layers):
        known = {option.spelled(layer.source): option for option in options}
        for key, raw in layer.values.items():
            if key not in known:
                diagnostics.append(_unknown(layer, key, known))
                continue
            option = known[key]
            value, fault = _read(option, raw, layer.source)
            if fault:
                message = fault if layer.location else f"{key}: {fault}"
                diagnostics.append(INVALID_SETTING.at(layer.at(key), message))
            elif option.field not in values:
                values[option.field] = value
                asked[option.name] = rank, layer, key
    for option in options:
        values.setdefault(option.field, option.default)
    return Chosen(values, tuple(diagnostics or _pointless(values, asked, options)))


def _read(option: Option, raw: Any, source: Source) -> tuple[str | bool | int, str]:
    """The value that *raw* stands for, and what is wrong with it."""
    typed = source in (Source.FUNCTION_CONFIG, Source.FILE)
    if option.kind == "flag":
        if isinstance(raw, bool):
            return raw, ""
        if not typed and str(raw).lower() in ("true", "false"):
            return str(raw).lower() == "true", ""
        return "", f"{_shown(raw)} is neither true nor false"
    if option.kind == "number":
        number, fault = _number(raw, typed=typed)
        if option.most and number > option.most:
            return 0, f"{number} is more than {option.most}"
        return number, fault
    if not isinstance(raw, str) or not raw:
        return "", f"{_shown(raw)} is not a text"
    if option.kind == "choice" and raw not in option.choices:
        near = _hint(raw, option.choices)
        return "", f"{_shown(raw)} is not one of {', '.join(option.choices)}{near}"
    if option.kind == "path" and not is_name(raw):
        return "", f"{_shown(raw)} cannot be the name of a file"
    return raw, ""


def _number(raw: Any, *, typed: bool) -> tuple[int, str]:
    if isinstance(raw, int) and not isinstance(raw, bool) and raw > 0:
        return raw, ""
    if not typed and str(raw).isdecimal():
        digits = str(raw).lstrip("0")
        if len(digits) > _DIGITS:
            return 0, f"{_shown(raw)} is too large a number"
        if digits:
            return int(digits), ""
    return 0, f"{_shown(raw)} is not a positive whole number"


def is_name(raw: str) -> bool:
    """Whether a system can have a file *raw*: not with a NUL, or half of a surrogate pair (as JSON may write one)."""
    try:
        return b"\0" not in os.fsencode(raw)
    except UnicodeEncodeError:
        return False


def _shown(raw: Any) -> str:
    """*raw* as messages quote it; no more than the beginning of what is long."""
    if not isinstance(raw, str | int | float | bool):
        return type(raw).__name__
    if isinstance(raw, str) and len(raw) > _QUOTED:
        return repr(raw[:_QUOTED]) + "..."
    return repr(raw)


def _unknown(layer: Layer, key: str, known: Mapping[str, Option]) -> Diagnostic:
    names = (*known, *layer.others)
    shown = key if len(str(key)) <= _QUOTED else f"{key[:_QUOTED]}..."
    message = f"unknown {layer.source.value} {shown}{_hint(key, names)}"
    return INVALID_SETTING.at(layer.at(key), message, help=f"known: {', '.join(names)}")


def _hint(word: str, known: Iterable[str]) -> str:
    from render.model.nearest import nearest

    near = nearest(word, known)
    return f"; did you mean {near}?" if near else ""


def _pointless(
    values: dict[str, Any], asked: Mapping[str, tuple[int, Layer, str]], options: Sequence[Option]
) -> Iterable[Diagnostic]:
    """Options that were asked for without the one that gives them a meaning.

    Where a stronger source chose that other one (``--emit vmi`` over a file with ``defaults: cluster``), the
    option goes back to its default instead.
    """
    for option in options:
        if option.needs is None or values[option.field] == option.default:
            continue
        other, wanted = option.needs
        have = values[other.replace("-", "_")]
        if have == wanted:
            continue
        rank, layer, key = asked[option.name]
        if other in asked and asked[other][0] < rank:
            values[option.field] = option.default
            continue
        message = f"{key} only means something with {other} {wanted}, here {other} is {have}"
        yield INVALID_SETTING.at(layer.at(key), message)


#: Options that name files; `Settings` holds what is in them.
_PARSED = ("cluster-config", "lock")


def faults(settings: Settings) -> tuple[Diagnostic, ...]:
    """What the command line would refuse of *settings* that were made in Python."""
    found = []
    for option in OPTIONS:
        if option.name in _PARSED:
            continue
        value = getattr(settings, option.field)
        fault = _fault_of(option, value)
        if not fault and option.needs and value != option.default:
            name, needed = option.needs
            if getattr(settings, name) != needed:
                fault = f"{option.field} means something with {name}={needed} only"
        if fault:
            found.append(INVALID_SETTING.at(Location(), f"{option.field}: {fault}"))
    cluster: Any = settings.cluster_config
    if cluster is not None and not isinstance(cluster, dict):
        found.append(INVALID_SETTING.at(Location(), "cluster_config: not a KubeVirt resource"))
    lock: Any = settings.lock
    if lock is not None and not isinstance(lock, dict):
        found.append(INVALID_SETTING.at(Location(), "lock: not a RevisionLock"))
    return tuple(found)


def _fault_of(option: Option, value: Any) -> str:
    if option.kind == "flag":
        return "" if isinstance(value, bool) else f"{value!r} is neither True nor False"
    if option.kind == "choice" and value not in option.choices:
        return f"{value!r} is none of {', '.join(option.choices)}"
    return "" if isinstance(value, str) else f"{value!r} is not a text"
