"""Which settings of a repository or an Application make less be looked at, or checked, than without them."""

from collections.abc import Container, Iterator, Mapping

from render.frontends.request import environment
from render.frontends.request.commands import COMMANDS
from render.frontends.request.layers import Layers
from render.model.hints import Any
from render.report.waivers import Waiver
from render.settings import OPTIONS, Layer, Option, Source


def waivers_of(layers: Layers, values: Mapping[str, Any]) -> Iterator[Waiver]:
    """What *layers* waive of a rendering whose options have *values*; what who runs the program asked for is none."""
    plain = environment.plain(layers.environ, OPTIONS)
    usual = dict(COMMANDS[layers.call.command].defaults)
    for option in OPTIONS:
        value = values[option.field]
        is_usual = value == usual.get(option.name, option.default)
        layer = None if is_usual else _author(option, layers, plain)
        if layer and value in option.waives:
            yield Waiver(option.spelled(layer.source), value, _named(layer))
    is_ours = layers.is_config_named and layers.repository is layers.file
    if COMMANDS[layers.call.command].whole and not is_ours:
        for key, globs in layers.repository.layout._asdict().items():
            if globs.patterns:
                yield Waiver(key, globs.patterns, layers.repository.path)


def waivers_of_flags(
    settings: Mapping[str, Any], file: str, flags: Container[str]
) -> Iterator[Waiver]:
    """What *file* waives that has *settings* as flags, unless *flags* of who runs the program decide it."""
    for option in OPTIONS:
        flag = option.spelled(Source.FLAG)
        value = settings.get(flag)
        if value in option.waives and flag not in flags:
            yield Waiver(option.spelled(Source.FILE), value, file)


def _author(option: Option, layers: Layers, plain: Mapping[str, str]) -> Layer | None:
    """Who decided *option*, if that is not who runs the program."""
    if option.spelled(Source.FLAG) in layers.call.flags:
        return None
    for layer in layers.application:
        if option.spelled(layer.source) in layer.values:
            return layer
    if option.spelled(Source.ENVIRONMENT) in plain:
        return None
    for layer in layers.written:
        if option.spelled(layer.source) in layer.values:
            is_named = layer.source is Source.FILE and layers.is_config_named
            return None if is_named else layer
    return None


def _named(layer: Layer) -> str:
    """What people call *layer*: its file, or what kind of setting it is."""
    if layer.source is Source.FILE and layer.location:
        return layer.location.file
    if layer.source is Source.FUNCTION_CONFIG:
        return "the function config"
    return f"the Application ({layer.source.value})"
