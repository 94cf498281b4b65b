"""What a command was asked to do: all sources brought together into one value, a part for each question."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from render.diagnostics.codes import UNREADABLE, USAGE
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.request import config, environment
from render.frontends.request.commands import COMMANDS, Call
from render.frontends.request.config import ConfigFile, Layout, ObjectFiles
from render.frontends.request.layers import (
    Layers,
    layers_of,
    own_options,
    refused_layers,
    rendering_options,
)
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
    SET,
    TIMINGS,
    VERBOSE,
)
from render.frontends.request.waivers import waivers_of
from render.manifests.buffers import NO_BUFFERS, Buffers
from render.manifests.discover import HelmRelease
from render.model.hints import TYPE_CHECKING, Any, Literal
from render.model.named_tuple import NamedTuple
from render.model.resource import Origin
from render.model.tree import Tree
from render.report.formats import FORMATS
from render.report.waivers import Waiver
from render.settings import OPTIONS, Chosen, Layer, Option, Settings, Source
from render.system.files import real_path
from render.system.streams import STDERR
from render.yaml.budget import Limits
from render.yaml.reader import Document

if TYPE_CHECKING:
    from render.report.places import Sources

__all__ = ("Call", "Request", "again", "request", "with_objects")

_SHARED = (
    FORMAT, *REPORTS, MAX_FINDINGS, QUIET, FAIL_ON, CONFIG, VERBOSE, TIMINGS, OUTPUT, SET, DEADLINE,
)  # fmt: skip


class CallRequest(NamedTuple):
    """What was called, in which *environ*: the *deadline* in seconds (0: none), and whether *timings* are told."""

    call: Call
    environ: Mapping[str, str]
    deadline: int = 0
    timings: bool = False


class ReadingRequest(NamedTuple):
    """How input is read: *limits*, other programs, what a *chart* is installed as, the *lock*.

    And the *layout* of the repository; *jobs* programs run at once, 0 for as many as there are processors. *buffers*
    are what an editor has open: no call says them.
    """

    limits: Limits
    kustomize: str = "auto"
    helm: str = "auto"
    allow_remote: bool = False
    is_box_required: bool = False
    chart: HelmRelease = HelmRelease()
    lock: str = ""
    layout: Layout = Layout()
    jobs: int = 1
    buffers: Buffers = NO_BUFFERS


class SettingsRequest(NamedTuple):
    """What beside *values* of settings is known of them.

    *named* are those that somebody asked for, by name; *files* the files and folders that they name, *catalog* the
    documents of the catalogue among them, in the order of the settings, and *cluster* the one with the settings of the
    cluster, if any. *configured*: what the configuration files of the repository say, by key; *waivers*: what of that,
    and of what an Application says, makes less be looked at.
    """

    named: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    catalog: tuple[Document, ...] = ()
    cluster: tuple[Document, ...] = ()
    configured: Mapping[str, Any] = MappingProxyType({})
    waivers: tuple[Waiver, ...] = ()


class ReportingRequest(NamedTuple):
    """How it is told what was found: on which *stream* and in which *format*, and in *files*, pairs of both.

    *output* is where the rest goes, ``""`` for standard output.
    """

    stream: int
    format: str
    files: tuple[tuple[str, str], ...] = ()
    output: str = ""
    verbose: bool = False
    quiet: bool = False
    fail_on: tuple[str, ...] = ("error",)
    max_findings: int = 0


class RequestFaults(NamedTuple):
    """What is wrong with the request; *origins* and *data* are those of the settings file and of others at fault."""

    diagnostics: tuple[Diagnostic, ...] = ()
    origins: tuple[Origin, ...] = ()
    data: Mapping[str, bytes] = MappingProxyType({})

    @property
    def sources(self) -> "Sources":
        """Where what was asked for stands in files."""
        from render.report.places import Sources

        return Sources(self.origins, self.data)


class Request(NamedTuple):
    """A call with everything decided.

    *own* are the values of what only this command takes, options and arguments, by field name.
    """

    called: CallRequest
    reading: ReadingRequest
    settings: Settings
    beside: SettingsRequest
    reporting: ReportingRequest
    own: Mapping[str, Any]
    faults: RequestFaults = RequestFaults()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths on the command line."""
        return self.called.call.paths

    def reading_from(self, *paths: str) -> "Request":
        """The same for other *paths*, with the same configuration; see `again`."""
        call = self.called.call._replace(paths=paths)
        return self._replace(called=self.called._replace(call=call))

    def in_run_of(self, other: "Request") -> "Request":
        """The same as a part of the run of *other*: both start programs from one budget."""
        return self._limited(other.reading.limits.of_state())

    def as_new_run(self) -> "Request":
        """The same with all that it may cost left."""
        return self._limited(self.reading.limits.of_run())

    def _limited(self, limits: Limits) -> "Request":
        return self._replace(reading=self.reading._replace(limits=limits))

    @property
    def around(self) -> tuple[Document, ...]:
        """The documents that count after those of the input."""
        return (*self.beside.catalog, *self.beside.cluster)


def request(call: Call, environ: Mapping[str, str], *call_layers: Layer) -> Request:
    """Let all sources decide *call*: flags, parameters, environment, function config, file, in this order.

    *call_layers*: the function config that kustomize hands over.
    """
    layers = layers_of(call, environ, call_layers)
    host = layers.host.values
    chosen = rendering_options(layers)
    options = chosen.values
    objects = _objects(options, host, layers.limits)
    reporting = _reporting(call, host)
    misdirected = tuple(_misdirected(reporting.files, reporting.output))
    return Request(
        CallRequest(call, environ, host.get("deadline", 0), host.get("timings", False)),
        _reading(layers, options),
        _settings(options, host, objects),
        _beside(layers, chosen, objects),
        reporting._replace(files=()) if misdirected else reporting,
        _own(call, host),
        _faults(layers, chosen, objects, misdirected),
    )


class _SettingsObjects(NamedTuple):
    """The objects in files that settings name: those of the *catalog*, and the settings of the *cluster*.

    What a dump of the cluster says of its room stands among the first.
    """

    catalog: ObjectFiles
    cluster: ObjectFiles


def _beside(layers: Layers, chosen: Chosen, objects: _SettingsObjects) -> SettingsRequest:
    options = chosen.values
    named = (
        layers.file.path, options["cluster_config"], options["lock"], *_paths(options),
        *(layers.host.values.get("cluster_objects") or ()),
    )  # fmt: skip
    files = tuple(filter(None, named))
    return SettingsRequest(
        chosen.named,
        files,
        objects.catalog.documents,
        objects.cluster.documents,
        _configured(layers),
        tuple(waivers_of(layers, options)),
    )


def _configured(layers: Layers) -> Mapping[str, Any]:
    """What the configuration files of the repository say, by key: paths as they stand there."""
    folder = os.path.dirname(layers.file.path)
    values = {
        key: config.as_written(key, value, folder)
        for layer in layers.file.layers
        for key, value in layer.values.items()
    }
    layout = layers.repository.layout._asdict().items()
    return values | {key: globs.patterns for key, globs in layout if globs.patterns}


def _faults(
    layers: Layers, chosen: Chosen, objects: _SettingsObjects, misdirected: Sequence[Diagnostic]
) -> RequestFaults:
    """What is wrong with the request: with the command line first, with what files hold last."""
    file, repository = layers.file, layers.repository
    diagnostics = (
        *_call_faults(layers, misdirected),
        *refused_layers(layers),
        *layers.host.diagnostics,
        *file.diagnostics,
        *(repository.diagnostics if repository is not file else ()),
        *chosen.diagnostics,
        *(_at_setting(found, "clusterConfig", file) for found in objects.cluster.diagnostics),
        *(_at_setting(found, "catalog", file) for found in objects.catalog.diagnostics),
    )
    data = {**repository.data, **file.data, **objects.cluster.data, **objects.catalog.data}
    return RequestFaults(diagnostics, file.origins, data)


def _at_setting(found: Diagnostic, key: str, file: ConfigFile) -> Diagnostic:
    """*found* of a path that is not there, or a folder, where the setting *key* of *file* names it."""
    path = found.location.file
    if os.path.lexists(path) and (found.location.line or not os.path.isdir(path)):
        return found
    for layer in file.layers:
        values = layer.values.get(key)
        paths = values if isinstance(values, list) else [values]
        if path in paths:
            place = layer.at(key)
            entry = (paths.index(path),) if paths is values else ()
            placed = found._replace(location=place._replace(path=(*place.path, *entry)))
            from render.manifests.blame import missing

            near = "" if os.path.lexists(path) else missing.near_path(path)
            meant = config.as_written(key, near, os.path.dirname(file.path)) if near else ""
            return placed._replace(help=f"did you mean {meant}?") if meant else placed
    return found


def _objects(
    options: Mapping[str, Any], host: Mapping[str, Any], limits: Limits
) -> _SettingsObjects:
    named = options["cluster_config"]
    cluster = config.cluster_config(named, limits) if named else ObjectFiles()
    catalog = config.catalog(_paths(options), limits)
    dumps = config.cluster_objects(host.get("cluster_objects") or (), limits)
    return _SettingsObjects(catalog.adding(dumps), cluster)


def _paths(options: Mapping[str, Any]) -> list[str]:
    """The paths among the words for the catalogue."""
    return [word for word in options["catalog"] if word not in ("bundled", "none")]


#: Of the options of a rendering those that say what is read for it.
_OF_READING = frozenset({"lock", "values", "file_parameters", "release_name"})


def _reading(layers: Layers, options: Mapping[str, Any]) -> ReadingRequest:
    host = layers.host.values
    return ReadingRequest(
        layers.limits,
        host.get("kustomize", "never"),
        host.get("helm", "never"),
        host.get("allow_remote", False),
        host.get("box") == "require",
        HelmRelease(
            options["values"],
            name=options["release_name"],
            file_parameters=options["file_parameters"],
        ),
        options["lock"],
        layers.repository.layout,
        host.get("jobs", 0) or int(COMMANDS[layers.call.command].hosted),
    )


def _settings(
    options: Mapping[str, Any], host: Mapping[str, Any], objects: _SettingsObjects
) -> Settings:
    body: Tree | None = next((document.body for document in objects.cluster.documents), None)
    word: Catalog = "none" if "none" in options["catalog"] else "bundled"
    values = {name: options[name] for name in options if name not in _OF_READING}
    values |= {
        "catalog": with_objects(word, objects.catalog.documents),
        "cluster_config": body,
        "parameters": tuple(_pairs(host.get("set") or ())),
    }
    return Settings(**values)


def _reporting(call: Call, host: Mapping[str, Any]) -> ReportingRequest:
    command = COMMANDS[call.command]
    output = host.get("output", "")
    return ReportingRequest(
        STDERR if host.get("diff") else command.report,  # a patch has standard output for itself
        host["format"] if FORMAT in command.options else "text",
        tuple((name, to) for name in FORMATS if (to := host.get(f"{name}_file"))),
        "" if output == "-" else output,
        host.get("verbose", False),
        host.get("quiet", False),
        host["fail_on"] if FAIL_ON in command.options else ("error",),
        host.get("max_findings", 0),
    )


def _own(call: Call, host: Mapping[str, Any]) -> Mapping[str, Any]:
    apart: Iterable[Option] = (
        option for option in own_options(call) if option not in (*HOST_OPTIONS, *_SHARED)
    )
    return {option.field: host[option.field] for option in apart} | dict(call.arguments)


def _call_faults(layers: Layers, misdirected: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong with the command line and the environment."""
    call, host = layers.call, layers.host.values
    yield from _unfit_paths(call.paths, host.get("root", ""))
    yield from _exclusive(call)
    yield from _unpaired(host.get("set") or ())
    yield from misdirected
    if COMMANDS[call.command].options:
        known = (*OPTIONS, *HOST_OPTIONS, DEADLINE)
        yield from environment.misspelt(layers.environ, known)
    yield from layers.faults


def again(base: Request, *paths: str) -> Request:
    """The same request for other *paths*, whose own configuration counts."""
    then = request(base.called.call._replace(paths=paths), base.called.environ)
    return then.in_run_of(base)


def _pairs(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if name and equals:
            yield name, value


def _unpaired(texts: Iterable[str]) -> Iterator[Diagnostic]:
    for text in texts:
        if not any(_pairs([text])):
            message = f"--set {text}: no name and value"
            yield USAGE.at(Location(), message, help="write --set NAME=VALUE")


def _exclusive(call: Call) -> Iterator[Diagnostic]:
    """Options of *call* of which only one may be given."""
    for first, other in COMMANDS[call.command].excludes:
        flags = [option.spelled(Source.FLAG) for option in (first, other)]
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
        return
    whole = real_path(root)
    if "-" in paths or all(real_path(path) == whole for path in paths or (".",)):
        message = (
            "--root says where the objects are that files and folders refer to, and none is named"
        )
        yield USAGE.at(Location(), message, help="leave --root out, or name files or folders")


def _misdirected(reports: Iterable[tuple[str, str]], output: str) -> Iterator[Diagnostic]:
    """Reports that would overwrite each other or the *output*, or stand between what standard output has already."""
    taken = {real_path(output): "--output"} if output else {}
    for name, to in reports:
        flag = f"--{name}-file"
        if to == "-" and not output:
            message = f"{flag} -: standard output is taken"
            yield USAGE.at(
                Location(), message, help=f"name a file, or let --format {name} print it"
            )
            continue
        real = to if to == "-" else real_path(to)
        if real in taken and to != os.devnull:
            yield USAGE.at(Location(), f"{taken[real]} and {flag} both name {to}")
        taken.setdefault(real, flag)


Catalog = Literal["bundled", "none"] | Sequence[Tree | str]


def with_objects(catalog: Catalog, documents: Sequence[Document]) -> Catalog:
    """*catalog*, a value of the settings, with the objects of *documents* after those that it has."""
    if not documents:
        return catalog
    entries = [catalog] if isinstance(catalog, str) else catalog
    return [
        *(entry for entry in entries if entry != "bundled"),
        *(document.body for document in documents),
    ]
