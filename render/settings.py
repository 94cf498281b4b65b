"""What was asked: one value, and the one table from which every front end takes names, defaults and help.

A row of `OPTIONS` gives the flag (``--preset-conflicts``), the Argo CD parameter (``preset-conflicts``), the
environment variable (``VIRT_RENDER_PRESET_CONFLICTS``), the key of RenderConfig and of a function config
(``presetConflicts``) and the line in the documentation; and the field of `Settings`, but for what fills in a chart.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from render.diagnostics.codes import INVALID_SETTING
from render.diagnostics.diagnostic import Diagnostic, Location
from render.model.hints import Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.nearest import did_you_mean
from render.model.release import MAIN, NEWEST, VERSIONS, minor, release_named
from render.system.files import is_file_name

#: Kinds of options that name files.
_OF_FILES = frozenset({"path", "assignment"})
Emit = Literal["vm", "vmi", "pod", "expand", "hashed", "revisions", "source"]


class Settings(NamedTuple):
    """The options of a rendering; the defaults are those of the rows, of which some commands have others.

    emit: what a VirtualMachine becomes (see docs/emit.md).
    stored: with emit=expand, answer as expand-spec does for the VM once stored.
    defaults: with emit=vm, ``cluster`` also writes the defaults that KubeVirt's expand writes.
    catalog: what the cluster has beside the input: ``bundled`` (what KubeVirt deploys), ``none``, or a list of
        objects that are there beside the bundled ones; with the word ``none`` among them, without those.
    pins: how the revision lock is used.
    preset_conflicts: ``fail``, or ``override`` to follow KubeVirt (the VM wins).
    firmware_uuid: ``stable`` derives uuid and serial for VMs that have none.
    namespace: where a VM without a namespace looks up namespaced objects.
    annotations: whether rendered VMs carry the ``virt-render.dev/`` stamps.
    kubevirt: the KubeVirt release whose behaviour is rendered (``1.8``, ``v1.8.4``), or ``auto``.
    admission: what of KubeVirt's admission is checked: ``full``, ``strict`` (what the input does not say is KubeVirt's
        default), or ``off`` (only what instancetypes, preferences and presets bring). With emit=expand only
        ``strict`` asks.
    guest: whether what guests boot with is looked into (cloud-init's data, Ignition, sysprep), and what is wrong there
        a ``warning`` or an ``error``; nothing with admission=off.
    cluster_config: a KubeVirt or HyperConverged resource, used where the input has none.
    lock: the parsed revision lock, or None.
    launcher_image: with emit=pod, the image of virt-launcher; ``""`` for a name that stands for it.
    allow_empty: whether an input without objects is fine.
    parameters: pairs of name and value; templates that have one of them are replaced by what they make.
    unclear: pairs of kind and name of definitions that may stand in what cannot be read, and words for that: KubeVirt's
        own of these names is not taken for them.
    """

    emit: Emit = "vm"
    stored: bool = False
    defaults: Literal["manifest", "cluster"] = "manifest"
    catalog: Literal["bundled", "none"] | Sequence[dict[str, Any] | str] = "bundled"
    pins: Literal["auto", "require", "ignore"] = "auto"
    preset_conflicts: Literal["fail", "override"] = "fail"
    firmware_uuid: Literal["none", "stable"] = "none"
    namespace: str = "default"
    annotations: bool = True
    kubevirt: str = "auto"
    admission: Literal["full", "strict", "off"] = "full"
    guest: Literal["warning", "error", "off"] = "off"
    cluster_config: dict[str, Any] | None = None
    lock: dict[str, Any] | None = None
    launcher_image: str = ""
    allow_empty: bool = False
    parameters: tuple[tuple[str, str], ...] = ()
    unclear: tuple[tuple[tuple[str, str], str], ...] = ()


class Source(Enum):
    """Who may ask, strongest first."""

    FLAG = "flag"
    PARAMETER = "parameter"
    ENVIRONMENT = "environment variable"
    FUNCTION_CONFIG = "function config key"
    FILE = "configuration key"


Kind = Literal["choice", "text", "label", "flag", "path", "number", "release", "assignment"]


class Option(NamedTuple):
    """A row of the table.

    *choices* are all values of a ``choice``; of a ``path`` they are the words that are not paths; a ``release`` may
    also have a ``v`` and a patch (``v1.8.4``); a ``label`` is one of DNS, as the name of a namespace is; an
    ``assignment`` is a ``NAME=VALUE``. *needs* names the option and value without which this one means nothing; *least*
    is the smallest number and *most* the largest, 0 for any; *many*: it may be repeated, and its value is a tuple.
    *waives*: the values by which less is checked. *listing* is the command that lists the choices, where a message has
    no room for them.
    """

    name: str
    kind: Kind
    default: str | bool | int
    help: str
    choices: tuple[str, ...] = ()
    metavar: str = ""
    short: str = ""
    needs: tuple[str, str] | None = None
    least: int = 1
    most: int = 0
    many: bool = False
    waives: tuple[str | bool, ...] = ()
    listing: str = ""

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
MOST_BITS = 1024
"""Of a whole number: Go has 64, and Python prints no more than 4,300 digits."""

OPTIONS: tuple[Option, ...] = (
    Option(
        "emit", "choice", "vm", "what a VirtualMachine becomes",
        choices=("vm", "vmi", "pod", "expand", "hashed", "revisions", "source"), waives=("expand",),
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
        "instancetypes, preferences and what else the cluster has beside the input: files and folders, added to what"
        " KubeVirt deploys; with none, without that; may be repeated",
        choices=("bundled", "none"), metavar="bundled|none|PATH", many=True,
    ),
    Option(
        "values", "path", "", "a values file of the Helm chart that PATH is; may be repeated, the last one wins",
        metavar="FILE", many=True,
    ),
    Option(
        "file-parameters", "assignment", "",
        "a value of that chart that is the text of a file, which is named as seen from the chart; may be repeated;"
        " NAME is keys of letters, digits, _ and - with dots between them",
        metavar="NAME=FILE", many=True,
    ),
    Option(
        "release-name", "text", "", "what that chart is installed as; in Argo CD the Application's name by default",
        metavar="NAME",
    ),
    Option(
        "pins", "choice", "auto", "how the revision lock is used: where present, for every VM, not at all",
        choices=("auto", "require", "ignore"), waives=("ignore",),
    ),
    Option(
        "preset-conflicts", "choice", "fail",
        "when a preset differs from the VM: fail, or let the VM win as KubeVirt does",
        choices=("fail", "override"), waives=("override",),
    ),
    Option(
        "firmware-uuid", "choice", "none",
        "derive firmware uuid and serial from namespace and name where a VM has none (new fleets only)",
        choices=("none", "stable"),
    ),
    Option(
        "namespace", "label", "default", "where a VM without a namespace looks for namespaced objects",
        metavar="NAME",
    ),
    Option(
        "annotations", "flag", default=True, help="stamp rendered VMs with virt-render.dev/ annotations"
    ),
    Option(
        "kubevirt", "release", "auto",
        "the KubeVirt release whose behaviour is rendered: by default the one that a KubeVirt resource of the input"
        " names, else the newest; main: what the next one may be, as one commit does it",
        choices=("auto", *map(minor, VERSIONS), MAIN), metavar=f"auto|{minor(VERSIONS[0])}|...|{minor(NEWEST)}|{MAIN}",
    ),
    Option(
        "admission", "choice", "full",
        "what KubeVirt refuses; full: all that can be known; strict: also what only an unknown setting decides; off:"
        " only what instancetypes, preferences and presets bring",
        choices=("full", "strict", "off"), waives=("off",),
    ),
    Option(
        "guest", "choice", "off",
        "what is wrong with what guests boot with: cloud-init's data, Ignition, sysprep; check, diff and report ask for"
        " warnings",
        choices=("warning", "error", "off"), waives=("off",),
    ),
    Option(
        "cluster-config", "path", "", "a KubeVirt or HyperConverged resource, used where the input has none",
        metavar="FILE",
    ),
    Option(
        "lock", "path", "", "the revision lock, instead of virt-render.lock.yaml in PATH",
        metavar="FILE",
    ),
    Option(
        "launcher-image", "text", "", "the image of virt-launcher in pods, which KubeVirt's operator decides",
        metavar="IMAGE", needs=("emit", "pod"),
    ),
    Option("allow-empty", "flag", default=False, help="accept an input without objects", waives=(True,)),
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
    """The value of each option by field name (its default where nobody asked), and what was wrong.

    *named* are those that somebody asked for, by name.
    """

    values: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    named: frozenset[str] = frozenset()


def decide(layers: Iterable[Layer], options: Sequence[Option] = OPTIONS) -> Chosen:
    """Let the strongest of *layers* (strongest first) decide each of *options*.

    Unknown keys and unfit values are errors, also in a layer that another one overrules.
    """
    values: dict[str, Any] = {}
    chosen: dict[str, tuple[int, Layer, str]] = {}
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
                chosen[option.name] = rank, layer, key
    for option in options:
        default = tuple(filter(None, (option.default,))) if option.many else option.default
        values.setdefault(option.field, default)
    faults = tuple(diagnostics or _pointless(values, chosen, options))
    return Chosen(values, faults, frozenset(chosen))


def _read(option: Option, raw: Any, source: Source) -> tuple[Any, str]:
    """The value that *raw* stands for, and what is wrong with it."""
    if option.many:
        return _read_all(option, raw, source)
    typed = source in (Source.FUNCTION_CONFIG, Source.FILE)
    if option.kind == "flag":
        return _flag(raw, typed=typed)
    if option.kind == "number":
        number, fault = _number(raw, option.least, typed=typed)
        if option.most and number > option.most:
            return 0, f"{number} is more than {option.most}"
        return number, fault
    raw = _unquoted(option, raw) if typed else raw
    if not isinstance(raw, str) or not raw:
        is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
        written = (
            f': "{raw}"' if str(raw) in option.choices else ", as it stands there"
        )  # 1.10 is 1.1 to YAML
        cure = f"; write it in quotes{written}" if is_number else ""
        return "", f"{_quoted(raw)} is not a text{cure}"
    if _is_no_choice(option, raw):
        return "", f"{_quoted(raw)} is {_choices(option, raw)}"
    if not _is_text(option, raw):
        return "", f"{_quoted(raw)} {_no_text(option)}"
    if option.kind == "label":
        return raw, _fault_of_label(raw)
    if option.kind == "assignment" and not all(raw.partition("=")):
        return "", f"{_quoted(raw)} is no {option.metavar}"
    return raw, ""


def _choices(option: Option, raw: str) -> str:
    """What *option* may be and *raw* is not, and which of that is near; of many choices who lists them."""
    if option.listing:
        near = _hint(raw, option.choices) or f"; {option.listing} lists all"
        return f"not {option.metavar}{near}"
    near = _release_of(raw) if option.kind == "release" else _hint(raw, option.choices)
    return f"not one of {', '.join(option.choices)}{near}"


def _release_of(raw: str) -> str:
    """What to ask for instead of the release *raw*, where that is two of them, or a version of OpenShift."""
    if ".." in raw:
        return "; of several releases each is an option of its own, and diff compares two of them"
    product = f"openshift-{raw.removeprefix('v')}"
    return f"; did you mean {product}?" if release_named(product) else ""


def _fault_of_label(raw: str) -> str:
    from render.model.apimachinery import dns1123

    faults = dns1123.label_faults(raw)
    return f"{_quoted(raw)} is not a DNS label: {'; '.join(faults)}" if faults else ""


def _flag(raw: Any, *, typed: bool) -> tuple[Any, str]:
    if isinstance(raw, bool):
        return raw, ""
    if not typed and str(raw).lower() in ("true", "false"):
        return str(raw).lower() == "true", ""
    return "", f"{_quoted(raw)} is neither true nor false"


def _unquoted(option: Option, raw: Any) -> Any:
    """The choice *raw* that YAML takes for a boolean, as it does ``off`` without quotes; anything else as it is."""
    if not isinstance(raw, bool):
        return raw
    word = "on" if raw else "off"
    return word if word in option.choices else raw


def _is_no_choice(option: Option, raw: str) -> bool:
    if option.kind == "release":
        return raw not in option.choices and release_named(raw) is None
    return option.kind == "choice" and raw not in option.choices


def _read_all(option: Option, raw: Any, source: Source) -> tuple[tuple[Any, ...], str]:
    """The values of an option that may be repeated; one alone needs no list. A variable is taken apart as PATH is."""
    single = option._replace(many=False)
    if source is Source.ENVIRONMENT and isinstance(raw, str):
        raw = raw.split(os.pathsep)
    entries = raw if isinstance(raw, list | tuple) else (raw,)
    if not entries:
        return (), "names nothing"
    read = [_read(single, entry, source) for entry in entries]
    return tuple(value for value, _ in read), next((fault for _, fault in read if fault), "")


def _number(raw: Any, least: int, *, typed: bool) -> tuple[int, str]:
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= least:
        return raw, ""
    if not typed and str(raw).isdecimal():
        digits = str(raw).lstrip("0")
        if len(digits) > _DIGITS:
            return 0, f"{_quoted(raw)} is too large a number"
        if digits or not least:
            return int(digits or 0), ""
    if re.fullmatch(r"-[0-9]{1,15}|0", str(raw)):
        return 0, f"{raw} is less than {least}"
    return 0, f"{_quoted(raw)} is not a {'positive ' if least else ''}whole number"


def _no_text(option: Option) -> str:
    return "cannot be the name of a file" if option.kind == "path" else "is not UTF-8, or has a NUL"


def _is_text(option: Option, raw: str) -> bool:
    """Whether *raw* is UTF-8 without a NUL; in names of files there may be any other bytes."""
    if option.kind not in _OF_FILES and not raw.isascii():
        try:
            raw.encode()
        except (
            UnicodeEncodeError
        ):  # half of a surrogate pair (as JSON may write one), or a byte that is no UTF-8
            return False
    return is_file_name(raw)


def _quoted(raw: Any) -> str:
    """*raw* as messages quote it; no more than the beginning of what is long."""
    if raw is None:
        return "nothing"
    if not isinstance(raw, str | int | float | bool) or _holds_giants(raw):
        return type(raw).__name__
    if isinstance(raw, str) and len(raw) > _QUOTED:
        return repr(raw[:_QUOTED]) + "..."
    return repr(raw)


def _unknown(layer: Layer, key: str, known: Mapping[str, Option]) -> Diagnostic:
    names = (*known, *layer.others)
    short_key = key if len(str(key)) <= _QUOTED else f"{key[:_QUOTED]}..."
    message = f"unknown {layer.source.value} {short_key}{_hint(key, names)}"
    return INVALID_SETTING.at(layer.at(key), message, help=f"known: {', '.join(names)}")


def _hint(word: str, known: Iterable[str]) -> str:
    hint = did_you_mean(word, known)
    return f"; {hint}" if hint else ""


def _pointless(
    values: dict[str, Any], chosen: Mapping[str, tuple[int, Layer, str]], options: Sequence[Option]
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
        rank, layer, key = chosen[option.name]
        if other in chosen and chosen[other][0] < rank:
            values[option.field] = option.default
            continue
        message = f"{key} only means something with {other} {wanted}, here {other} is {have}"
        yield INVALID_SETTING.at(layer.at(key), message)


#: Options that name files, of which `Settings` holds what is in them, and those of charts, which it does not know.
_PARSED = ("cluster-config", "lock", "values", "file-parameters", "release-name")


def faults(settings: Settings) -> tuple[Diagnostic, ...]:
    """What the command line would refuse of *settings* that were made in Python."""
    diagnostics = []
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
            diagnostics.append(INVALID_SETTING.at(Location(), f"{option.field}: {fault}"))
    diagnostics += _contradictions(settings)
    cluster: Any = settings.cluster_config
    for name in ("cluster_config", "lock"):
        if _holds_giants(getattr(settings, name)):
            message = f"{name}: a whole number in it has more than {MOST_BITS:,} bits"
            diagnostics.append(INVALID_SETTING.at(Location(), message))
    if cluster is not None and not isinstance(cluster, dict):
        diagnostics.append(
            INVALID_SETTING.at(
                Location(), "cluster_config: neither a KubeVirt nor a HyperConverged resource"
            )
        )
    lock: Any = settings.lock
    if lock is not None and not isinstance(lock, dict):
        diagnostics.append(INVALID_SETTING.at(Location(), "lock: not a RevisionLock"))
    return tuple(diagnostics)


def _contradictions(settings: Settings) -> Iterable[Diagnostic]:
    """Settings of which one leaves another without an effect that was demanded."""
    if settings.pins == "require" and settings.emit == "expand" and not settings.stored:
        message = "pins: require demands nothing with emit=expand: what expand-vm-spec answers depends on no lock"
        cure = "choose another mode or other pins, or add stored"
        yield INVALID_SETTING.at(Location(), message, help=cure)


def _holds_giants(value: Any) -> bool:
    """Whether there is a number in *value* that Python would not print."""
    if isinstance(value, dict):
        return any(map(_holds_giants, value.values()))
    if isinstance(value, list):
        return any(map(_holds_giants, value))
    return isinstance(value, int) and value.bit_length() > MOST_BITS


def _fault_of(option: Option, value: Any) -> str:
    if option.kind == "flag":
        return "" if isinstance(value, bool) else f"{_quoted(value)} is neither True nor False"
    if option.kind == "choice" and value not in option.choices:
        return f"{_quoted(value)} is none of {', '.join(option.choices)}"
    if option.many:
        return _fault_of_catalog(option, value)
    if not isinstance(value, str):
        return f"{_quoted(value)} is not a text"
    if not _is_text(option, value):
        return f"{_quoted(value)} {_no_text(option)}"
    if _is_no_choice(option, value):
        return f"{_quoted(value)} is none of {', '.join(option.choices)}"
    return _fault_of_label(value) if option.kind == "label" else ""


def _fault_of_catalog(option: Option, value: Any) -> str:
    """What is wrong with *value* of the catalog, in Python the objects that the command line reads from its paths."""
    if isinstance(value, str):
        known = value in option.choices
        return (
            ""
            if known
            else f"{_quoted(value)} is none of {', '.join(option.choices)}, nor a list of objects"
        )
    if not isinstance(value, list | tuple):
        return f"a value of type {type(value).__name__} is no list of objects"
    alien = (
        entry for entry in value if not isinstance(entry, dict) and entry not in option.choices
    )
    return next((f"{_quoted(entry)} is not an object" for entry in alien), "")
