"""What Applications of Argo CD tell our plugin of the folders that they have it render, and what it makes of that."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from render.diagnostics.codes import DEFINED_ELSEWHERE, INVALID_SETTING, RELEASE
from render.diagnostics.diagnostic import Diagnostic, Location, Severity
from render.frontends.request import config
from render.frontends.request.options import DEADLINE, HOST_OPTIONS
from render.frontends.request.request import Request
from render.manifests.blame import missing
from render.manifests.documents import Documents
from render.manifests.relevance import is_of_machine
from render.manifests.uses.use import PluginUse
from render.model.apimachinery import dns1123
from render.model.cluster_release import release_of
from render.model.hints import Any, cast
from render.model.release import NEWEST, minor, release_named
from render.settings import OPTIONS, Chosen, Emit, Layer, Source, decide
from render.system import files
from render.system.files import inside, real_path
from render.yaml.budget import Limits
from render.yaml.reader import locate

#: What decides a rendering in a word. Not what makes less be looked at.
_HEEDED = frozenset({"annotations", "defaults", "firmware-uuid", "kubevirt", "namespace", "stored"})
#: What no cluster gets in the place of a VM: settings that have it printed say nothing of how VMs are synced.
UNSYNCED = ("pod",)
_CATALOG = "catalog"
_CLUSTER = "cluster-config"
#: What names files, as seen from the folder that is rendered, and counts.
_NAMING = frozenset({_CATALOG, _CLUSTER, "lock"})
#: What does not name any.
_NO_PATHS = ("", "bundled", "none")
#: What Argo CD puts into the values of variables.
_REPLACED = "$"


def planned(loaded: Documents, request: Request) -> tuple[Request, tuple[str, ...]]:
    """*request* for *loaded*, as Applications have our plugin render it, in the namespace of that.

    And the files and folders that count before all else that stands elsewhere in the repository. What the command line
    says is stronger, and a namespace that somebody has named than that of the destination.
    """
    settings, told = request.settings, _told(loaded, request)
    heeded = {name: value for name, value in told.items() if name in _HEEDED}
    is_fit = loaded.namespace and not dns1123.label_faults(loaded.namespace)
    if is_fit and "namespace" not in {*request.beside.named, *heeded}:
        settings = settings._replace(namespace=loaded.namespace)
    fields = {option.field: heeded[option.name] for option in OPTIONS if option.name in heeded}
    settings = settings._replace(**fields) if fields else settings
    if told.get("admission") == "strict":
        settings = settings._replace(admission="strict")
    catalog = told.get(_CATALOG, ())
    if "none" in catalog and settings.catalog == "bundled":
        settings = settings._replace(catalog="none")
    named = [*catalog, told.get(_CLUSTER, "")]
    beside = tuple(path for path in named if path not in _NO_PATHS)
    reading, lock = request.reading, told.get("lock", "")
    if lock and os.path.lexists(lock):
        reading = reading._replace(lock=lock)
    return request._replace(settings=settings, reading=reading), beside


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
    uses = [loaded.plugins[title] for title in titles]
    # Thousands may be told the same, of each of thousands of folders.
    return [*{(use.told, use.folder if _names_files(use) else ""): use for use in uses}.values()]


def _names_files(use: PluginUse) -> bool:
    """Whether *use* may name files by what counts."""
    names = {name for name, value in (*use.parameters, *use.variables) if value}
    return any(
        option.spelled(source) in names
        for option in OPTIONS
        if option.name in _NAMING
        for source in (Source.PARAMETER, Source.ENVIRONMENT)
    )


def _told(loaded: Documents, request: Request) -> dict[str, Any]:
    """What all say who have our plugin render *loaded*, by option, but for what the command line says."""
    told: list[dict[str, Any]] = []
    for use in _uses(loaded):
        chosen = _chosen(use)
        told.append(
            {
                option.name: _seen_from_here(option.name, chosen.values[option.field], use.folder)
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


def _seen_from_here(name: str, value: Any, folder: str) -> Any:
    """The *value* of the option *name* as it is seen from here, of which a plugin is told that renders *folder*."""
    if name not in _NAMING or value in _NO_PATHS:
        return value
    if isinstance(value, tuple):
        return tuple(_seen_from_here(name, entry, folder) for entry in value)
    return os.path.normpath(os.path.join(folder, value))


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
        for found in (*(chosen := _chosen(use)).diagnostics, *_absent(chosen, use)):
            yield INVALID_SETTING.at(
                _place_of(use),
                f"{title}: {found.message}: our plugin makes nothing of {use.folder}",
                help=found.help,
                severity=Severity.WARNING,
            )


def _absent(chosen: Chosen, use: PluginUse) -> Iterator[Diagnostic]:
    """What is *chosen* by *use* and names what is not there, or not in the repository."""
    for option in OPTIONS:
        value = chosen.values[option.field] if option.name in _NAMING & chosen.named else ()
        for entry in value if isinstance(value, tuple) else (value,):
            path = _seen_from_here(option.name, entry, use.folder)
            if entry in _NO_PATHS or not (fault := _fault_of(path)):
                continue
            near = "" if os.path.lexists(path) else missing.near_path(path)
            cure = f"did you mean {os.path.relpath(near, use.folder)}?" if near else ""
            yield INVALID_SETTING.at(Location(), f"{option.name}: {entry} {fault}", help=cure)


def _fault_of(path: str) -> str:
    """Why *path* cannot be read by who has the repository alone, ``""`` where it can be."""
    top = files.repository(real_path(os.curdir))
    if top and not inside(real_path(path), [top]):
        return "leads out of the repository"
    return "" if os.path.lexists(path) else "is not there"


def _place_of(use: PluginUse) -> Location:
    origin = use.document.origin
    data = files.read(origin.file, origin.file, Limits().file_bytes)
    line, column = (0, 0) if isinstance(data, Diagnostic) else locate(data, origin, use.place)
    return Location(file=origin.file, line=line, column=column)


def told(diagnostics: list[Diagnostic], loaded: Documents, request: Request) -> list[Diagnostic]:
    """*diagnostics* of *loaded*, with a warning for what stands elsewhere, where our plugin misses it.

    It renders a folder without the rest of the repository, unless a catalogue is named.
    """
    diagnostics = [
        _untold(found, loaded, request) if found.code == RELEASE.number else found
        for found in diagnostics
    ]
    if _CATALOG in request.beside.named:
        return diagnostics

    @cache
    def alone(titles: frozenset[str]) -> str:
        """The first of *titles* that has our plugin render with no catalogue but its own; ``""`` for none."""
        known = ((title, loaded.plugins.get(title)) for title in sorted(titles))
        return next((title for title, use in known if use and not _has_settings(use, request)), "")

    return [
        _missed(found, loaded, alone) if found.code == DEFINED_ELSEWHERE.number else found
        for found in diagnostics
    ]


def _has_settings(use: PluginUse, request: Request) -> bool:
    """Whether the settings name a catalogue that count in the folder of *use*, and it does not."""
    return _CATALOG not in _chosen(use).named and _is_set(use, request, _CATALOG)


def _is_set(use: PluginUse, request: Request, *keys: str) -> bool:
    """Whether the settings that count in the folder of *use* say one of *keys*."""
    layers = config.load([use.folder], "", request.reading.limits).layers
    return any(key in layer.values for layer in layers for key in keys)


def _seen_by(use: PluginUse) -> list[str]:
    """The real paths of what our plugin reads by *use*."""
    values = _chosen(use).values
    named = (
        *_seen_from_here(_CATALOG, values[_CATALOG], use.folder),
        _seen_from_here(_CLUSTER, values["cluster_config"], use.folder),
    )
    return [real_path(path) for path in (use.folder, *named) if path not in _NO_PATHS]


def _untold(found: Diagnostic, loaded: Documents, request: Request) -> Diagnostic:
    """*found*, that an object elsewhere tells the release, as a warning where our plugin takes the newest one."""
    lender, index = loaded.borrowed.get(found.location.index or 0, (None, 0))
    if lender is None or "kubevirt" in request.beside.named:
        return found
    document = lender.documents[index]
    evidence = release_of(document.body)
    release = None if evidence is None or evidence.at_least else release_named(evidence.release)
    real = real_path(document.origin.file)
    uses = (use for use in _uses(loaded) if _is_newest(use, real, request))
    use = None if release in (None, NEWEST) else next(uses, None)
    if release is None or use is None:
        return found
    title = next(title for title, each in loaded.plugins.items() if each is use)
    return found._replace(
        severity=Severity.WARNING,
        message=f"{found.message}; {title} has our plugin render {use.folder} alone, and so for {minor(NEWEST)}",
        help=f'give the plugin the parameter kubevirt: "{minor(release)}", or say kubevirt in {config.NAME}',
    )


def _is_newest(use: PluginUse, real: str, request: Request) -> bool:
    """Whether by *use* the newest release is rendered for, since the file *real* that tells another is not seen."""
    chosen = _chosen(use)
    emit = chosen.values["emit"] if "emit" in chosen.named else request.settings.emit
    return not (
        emit == "source"
        or "kubevirt" in chosen.named
        or inside(real, _seen_by(use))
        or _is_set(use, request, "kubevirt", "catalog", "clusterConfig")
    )


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
    if not title or inside(real_path(definition), _seen_by(loaded.plugins[title])):
        return found
    folder = loaded.plugins[title].folder
    seen = os.path.relpath(os.path.dirname(definition) or os.curdir, folder)
    return found._replace(
        severity=Severity.WARNING,
        message=f"{found.message}; {title} has our plugin render {folder} alone, which fails without that",
        help=f"give the plugin the parameter {_CATALOG}: {seen}, or say {_CATALOG} in {config.NAME}",
    )
