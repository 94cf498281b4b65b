"""Who says what of a call: the layers that decide its options, strongest first, and what some of them may not."""

import os
from collections.abc import Iterable, Iterator, Mapping

from render.diagnostics.codes import INVALID_SETTING
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends.request import config, environment
from render.frontends.request.commands import COMMANDS, Call
from render.frontends.request.config import ConfigFile
from render.frontends.request.options import CONFIG, DEADLINE, HOST_OPTIONS
from render.model.hints import Any
from render.model.named_tuple import NamedTuple
from render.settings import OPTIONS, Chosen, Layer, Option, Source, decide
from render.system.files import real_path
from render.yaml.budget import Limits


class Layers(NamedTuple):
    """What was said of a *call*.

    *host* is what is decided of the options beside those of a rendering, *limits* what input may cost by that. *file*
    is the configuration, *repository* that at the root of the repository, the same one where there is no other;
    *application* is what an Argo CD Application says, *written* what stands in files: the function config and the
    configuration. *faults* are those of parameters.
    """

    call: Call
    environ: Mapping[str, str]
    host: Chosen
    limits: Limits
    file: ConfigFile
    repository: ConfigFile
    application: tuple[Layer, ...]
    written: tuple[Layer, ...]
    faults: tuple[Diagnostic, ...] = ()

    @property
    def is_config_named(self) -> bool:
        """Whether who runs the program named the configuration file, and so answers for what it says."""
        return bool(self.host.values.get("config"))

    @property
    def trusted(self) -> list[str]:
        """The folders into which settings may lead."""
        return _folders(self.host.values)


def layers_of(call: Call, environ: Mapping[str, str], call_layers: tuple[Layer, ...]) -> Layers:
    """What was said of *call*; *call_layers* is the function config that kustomize hands over."""
    command = COMMANDS[call.command]
    faults: list[Diagnostic] = []
    if DEADLINE in command.options:
        from render.frontends.request import parameters

        layer, faults = parameters.parameters(environ)
        call_layers = (*call_layers, layer)
    host = host_values(call, environ, *call_layers)
    limits = limits_of(host.values)
    file = ConfigFile()
    if CONFIG in command.options:
        file = config.load(call.paths, host.values["config"], limits, _folders(host.values))
    repository = config.of_repository(call.paths, limits) if command.whole else file
    is_file = file.path and real_path(file.path) == real_path(repository.path)
    if not repository.path or is_file:
        repository = file
    function_config = (layer for layer in call_layers if layer.source is Source.FUNCTION_CONFIG)
    return Layers(
        call,
        environ,
        host,
        limits,
        file,
        repository,
        tuple(_parameters(environ, *call_layers)),
        (*function_config, *file.layers),
        tuple(faults),
    )


def _folders(values: Mapping[str, Any]) -> list[str]:
    folders: str = values.get("settings_folders", "")
    return folders.split(os.pathsep)


def rendering_options(layers: Layers) -> Chosen:
    """What is decided of the options of a rendering: flags, Application, environment, files, in this order."""
    names = {option.spelled(Source.FLAG) for option in OPTIONS}
    names -= {option.spelled(Source.FLAG) for option in own_options(layers.call)}
    flags = {k: v for k, v in layers.call.flags.items() if k in names}
    chosen = decide(
        (
            Layer(Source.FLAG, flags),
            *map(_without_host_options, _of_rendering(layers)),
            Layer(Source.ENVIRONMENT, environment.plain(layers.environ, OPTIONS)),
            *map(_without_host_options, layers.written),
            Layer(Source.ENVIRONMENT, environment.destination(layers.environ)),
        )
    )
    chosen.values.update(
        (name.replace("-", "_"), value)
        for name, value in COMMANDS[layers.call.command].defaults
        if name not in chosen.named
    )
    if any(_strays(layers)):  # nothing of them is read, not to say what stands there
        chosen.values.update(cluster_config="", lock="", catalog=("none",), values=())
    return chosen


def refused_layers(layers: Layers) -> Iterator[Diagnostic]:
    """What repositories and Applications want to decide, and may not."""
    yield from _host_only_options_set((*_of_rendering(layers), *layers.written))
    names = layers.host.values.get("locked", "")
    yield from locked_options_set((*layers.application, *layers.written), layers.repository, names)
    yield from _strays(layers)
    yield from _deadline_above_maximum(layers.application, layers.host.values)


def _strays(layers: Layers) -> Iterator[Diagnostic]:
    """Paths of Applications and function configs that lead out of the repository."""
    configs = (layer for layer in layers.written if layer.source is Source.FUNCTION_CONFIG)
    for layer in (*_of_rendering(layers), *configs):
        yield from config.strays(layer, layers.trusted)


def _of_rendering(layers: Layers) -> list[Layer]:
    """What the Application says of the rendering."""
    return [_split(layer, deadline=False) for layer in layers.application]


def own_options(call: Call) -> tuple[Option, ...]:
    """The options of *call* beside those of a rendering."""
    return tuple(option for option in COMMANDS[call.command].options if option not in OPTIONS)


def host_values(call: Call, environ: Mapping[str, str], *call_layers: Layer) -> Chosen:
    """What is decided of the options that *call* has beside those of a rendering."""
    own = own_options(call)
    flags = {option.spelled(Source.FLAG) for option in own}
    names = {option.name for option in (*HOST_OPTIONS, DEADLINE)}
    variables = tuple(option for option in own if option.name in names)
    application_layers = _parameters(environ, *call_layers) if DEADLINE in own else []
    applications = [_split(layer, deadline=True) for layer in application_layers]
    return decide(
        (
            Layer(Source.FLAG, {k: v for k, v in call.flags.items() if k in flags}),
            *applications,
            Layer(Source.ENVIRONMENT, environment.plain(environ, variables)),
        ),
        own,
    )


def _parameters(environ: Mapping[str, str], *call_layers: Layer) -> list[Layer]:
    """What an Argo CD Application says: its parameters, then its variables."""
    parameters = [layer for layer in call_layers if layer.source is Source.PARAMETER]
    known = (*OPTIONS, *HOST_OPTIONS, DEADLINE)
    variables = environment.application(environ, known)
    also = (DEADLINE.spelled(Source.ENVIRONMENT),)
    return [*parameters, Layer(Source.ENVIRONMENT, variables, others=also)]


def _split(layer: Layer, *, deadline: bool) -> Layer:
    """Of what an Application says, the *deadline*, which belongs to the run, or the settings of the rendering."""
    name = DEADLINE.spelled(layer.source)
    return layer._replace(values={k: v for k, v in layer.values.items() if (k == name) is deadline})


def _without_host_options(layer: Layer) -> Layer:
    host = {option.spelled(layer.source) for option in HOST_OPTIONS}
    return layer._replace(values={k: v for k, v in layer.values.items() if k not in host})


def _host_only_options_set(layers: Iterable[Layer]) -> Iterator[Diagnostic]:
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


def locked_options_set(
    layers: Iterable[Layer], repository: ConfigFile, names: str
) -> Iterator[Diagnostic]:
    """What a *repository* or an Application wants to decide although who runs the program has locked it."""
    options = {option.name: option for option in (*OPTIONS, DEADLINE)}
    layout = repository.layout._asdict()
    for name in filter(None, (name.strip() for name in names.split(","))):
        if name in layout:
            if layout[name].patterns:
                place = Location(path=("spec", name), index=0, file=repository.path)
                yield _locked(place, Source.FILE, name)
            continue
        if name not in options:
            message = (
                f"locked: there is no option {name} that an Application or a repository may set"
            )
            known = ", ".join((*options, *layout))
            yield INVALID_SETTING.at(Location(), message, help=f"known: {known}")
            continue
        for layer in layers:
            key = options[name].spelled(layer.source)
            if key in layer.values:
                yield _locked(layer.at(key), layer.source, key)


def _locked(place: Location, source: Source, key: str) -> Diagnostic:
    message = f"{source.value} {key} is locked by who runs virt-render"
    return INVALID_SETTING.at(place, message, help="take it out")


def _deadline_above_maximum(
    layers: Iterable[Layer], values: Mapping[str, Any]
) -> Iterator[Diagnostic]:
    """A deadline of an Application beyond what who runs the program allows."""
    most = values.get("max_deadline", 0)
    for layer in layers:
        key = DEADLINE.spelled(layer.source)
        seconds = str(layer.values.get(key, ""))
        if seconds.isdecimal() and (len(seconds) > len(str(most)) or int(seconds) > most):
            yield INVALID_SETTING.at(
                layer.at(key),
                f"{layer.source.value} {key}: more than the {most} seconds that are allowed",
                help="who runs virt-render may raise --max-deadline",
            )


def limits_of(values: Mapping[str, Any]) -> Limits:
    """The limits among the values of host options, all of which are left."""
    usual = Limits()._asdict()
    return Limits(**{name: values.get(f"max_{name}", usual[name]) for name in usual}).of_run()
