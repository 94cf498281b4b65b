"""What a command was asked to do: the tables of the front ends' own options, and all sources brought together."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from render.diagnostics.codes import INVALID_SETTING, UNREADABLE, USAGE
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends import config, environment
from render.manifests.reader import DEEPEST, Limits
from render.report.formats import FORMATS
from render.report.places import Sources
from render.settings import (
    OPTIONS,
    Chosen,
    Layer,
    Option,
    Settings,
    Source,
    settle,
)

HOST_OPTIONS: tuple[Option, ...] = (
    Option(
        "kustomize", "text", "auto",
        "the kustomize binary for folders with a kustomization; never: read their files as they are",
        metavar="auto|never|PATH",
    ),
    Option("allow-remote", "flag", default=False, help="let kustomize fetch remote bases"),
    Option("max-file-bytes", "number", Limits().file_bytes, "size of one file", metavar="N"),
    Option("max-total-bytes", "number", Limits().total_bytes, "size of all files", metavar="N"),
    Option("max-documents", "number", Limits().documents, "documents in one file", metavar="N"),
    Option(
        "max-depth", "number", Limits().depth, f"nesting of one document, up to {DEEPEST}",
        metavar="N", most=DEEPEST,
    ),
    Option(
        "max-alias-nodes", "number", Limits().alias_nodes,
        "values that the aliases of one document may stand for; of a text, 64 characters count as one more",
        metavar="N",
    ),
)  # fmt: skip
"""Decided by who runs the program (flags, ``VIRT_RENDER_`` variables), never by what is in the repository."""

_OUTPUT = Option(
    "output", "path", "",
    "write to a file; with a slash at the end, or to an existing folder, one file a resource; -: standard output",
    metavar="FILE|DIR|-", short="o",
)  # fmt: skip
_FORMAT = Option("format", "choice", "text", "how findings are reported", choices=tuple(FORMATS))
_CONFIG = Option(
    "config", "path", "", f"instead of {config.NAME} in PATH or in the current folder", metavar="FILE"
)  # fmt: skip
_ROOT = Option(
    "root", "path", "", "where the objects are that single files refer to [default: the git root of each file]",
    metavar="DIR",
)  # fmt: skip
_VERBOSE = Option(
    "verbose", "flag", default=False, help="say also what was skipped and why", short="v"
)
_TIMINGS = Option(
    "timings", "flag", default=False, help="say on standard error where the time went"
)
_REPORTS = tuple(
    Option(
        f"{name}-file", "path", "", f"write the findings also to a file, in the format {name}",
        metavar="FILE",
    )
    for name in FORMATS
    if name != "text"
)  # fmt: skip
DEADLINE = Option(
    "deadline", "number", 45, "stop after so many seconds and say what was being done", metavar="N"
)
"""Argo CD kills a plugin that is late without a word."""

COMMANDS: dict[str, tuple[Option, ...]] = {
    "build": (_OUTPUT, *OPTIONS, *HOST_OPTIONS, _FORMAT, *_REPORTS, _CONFIG, _TIMINGS, _VERBOSE),
    "check": (*OPTIONS, *HOST_OPTIONS, _FORMAT, *_REPORTS, _ROOT, _CONFIG, _TIMINGS, _VERBOSE),
    "krm": (*OPTIONS, *HOST_OPTIONS, _CONFIG, _VERBOSE),
    "argocd generate": (*OPTIONS, DEADLINE, *HOST_OPTIONS, _CONFIG, _VERBOSE),
}
"""The options of each command that renders, in the order of its help."""

_DECIDED = frozenset({"emit", "stored", "defaults", "pins", "firmware-uuid", "annotations"})
_PINNING = tuple(option for option in OPTIONS if option.name not in _DECIDED)
_MIGRATING = tuple(
    option for option in OPTIONS if option.name in ("catalog", "namespace", "kubevirt", "cluster-config")
)  # fmt: skip
BY_HAND: dict[str, tuple[Option, ...]] = {
    "pin": (*_PINNING, *HOST_OPTIONS, _FORMAT, *_REPORTS, _CONFIG, _TIMINGS, _VERBOSE),
    "history": (*_PINNING, *HOST_OPTIONS, _CONFIG, _VERBOSE),
    "show": (*OPTIONS, *HOST_OPTIONS, _CONFIG, _VERBOSE),
    "verify": (*HOST_OPTIONS, _FORMAT, *_REPORTS, _CONFIG, _TIMINGS, _VERBOSE),
    "migrate": (*_MIGRATING, *HOST_OPTIONS, _FORMAT, *_REPORTS, _CONFIG, _TIMINGS, _VERBOSE),
}
"""The options of the commands that people type, and that click alone reads; they have others of their own."""


class Call(NamedTuple):
    """A command with its paths, and the value of each flag that was given, by the spelling of the table."""

    command: str
    paths: tuple[str, ...]
    flags: dict[str, str | bool]


class Request(NamedTuple):
    """A call with everything decided.

    *reports* are pairs of a format and a file; *read* are the files and folders that settings name. *diagnostics* say
    what was wrong with the asking, *sources* where.
    """

    paths: tuple[str, ...]
    settings: Settings
    kustomize: str
    allow_remote: bool
    limits: Limits
    format: str
    verbose: bool
    timings: bool = False
    output: str = ""
    root: str = ""
    deadline: int = 0
    lock: str = ""
    reports: tuple[tuple[str, str], ...] = ()
    read: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Sources = Sources()


def host_values(call: Call, environ: Mapping[str, str], *given: Layer) -> Chosen:
    """What is decided of the options that *call* has beside those of a rendering."""
    own = tuple(option for option in (COMMANDS | BY_HAND)[call.command] if option not in OPTIONS)
    flags = {option.spelled(Source.FLAG) for option in own}
    variables = tuple(option for option in own if option in (*HOST_OPTIONS, DEADLINE))
    said = _parameters(environ, *given) if DEADLINE in own else []
    applications = [_part(layer, mine=True) for layer in said]
    return settle(
        (
            Layer(Source.FLAG, {k: v for k, v in call.flags.items() if k in flags}),
            *applications,
            Layer(Source.ENVIRONMENT, environment.plain(environ, variables)),
        ),
        own,
    )


def _parameters(environ: Mapping[str, str], *given: Layer) -> list[Layer]:
    """What an Argo CD Application says: its parameters, then its variables."""
    parameters = [layer for layer in given if layer.source is Source.PARAMETER]
    variables = environment.application(environ)
    also = (DEADLINE.spelled(Source.ENVIRONMENT),)
    return [*parameters, Layer(Source.ENVIRONMENT, variables, others=also)]


def _part(layer: Layer, *, mine: bool) -> Layer:
    """Of what an Application says, the deadline (*mine*: it belongs to the run), or the settings of the rendering."""
    name = DEADLINE.spelled(layer.source)
    return layer._replace(values={k: v for k, v in layer.values.items() if (k == name) is mine})


def _without_host_options(layer: Layer) -> Layer:
    host = {option.spelled(layer.source) for option in HOST_OPTIONS}
    return layer._replace(values={k: v for k, v in layer.values.items() if k not in host})


def _presumptuous(layers: Iterable[Layer]) -> Iterator[Diagnostic]:
    """What a repository or an Application wants to decide and may not."""
    for layer in layers:
        for option in HOST_OPTIONS:
            key = option.spelled(layer.source)
            if key in layer.values:
                variable = option.spelled(Source.ENVIRONMENT)
                yield INVALID_SETTING.at(
                    layer.at(key),
                    f"{layer.source.value} {key} is not for manifests and Applications to decide",
                    help=f"who runs virt-render may set --{option.name}, or {variable} in its own environment",
                )


def limits_of(values: Mapping[str, Any]) -> Limits:
    """The limits among the values of host options."""
    return Limits(**{name: values[f"max_{name}"] for name in Limits._fields})


def request(call: Call, environ: Mapping[str, str], *given: Layer) -> Request:
    """Let all sources decide *call*: flags, parameters, environment, function config, file, in this order.

    *given*: what the host says, parameters or a function config.
    """
    names = {option.spelled(Source.FLAG) for option in OPTIONS}
    mine = host_values(call, environ, *given)
    values = mine.values
    limits = limits_of(values)
    file = config.load(call.paths, values["config"], limits)
    theirs = [_part(layer, mine=False) for layer in _parameters(environ, *given)]
    written = [*(one for one in given if one.source is Source.FUNCTION_CONFIG), *file.layers]
    chosen = settle(
        (
            Layer(Source.FLAG, {k: v for k, v in call.flags.items() if k in names}),
            *map(_without_host_options, theirs),
            Layer(Source.ENVIRONMENT, environment.plain(environ, OPTIONS)),
            *map(_without_host_options, written),
            Layer(Source.ENVIRONMENT, environment.destination(environ)),
        )
    )
    named = chosen.values.pop("cluster_config")
    lock = chosen.values.pop("lock")
    cluster = config.cluster_config(named, limits) if named else config.ClusterConfig()
    settings = Settings(**chosen.values, cluster_config=cluster.body)
    output = "" if values.get("output") == "-" else values.get("output", "")
    reports = tuple((name, to) for name in FORMATS if (to := values.get(f"{name}_file")))
    misdirected = tuple(_misdirected(reports, output))
    return Request(
        paths=call.paths,
        settings=settings._replace(allow_empty=True) if call.command == "check" else settings,
        kustomize=values["kustomize"],
        allow_remote=values["allow_remote"],
        limits=limits,
        format=values.get("format", "text"),
        verbose=values["verbose"],
        timings=values.get("timings", False),
        output=output,
        root=values.get("root", ""),
        deadline=values.get("deadline", 0),
        lock=lock,
        reports=() if misdirected else reports,
        read=tuple(name for name in (file.path, named, lock, _catalog(settings)) if name),
        diagnostics=(
            *_unfit_paths(call.paths, values.get("root", "")),
            *misdirected,
            *environment.misspelt(environ, (*OPTIONS, *HOST_OPTIONS, DEADLINE)),
            *_presumptuous((*theirs, *written)),
            *mine.diagnostics,
            *file.diagnostics,
            *chosen.diagnostics,
            *cluster.diagnostics,
        ),
        sources=Sources([*file.origins], {**file.data, **cluster.data}),
    )


def _unfit_paths(paths: Sequence[str], root: str) -> Iterator[Diagnostic]:
    """What is wrong with the paths on the command line, apart from what stands there."""
    if "" in paths:
        yield USAGE.at(Location(), "a PATH is empty", help="write . for the current folder")
    if not root:
        return
    if not os.path.isdir(root):
        fault = "not a folder" if os.path.lexists(root) else "no such folder"
        yield UNREADABLE.at(Location(file=root), f"cannot read {root}: {fault}")
    if "-" in paths or all(os.path.isdir(path) for path in paths):
        message = (
            "--root says where the objects are that single files refer to, and no file is named"
        )
        yield USAGE.at(Location(), message, help="leave --root out, or name files")


def _misdirected(reports: Iterable[tuple[str, str]], output: str) -> Iterator[Diagnostic]:
    """Reports that would overwrite each other or the *output*, or stand between what standard output has already."""
    taken = {os.path.realpath(output): "--output"} if output else {}
    for name, to in reports:
        flag = f"--{name}-file"
        if to == "-" and not output:
            message = f"{flag} -: standard output is taken"
            yield USAGE.at(
                Location(), message, help=f"name a file, or let --format {name} print it"
            )
            continue
        real = to if to == "-" else os.path.realpath(to)
        if real in taken and to != os.devnull:
            yield USAGE.at(Location(), f"{taken[real]} and {flag} both name {to}")
        taken.setdefault(real, flag)


def _catalog(settings: Settings) -> str:
    """The file or folder that is the catalogue, ``""`` where it is ours or none."""
    return "" if settings.catalog in ("bundled", "none") else settings.catalog
