"""What Applications of Argo CD tell our plugin of the folders that they have it render, and what it makes of that."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from render.diagnostics.codes import DEFINED_ELSEWHERE, INVALID_SETTING
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.frontends.request import config
from render.frontends.request.options import DEADLINE, HOST_OPTIONS
from render.frontends.request.request import Request
from render.manifests.documents import Documents
from render.manifests.relevance import is_of_machine
from render.manifests.uses.use import PluginUse
from render.model.apimachinery import dns1123
from render.model.hints import Any, cast
from render.settings import OPTIONS, Chosen, Emit, Layer, Settings, Source, decide
from render.system import files
from render.system.files import inside, real_path
from render.yaml.budget import Limits
from render.yaml.reader import locate

#: What decides a rendering in a word. Not what names files, nor what makes less be looked at.
_HEEDED = frozenset({"annotations", "defaults", "firmware-uuid", "kubevirt", "namespace", "stored"})
#: What no cluster gets in the place of a VM: settings that have it printed say nothing of how VMs are synced.
UNSYNCED = ("pod",)
_CATALOG = "catalog"
#: What Argo CD puts into the values of variables.
_REPLACED = "$"


def settings_for(loaded: Documents, request: Request) -> Settings:
    """The settings of *request* for *loaded*, as Applications have our plugin render it, in the namespace of that.

    What the command line says is stronger, and a namespace that somebody has named than that of the destination.
    """
    settings = request.settings
    told = {name: value for name, value in _told(loaded, request).items() if name in _HEEDED}
    is_fit = loaded.namespace and not dns1123.label_faults(loaded.namespace)
    if is_fit and "namespace" not in {*request.beside.named, *told}:
        settings = settings._replace(namespace=loaded.namespace)
    fields = {option.field: told[option.name] for option in OPTIONS if option.name in told}
    return settings._replace(**fields) if fields else settings


def emit_of(loaded: Documents, request: Request) -> Emit | None:
    """How our plugin emits what it makes of *loaded*, None where it does not, not all say the same, or who asks does.

    A setting is stronger than its default, and weaker than what the Application says.
    """
    if "--emit" in request.called.call.flags or not (uses := _uses(loaded)):
        return None
    chosen = [_chosen(use) for use in uses]
    emits = {each.values["emit"] if "emit" in each.named else "" for each in chosen}
    emit = emits.pop() if len(emits) == 1 else None
    is_unfit = any(each.diagnostics for each in chosen)  # nothing is synced then
    if emit is None or is_unfit or (not emit and "emit" in request.beside.named):
        return None
    mode = emit or chosen[0].values["emit"]
    return None if mode in UNSYNCED else cast("Emit", mode)


def chosen_emit(request: Request) -> Emit | None:
    """How settings say that VMs are synced, None where they do not."""
    emit = request.settings.emit
    return emit if "emit" in request.beside.named and emit not in UNSYNCED else None


def _uses(loaded: Documents) -> Sequence[PluginUse]:
    """How our plugin is told to render the VMs of *loaded*; none where anybody else applies one of them."""
    if not loaded.plugins:
        return ()
    users = (
        loaded.users.get(document.origin.file, frozenset())
        for index, document in enumerate(loaded.documents)
        if index not in loaded.borrowed and is_of_machine(document.body)
    )
    applied = {loaded.appliers} if loaded.appliers else {*users}
    titles = {title for each in applied for title in (each or ("",))}
    if not loaded.plugins.keys() >= titles:
        return ()
    # Thousands may be told the same, of each of thousands of folders.
    return [*{loaded.plugins[title].told: loaded.plugins[title] for title in titles}.values()]


def _told(loaded: Documents, request: Request) -> dict[str, Any]:
    """What all say who have our plugin render *loaded*, by option, but for what the command line says."""
    told: list[dict[str, Any]] = []
    for use in _uses(loaded):
        chosen = _chosen(use)
        told.append(
            {
                option.name: chosen.values[option.field]
                for option in OPTIONS
                if option.name in chosen.named
                and option.spelled(Source.FLAG) not in request.called.call.flags
            }
            if not chosen.diagnostics
            else {}
        )
    first = told[0] if told else {}
    return {
        name: value
        for name, value in first.items()
        if all(each.get(name) == value for each in told)
    }


def _chosen(use: PluginUse) -> Chosen:
    """What *use* decides, and what is wrong with it. Of what Argo CD puts into a variable nobody knows what it is."""
    deadline = DEADLINE.spelled(Source.ENVIRONMENT)
    host = {option.spelled(Source.ENVIRONMENT) for option in HOST_OPTIONS}
    parameters = {name: value for name, value in use.parameters if value and name != DEADLINE.name}
    variables = {
        name: value
        for name, value in use.variables
        if value and name not in {deadline, *host} and _REPLACED not in str(value)
    }
    chosen = decide((Layer(Source.PARAMETER, parameters), Layer(Source.ENVIRONMENT, variables)))
    refused = tuple(
        INVALID_SETTING.at(Location(), f"{name} is not for an Application to decide")
        for name, value in use.variables
        if value and name in host
    )
    return chosen._replace(diagnostics=(*chosen.diagnostics, *refused))


def faults(inputs: Iterable[Documents]) -> Iterator[Diagnostic]:
    """What is wrong with what Applications in *inputs* tell our plugin, which then makes nothing of their folders."""
    told = {id(loaded.plugins): loaded.plugins for loaded in inputs if loaded.plugins}
    uses = {
        (id(use.document), use.place): (title, use)
        for plugins in told.values()
        for title, use in plugins.items()
    }
    for title, use in uses.values():
        for found in _chosen(use).diagnostics:
            yield INVALID_SETTING.at(
                _place_of(use),
                f"{title}: {found.message}: our plugin makes nothing of {use.folder}",
                help=found.help,
                severity=Severity.WARNING,
            )


def _place_of(use: PluginUse) -> Location:
    origin = use.document.origin
    data = files.read(origin.file, origin.file, Limits().file_bytes)
    line, column = (0, 0) if isinstance(data, Diagnostic) else locate(data, origin, use.place)
    return Location(file=origin.file, line=line, column=column)


def told(diagnostics: list[Diagnostic], loaded: Documents, request: Request) -> list[Diagnostic]:
    """*diagnostics* of *loaded*, with a warning for a definition that stands elsewhere, where our plugin misses it.

    It renders a folder without the rest of the repository, unless a catalogue is named.
    """
    if _CATALOG in request.beside.named:
        return diagnostics

    @cache
    def alone(titles: frozenset[str]) -> str:
        """The first of *titles* that has our plugin render without a catalogue; ``""`` for none."""
        known = ((title, loaded.plugins.get(title)) for title in sorted(titles))
        return next((title for title, use in known if use and not _has_catalog(use, request)), "")

    return [
        _missed(found, loaded, alone) if found.code == DEFINED_ELSEWHERE.number else found
        for found in diagnostics
    ]


def _has_catalog(use: PluginUse, request: Request) -> bool:
    """Whether *use* names a catalogue, or the settings do that count in its folder."""
    if _CATALOG in _chosen(use).named:
        return True
    layers = config.load([use.folder], "", request.reading.limits).layers
    return any(_CATALOG in layer.values for layer in layers)


def _missed(
    found: Diagnostic, loaded: Documents, alone: Callable[[frozenset[str]], str]
) -> Diagnostic:
    """*found*, that a VM of *loaded* takes a definition from elsewhere, as a warning if our plugin does not."""
    place = [related.location.index for related in found.related][:1]
    if found.location.index is None or not place or place[0] not in loaded.borrowed:
        return found
    file = loaded.documents[found.location.index].origin.file
    title = alone(loaded.appliers or loaded.users.get(file, frozenset()))
    lender, index = loaded.borrowed[place[0]]
    definition = lender.documents[index].origin.file
    if not title or inside(real_path(definition), [real_path(loaded.plugins[title].folder)]):
        return found
    folder = loaded.plugins[title].folder
    seen = os.path.relpath(os.path.dirname(definition) or os.curdir, folder)
    return found._replace(
        severity=Severity.WARNING,
        message=f"{found.message}; {title} has our plugin render {folder} alone, which fails without that",
        help=f"give the plugin the parameter {_CATALOG}: {seen}, or say {_CATALOG} in {config.NAME}",
    )
