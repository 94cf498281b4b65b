"""What a command was asked to do: all sources brought together into one value."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from render.diagnostics.codes import INVALID_SETTING, UNREADABLE, USAGE
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.request import config, environment
from render.frontends.request.commands import COMMANDS
from render.frontends.request.config import Layout
from render.frontends.request.options import (
    CONFIG,
    DEADLINE,
    FAIL_ON,
    FORMAT,
    HOST_OPTIONS,
    MAX_FINDINGS,
    OUTPUT,
    QUIET,
    REPORTS,
    ROOT,
    SET,
    TIMINGS,
    VERBOSE,
)
from render.model.resource import Origin
from render.model.tree import Tree
from render.report.formats import FORMATS
from render.settings import (
    OPTIONS,
    Chosen,
    Layer,
    Option,
    Settings,
    Source,
    decide,
)
from render.yaml.budget import Limits
from render.yaml.reader import Document

if TYPE_CHECKING:
    from render.report.places import Sources

_SHARED = (
    FORMAT, *REPORTS, MAX_FINDINGS, QUIET, FAIL_ON, CONFIG, VERBOSE, TIMINGS, OUTPUT, ROOT, SET, DEADLINE,
)  # fmt: skip


class Call(NamedTuple):
    """A command with its paths, its other arguments, and the value of each flag that was given, as the table spells it.

    A flag that may be repeated has a tuple of values.
    """

    command: str
    paths: tuple[str, ...]
    flags: Mapping[str, str | bool | tuple[str, ...]]
    arguments: tuple[tuple[str, str], ...] = ()


class Request(NamedTuple):
    """A call with everything decided.

    *own* are the values of what only this command takes, options and arguments, by field name; *report* is the stream
    for findings; *reports* are pairs of a format and a file; *read* are the files and folders that settings name,
    *catalog* the documents of the catalogue among them, in the order of the settings, and *cluster* the one with the
    settings of the cluster, if any. *chosen* are the names of the options of a rendering that somebody asked for.
    *diagnostics* say what was wrong with the asking; *origins* and *data* are those of the settings file, and of what
    else is at fault. *call* and *environ* are what it was made of; *layout* is that of the repository.
    """

    call: Call
    environ: Mapping[str, str]
    own: Mapping[str, Any]
    report: int
    paths: tuple[str, ...]
    settings: Settings
    kustomize: str
    helm: str
    values: tuple[str, ...]
    file_parameters: tuple[str, ...]
    release_name: str
    allow_remote: bool
    limits: Limits
    format: str
    verbose: bool
    quiet: bool = False
    fail_on: str = "error"
    max_findings: int = 0
    timings: bool = False
    output: str = ""
    root: str = ""
    deadline: int = 0
    lock: str = ""
    reports: tuple[tuple[str, str], ...] = ()
    read: tuple[str, ...] = ()
    chosen: frozenset[str] = frozenset()
    catalog: tuple[Document, ...] = ()
    cluster: tuple[Document, ...] = ()
    layout: Layout = Layout()
    diagnostics: tuple[Diagnostic, ...] = ()
    origins: tuple[Origin, ...] = ()
    data: Mapping[str, bytes] = MappingProxyType({})

    @property
    def around(self) -> tuple[Document, ...]:
        """The documents that count after those of the input."""
        return (*self.catalog, *self.cluster)

    @property
    def sources(self) -> "Sources":
        """Where what was asked for stands in files."""
        from render.report.places import Sources

        return Sources(self.origins, self.data)


def own_options(call: Call) -> tuple[Option, ...]:
    """The options of *call* beside those of a rendering."""
    return tuple(option for option in COMMANDS[call.command].options if option not in OPTIONS)


def host_values(call: Call, environ: Mapping[str, str], *given: Layer) -> Chosen:
    """What is decided of the options that *call* has beside those of a rendering."""
    own = own_options(call)
    flags = {option.spelled(Source.FLAG) for option in own}
    names = {option.name for option in (*HOST_OPTIONS, DEADLINE)}
    variables = tuple(option for option in own if option.name in names)
    said = _parameters(environ, *given) if DEADLINE in own else []
    applications = [_part(layer, mine=True) for layer in said]
    return decide(
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


def _locked(layers: Iterable[Layer], names: str) -> Iterator[Diagnostic]:
    """What a repository or an Application wants to decide although who runs the program has locked it."""
    options = {option.name: option for option in (*OPTIONS, DEADLINE)}
    for name in filter(None, (name.strip() for name in names.split(","))):
        if name not in options:
            message = (
                f"locked: there is no option {name} that an Application or a repository may set"
            )
            yield INVALID_SETTING.at(Location(), message, help=f"known: {', '.join(options)}")
            continue
        for layer in layers:
            key = options[name].spelled(layer.source)
            if key in layer.values:
                message = f"{layer.source.value} {key} is locked by who runs virt-render"
                yield INVALID_SETTING.at(layer.at(key), message, help="take it out")


def _too_patient(layers: Iterable[Layer], values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """A deadline of an Application beyond what who runs the program allows."""
    most = values.get("max_deadline", 0)
    for layer in layers:
        key = DEADLINE.spelled(layer.source)
        asked = str(layer.values.get(key, ""))
        if asked.isdecimal() and (len(asked) > len(str(most)) or int(asked) > most):
            yield INVALID_SETTING.at(
                layer.at(key),
                f"{layer.source.value} {key}: more than the {most} seconds that are allowed",
                help="who runs virt-render may raise --max-deadline",
            )


def limits_of(values: Mapping[str, Any]) -> Limits:
    """The limits among the values of host options."""
    usual = Limits()
    return Limits(
        **{name: values.get(f"max_{name}", getattr(usual, name)) for name in Limits._fields}
    )


def request(call: Call, environ: Mapping[str, str], *given: Layer) -> Request:
    """Let all sources decide *call*: flags, parameters, environment, function config, file, in this order.

    *given*: the function config that kustomize hands over.
    """
    command = COMMANDS[call.command]
    faults: list[Diagnostic] = []
    if DEADLINE in command.options:
        from render.frontends.request import parameters

        layer, faults = parameters.parameters(environ)
        given = (*given, layer)
    names = {option.spelled(Source.FLAG) for option in OPTIONS}
    own = {option.spelled(Source.FLAG) for option in own_options(call)}
    mine = host_values(call, environ, *given)
    values = mine.values
    limits = limits_of(values)
    file = (
        config.load(
            call.paths,
            values["config"],
            limits,
            values.get("settings_folders", "").split(os.pathsep),
        )
        if CONFIG in command.options
        else config.ConfigFile()
    )
    whole = config.of_repository(call.paths, limits) if command.whole else file
    if not whole.path or (file.path and os.path.samefile(file.path, whole.path)):
        whole = file
    theirs = [_part(layer, mine=False) for layer in _parameters(environ, *given)]
    written = [*(one for one in given if one.source is Source.FUNCTION_CONFIG), *file.layers]
    chosen = decide(
        (
            Layer(Source.FLAG, {k: v for k, v in call.flags.items() if k in names - own}),
            *map(_without_host_options, theirs),
            Layer(Source.ENVIRONMENT, environment.plain(environ, OPTIONS)),
            *map(_without_host_options, written),
            Layer(Source.ENVIRONMENT, environment.destination(environ)),
        )
    )
    locked = tuple(_locked((*_parameters(environ, *given), *written), values.get("locked", "")))
    trusted = values.get("settings_folders", "").split(os.pathsep)
    strays = tuple(
        fault
        for layer in (*theirs, *(one for one in written if one.source is Source.FUNCTION_CONFIG))
        for fault in config.strays(layer, trusted)
    )
    if strays:  # nothing of them is read, not to say what stands there
        chosen.values.update(cluster_config="", lock="", catalog=("none",), values=())
    named = chosen.values.pop("cluster_config")
    lock = chosen.values.pop("lock")
    files = chosen.values.pop("values")
    file_parameters = chosen.values.pop("file_parameters")
    release_name = chosen.values.pop("release_name")
    cluster = config.cluster_config(named, limits) if named else config.ObjectFiles()
    words = chosen.values.pop("catalog")
    paths = [word for word in words if word not in ("bundled", "none")]
    catalog = config.catalog(paths, limits)
    given_parameters = values.get("set") or ()
    body = cluster.documents[0].body if cluster.documents else None
    settings = Settings(**chosen.values, cluster_config=body)
    settings = settings._replace(
        parameters=tuple(_pairs(given_parameters)),
        catalog=with_objects("none" if "none" in words else "bundled", catalog.documents),
    )
    output = "" if values.get("output") == "-" else values.get("output", "")
    reports = tuple((name, to) for name in FORMATS if (to := values.get(f"{name}_file")))
    misdirected = tuple(_misdirected(reports, output))
    apart = [option for option in own_options(call) if option not in (*HOST_OPTIONS, *_SHARED)]
    return Request(
        call=call,
        environ=environ,
        own={option.field: values[option.field] for option in apart} | dict(call.arguments),
        report=command.report,
        paths=call.paths,
        settings=settings._replace(allow_empty=True) if call.command == "check" else settings,
        kustomize=values.get("kustomize", "never"),
        helm=values.get("helm", "never"),
        values=files,
        file_parameters=file_parameters,
        release_name=release_name,
        allow_remote=values.get("allow_remote", False),
        limits=limits,
        format=values["format"] if FORMAT in command.options else "text",
        verbose=values.get("verbose", False),
        quiet=values.get("quiet", False),
        fail_on=values["fail_on"] if FAIL_ON in command.options else "error",
        max_findings=values.get("max_findings", 0),
        timings=values.get("timings", False),
        output=output,
        root=values.get("root", ""),
        deadline=values.get("deadline", 0),
        lock=lock,
        reports=() if misdirected else reports,
        read=tuple(name for name in (file.path, named, lock, *paths) if name),
        chosen=chosen.asked,
        catalog=catalog.documents,
        cluster=cluster.documents,
        layout=whole.layout,
        diagnostics=(
            *_unfit_paths(call.paths, values.get("root", "")),
            *_exclusive(call),
            *_unpaired(given_parameters),
            *misdirected,
            *(
                environment.misspelt(environ, (*OPTIONS, *HOST_OPTIONS, DEADLINE))
                if command.options
                else ()
            ),
            *faults,
            *_presumptuous((*theirs, *written)),
            *locked,
            *strays,
            *_too_patient(_parameters(environ, *given), values),
            *mine.diagnostics,
            *file.diagnostics,
            *(whole.diagnostics if whole is not file else ()),
            *chosen.diagnostics,
            *cluster.diagnostics,
            *catalog.diagnostics,
        ),
        origins=file.origins,
        data={**whole.data, **file.data, **cluster.data, **catalog.data},
    )


def again(asked: Request, *paths: str) -> Request:
    """The same request for other *paths*, whose own configuration counts."""
    return request(asked.call._replace(paths=paths), asked.environ)


def _pairs(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in given:
        name, equals, value = text.partition("=")
        if name and equals:
            yield name, value


def _unpaired(given: Iterable[str]) -> Iterator[Diagnostic]:
    for text in given:
        if not any(_pairs([text])):
            message = f"--set {text}: no name and value"
            yield USAGE.at(Location(), message, help="write --set NAME=VALUE")


def _exclusive(call: Call) -> Iterator[Diagnostic]:
    """Options of *call* of which only one may be given."""
    for one, other in COMMANDS[call.command].excludes:
        flags = [option.spelled(Source.FLAG) for option in (one, other)]
        if all(call.flags.get(flag) for flag in flags):
            yield USAGE.at(Location(), f"{flags[0]} and {flags[1]} exclude each other")


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


Catalog = Literal["bundled", "none"] | Sequence[Tree | str]


def with_objects(catalog: Catalog, documents: Sequence[Document]) -> Catalog:
    """*catalog*, a value of the settings, with the objects of *documents* after those that it has."""
    if not documents:
        return catalog
    given = [catalog] if isinstance(catalog, str) else catalog
    return [*(one for one in given if one != "bundled"), *(one.body for one in documents)]
