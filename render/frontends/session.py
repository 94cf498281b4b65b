"""What every command that renders shares: its input, the rendering, and what is to be written."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from render.diagnostics import codes, defects
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity, at
from render.diagnostics.exits import Exit
from render.diagnostics.fix import Fix, choice, quote, rename, set_to
from render.diagnostics.suppression import suppress
from render.frontends import locks
from render.frontends.answer import RefusedError
from render.frontends.parts import FleetPart
from render.frontends.progress import Work, in_words
from render.frontends.request.commands import COMMANDS
from render.frontends.request.request import Request
from render.machine import Machine
from render.manifests import kustomization
from render.manifests.discover import CHART, is_chart, tidy
from render.manifests.documents import Documents, UnreadHolder
from render.manifests.objects import may_define
from render.manifests.relevance import Scope
from render.manifests.sources import loading
from render.manifests.sources.reading import Reading
from render.model import tree
from render.model.counting import counted
from render.model.fieldpath import FieldPath
from render.model.hints import TYPE_CHECKING, BinaryIO, TypeVar
from render.model.release import NEWEST, release_named
from render.model.resource import (
    INSTANCETYPE_GROUP,
    KUBEVIRT,
    Resource,
    ResourceRef,
    from_body,
)
from render.model.tree import Tree
from render.pipeline import Rendered, run
from render.settings import Settings
from render.system import files, signals
from render.system.files import inside, real_path
from render.system.streams import standard_input
from render.yaml.budget import Limits
from render.yaml.reader import Document

if TYPE_CHECKING:
    from render.pipeline.input.unchanged import Unchanged

T = TypeVar("T")


def single(request: Request, work: Work) -> FleetPart:
    """The paths of *request*, or the current folder without one, as one part; *work* sees the documents come in."""
    paths = request.paths or (".",)
    built = [
        path for path in paths if request.reading.kustomize != "never" and kustomization.find(path)
    ]
    doing = f"building {built[0]} with kustomize" if built else f"reading {in_words(paths)}"
    work.begin("read", doing)
    loaded = loading.load(paths, reading(request, standard_input()), watch=work.inputs)
    return _noted(FleetPart(loaded, request), work)


def fleet(
    request: Request, work: Work, inputs: Sequence[Documents] | None = None
) -> Iterator[FleetPart]:
    """Each root below the paths of *request*, with what its VMs find in the others: *inputs*, if read already.

    All that is found in these parts is part of the command's answer, unless that has findings of its own.
    """
    from render.frontends.inputs.neighbours import with_neighbours
    from render.manifests.repository.neighbours import Neighbours

    if inputs is None:
        paths = request.paths or (".",)
        work.begin("read", f"reading {in_words(paths)}")
        inputs = read_roots(paths, request, work)
    neighbours = Neighbours(inputs, request.reading.layout.shared)
    for loaded in inputs:
        yield _noted(FleetPart(loaded, with_neighbours(request, loaded, neighbours)), work)


def around(
    request: Request, work: Work, paths: Sequence[str] = (), top: str = ""
) -> list[Documents]:
    """What stands in the repositories around *paths*, those of *request* without any, or in *top*, beside these."""
    paths = paths or request.paths or (".",)
    reals = {real_path(path) for path in paths}
    tops = {real_path(top) if top else files.repository(real) for real in reals} - {"", *reals}
    if not tops or "-" in paths:
        return []
    known = len(work.inputs)
    found = read_roots([*map(os.path.relpath, sorted(tops))], request, work)
    del work.inputs[known:]
    return [loaded for loaded in found if not inside(real_path(loaded.folder), reals)]


def beside_the_rest(
    judge: Callable[[], T],
    misses: Callable[[T], bool],
    read: Sequence[FleetPart],
    request: Request,
    work: Work,
) -> T:
    """What *judge* makes of the parts *read*; anew beside what stands around them, where that *misses* something."""
    found = judge()
    return judge() if misses(found) and lend(around(request, work), read, request) else found


def lend(others: Sequence[Documents], read: Sequence[FleetPart], request: Request) -> bool:
    """Let the VMs of the parts *read*, for *request*, find what stands in *others*; whether there are any."""
    from render.frontends.inputs.neighbours import with_neighbours
    from render.manifests.repository.neighbours import Neighbours

    if not others:
        return False
    inputs = [*(part.loaded for part in read), *others]
    neighbours = Neighbours(inputs, request.reading.layout.shared)
    for part in read:
        part.request = with_neighbours(request, part.loaded, neighbours)
    return True


def parts(request: Request, work: Work) -> list[FleetPart]:
    """What the paths of *request* hold: the roots of folders, a kustomization, a chart or files as one part.

    Where nobody can build what stands in a folder, the roots below it count by themselves, as for ``check``.
    """
    if all(is_repository(path, request) for path in request.paths or (".",)):
        return [*fleet(request, work)]
    part = single(request, work)
    return below_unbuilt(part, request, work) or [part]


def below_unbuilt(part: FleetPart, request: Request, work: Work) -> list[FleetPart]:
    """The roots below a folder of which nobody can build what stands in it, *part*; none if there is nothing else."""
    loaded, paths = part.loaded, request.paths or (".",)
    has_error = any(diagnostic.is_error for diagnostic in loaded.diagnostics)
    if loaded.documents or not has_error or not all(map(os.path.isdir, paths)):
        return []
    work.parts.remove(part)
    below = [*fleet(request, work)]
    if any(root.loaded.documents for root in below):
        return below
    work.parts[:] = [part]
    return []


def is_repository(path: str, request: Request) -> bool:
    """Whether *path* is a folder that kustomize and helm make nothing of."""
    how = request.reading
    is_built = how.kustomize != "never" and kustomization.find(path) is not None
    is_filled = how.helm != "never" and is_chart(path)
    return path != "-" and os.path.isdir(path) and not is_built and not is_filled


def unread(part: FleetPart) -> str:
    """What of *part* cannot be read, and the codes of the errors that say why; nothing where all can be."""
    files = part.loaded.unread_files
    if files:
        return ", ".join(f"{file} ({', '.join(numbers)})" for file, numbers in files.items())
    errors = dict.fromkeys(
        diagnostic.code for diagnostic in part.loaded.diagnostics if diagnostic.is_error
    )
    return f"{part.loaded.title} ({', '.join(errors)})" if errors else ""


def unread_status(parts: Iterable[FleetPart]) -> Exit:
    """The status of an answer about all of *parts*: it is not whole where one of them cannot be read."""
    return status(
        diagnostic for part in parts if unread(part) for diagnostic in part.loaded.diagnostics
    )


def demand(part: FleetPart, request: Request) -> None:
    """Raise RefusedError where *part* has one of the paths of *request*, and that cannot be read."""
    named = {tidy(path) for path in request.paths or (".",)}
    faults = [
        diagnostic
        for diagnostic in part.diagnostics
        if diagnostic.code == codes.UNREADABLE.number and tidy(diagnostic.location.file) in named
    ]
    if faults:
        from render.frontends.reporting import findings_of
        from render.report.findings import merge

        raise RefusedError(merge(findings_of(part.loaded, faults, part.request)))


#: Commands whose answer is about every VM: it is not whole without what may not be read.
_OF_ALL_VMS = frozenset({"check", "report", "used-by"})
#: What is said of a definition that another input has.
_OF_BORROWED = frozenset({codes.DEFINED_ELSEWHERE.number, codes.RENAMED_AWAY.number})
#: Kinds of objects that any VM may be rendered otherwise by, and what may spell their names in other letters.
_OF_ALL = (b"Preset", b"KubeVirt", b"HyperConverged", b"\\u", b"\\x", b"\\U")


def unread_texts(loaded: Documents) -> tuple[bytes, ...]:
    """What the files say that alone cannot be read, as far as only some VMs may depend on them; else nothing.

    Of one that cannot be opened that is nothing: a VM depends on it that misses something.
    """
    files_ = loaded.unread_files
    texts = {file: loaded.data.get(file, b"") for file in files_}
    unknown = (files_[file] for file, text in texts.items() if not text)
    if any(numbers != (codes.UNREADABLE.number,) for numbers in unknown):
        return ()
    if any(word in text for text in texts.values() for word in _OF_ALL):
        return ()
    return tuple(texts.values())


def _noted(part: FleetPart, work: Work) -> FleetPart:
    work.parts.append(part)
    return part


def reading(request: Request, stdin: BinaryIO | None) -> Reading:
    """How *request* wants input to be read."""
    how, settings = request.reading, request.settings
    kubevirt = release_named(settings.kubevirt) or NEWEST
    return Reading(
        how.limits,
        stdin,
        how.kustomize,
        how.allow_remote,
        how.is_box_required,
        helm=how.helm,
        chart=how.chart._replace(namespace=settings.namespace, kubevirt=kubevirt),
        lock=how.lock,
        jobs=how.jobs,
        buffers=how.buffers,
    )


def read_roots(
    paths: Sequence[str], request: Request, work: Work, *, anything: bool = False
) -> list[Documents]:
    """What is below *paths* of a repository, one input a root: each kustomization, and folders of loose files.

    *anything* as for `loading.load_all`. Who writes a lock must know of every VM, and so what cannot be read.
    """
    from render.frontends.request import config, plugins

    how = reading_roots(request, standard_input())
    inputs = loading.load_all(paths, how, anything=anything, watch=work.inputs)
    inputs[0].diagnostics += config.unmatched(request.reading.layout, request.reading.limits)
    inputs[0].diagnostics += plugins.faults(inputs)
    found = laid_out(inputs, request)
    if request.called.call.command == "check":
        locks.tell_removed(found, request)
    return found


def reading_roots(request: Request, stdin: BinaryIO | None) -> Reading:
    """How *request* wants a repository to be read."""
    command = request.called.call.command
    layout = request.reading.layout
    scope = Scope(
        layout.exclude,
        lenient=command != "pin",
        demands_closed=command in _OF_ALL_VMS,
        shared=layout.shared,
    )
    return reading(request, stdin)._replace(scope=scope)


def laid_out(inputs: Sequence[Documents], request: Request) -> list[Documents]:
    """*inputs*, the loose files among them in one part a root, with the locks that are in use."""
    from render.frontends.inputs.copies import leave_out_rendered
    from render.manifests.repository import roots

    named, namespace = request.reading.layout.roots, request.settings.namespace
    divided = [
        [loaded] if loaded.is_one_root else roots.split(loaded, named, namespace)
        for loaded in inputs
    ]
    found = [part for several in divided for part in several]
    leave_out_rendered(found, namespace)
    for loaded, several in zip(inputs, divided, strict=True):
        if len(several) > 1 and not named.patterns:
            several[0].apart = roots.apart(loaded, several, namespace)
    locked = locks.in_use(found)
    for part in found:
        part.locked = locked
    return found


def rendering(loaded: Documents) -> str:
    """That *loaded* is being rendered, in words."""
    return f"rendering {counted(len(loaded.documents), 'object')}"


def render_part(  # noqa: PLR0913 - as `run`
    part: FleetPart,
    work: Work,
    sink: Callable[[Tree, int | None], None] | None = None,
    observe: Callable[[Machine, Tree], None] | None = None,
    settings: Settings | None = None,
    *,
    traced: bool = True,
    emitter: Callable[[Machine], Tree] | None = None,
) -> Rendered:
    """Render the documents of *part*, with other *settings* if these are given; what is found is added to it.

    *sink* gets each resource as soon as it is made; `Rendered.resources` then stays empty. *observe* is told each
    machine, with provenance if *traced*, and what became of it, which *emitter* may make in place of the emit mode.
    """
    work.begin("render", rendering(part.loaded))
    request = part.request if settings is None else part.request._replace(settings=settings)
    try:
        rendered, part.diagnostics = render_loaded(
            part.loaded, request, sink, observe, traced=traced, emitter=emitter
        )
    except defects.KINDS as error:
        fault = _survived(error, Location(file=part.loaded.folder))
        rendered = Rendered([], (), (), ())
        part.diagnostics = [*part.loaded.diagnostics, fault]
    part.is_rendered = True
    return rendered


def _survived(error: Exception, location: Location) -> Diagnostic:
    """The finding that a fault of ours at *location* is; raises *error* where it only came of a stop."""
    if signals.behind(error) is not None:
        raise error
    signals.trace(error)
    return defects.finding(error, location)


def render_loaded(  # noqa: PLR0913 - as `run`
    loaded: Documents,
    request: Request,
    sink: Callable[[Tree, int | None], None] | None = None,
    observe: Callable[[Machine, Tree], None] | None = None,
    unchanged: "Unchanged | None" = None,
    *,
    traced: bool = True,
    emitter: Callable[[Machine], Tree] | None = None,
    known: Sequence[Resource] = (),
) -> tuple[Rendered, list[Diagnostic]]:
    """Render the documents of *loaded*; the findings of reading and rendering together. See `render_part` and `run`.

    Without *traced* no machine is observed with provenance; *known* as for `resources_of`.

    Where part of the input could not be read, that an object was not found says nothing: it may stand there.
    """
    locks.choose(loaded, request)
    resources = resources_of(loaded.documents, known)
    rendered = run(
        resources, request.settings, observe, sink=sink, unchanged=unchanged,
        traced=traced and observe is not None, emitter=emitter,
        survive=lambda error, resource: _survived(error, at(resource)),
        budget=request.reading.limits.budget,
    )  # fmt: skip
    for place, document in enumerate(request.around, len(loaded.documents)):
        if place not in loaded.borrowed:
            loaded.data.add_lent(document.origin.file, request.reading.limits.file_bytes)
    limits = request.reading.limits
    of_rendering = _unless_following(rendered.diagnostics, loaded, resources, limits)
    of_text = (*_ambiguities(loaded, resources), *_unordered(loaded, resources))
    ambiguous = suppress(of_text, resources, reading=True)
    if loaded.is_server_side and request.called.call.command in _OF_ALL_VMS:
        of_rendering = _as_applied(of_rendering, loaded)
    diagnostics = [*loaded.diagnostics, *ambiguous, *of_rendering]
    if loaded.filled or loaded.borrowed or loaded.substituted:
        diagnostics = _traced(loaded, diagnostics, request)
    if not rendered.sources and not request.settings.allow_empty and not status(diagnostics):
        diagnostics.append(no_objects(request, loaded))
    return rendered, diagnostics


def _as_applied(diagnostics: list[Diagnostic], loaded: Documents) -> list[Diagnostic]:
    """*diagnostics* with what a server-side apply makes of *loaded*, unless that is rendered before."""
    if loaded.plugins or locks.counts_for(loaded):
        return diagnostics
    from render.diff import server_side

    return server_side.told(diagnostics, filter(None, (loaded.user, *loaded.appliers)))


def _unless_following(
    diagnostics: Collection[Diagnostic],
    loaded: Documents,
    resources: Sequence[Resource],
    limits: Limits,
) -> list[Diagnostic]:
    """*diagnostics* but for those that may only follow from what cannot be read: also from what may stand there.

    What is said of a VM without a definition that it may have goes with that which says that this is missing.
    """
    unread = loaded.unread_files
    is_known = all(error.location.file in unread for error in loaded.diagnostics if error.is_error)
    texts = [
        text
        for file in unread
        for text in (files.read(file, file, limits.file_bytes),)
        if not isinstance(text, bytes) or may_define(file, text, limits)
    ]
    refused = {each.resource for each in diagnostics if each.code == codes.UNKNOWN_KIND.number}
    kept: list[Diagnostic] = []
    doubtful: set[int | None] = set()
    for each in diagnostics:
        if not codes.CODES[each.code].follows:
            kept.append(unless_unread(each, loaded, resources))
            continue
        known = is_known and not _may_hold(texts, _name_missed(each, resources))
        missing = unless_unread(each, loaded, resources)
        if not known or missing is not each:
            doubtful.add(each.location.index)
        if known or (loaded.unreported and missing is not each):
            kept.append(_unless_refused(missing, refused, resources))
    return without_unclear(kept, doubtful)


def without_unclear(
    diagnostics: Iterable[Diagnostic], doubtful: Collection[int | None]
) -> list[Diagnostic]:
    """*diagnostics* without what definitions may mend of the VMs at the indexes *doubtful*, which may have some."""
    if not doubtful:
        return [*diagnostics]
    from render.pipeline.input.open_fields import OF_DEFINITIONS

    return [
        each
        for each in diagnostics
        if each.location.index not in doubtful or each.code not in OF_DEFINITIONS
    ]


def _name_missed(diagnostic: Diagnostic, resources: Sequence[Resource]) -> str:
    """The name of the object that *diagnostic* misses, ``""`` where it misses none."""
    place = diagnostic.location
    if not codes.CODES[diagnostic.code].follows or place.path[-1:] != ("name",):
        return ""
    if place.index is None or place.index >= len(resources):
        return ""
    name = tree.get(resources[place.index].body, *place.path)
    return name if isinstance(name, str) else ""


def _may_hold(texts: Iterable[bytes | Diagnostic], name: str) -> bool:
    """Whether the object *name* may stand in one of *texts*, which cannot be parsed."""
    return bool(name) and any(
        not isinstance(text, bytes) or name.encode() in text for text in texts
    )


def _unless_refused(
    diagnostic: Diagnostic, refused: Collection[ResourceRef | None], resources: Sequence[Resource]
) -> Diagnostic:
    """*diagnostic* without another name for a definition that is there, and is *refused* as it is written."""
    name = _name_missed(diagnostic, resources) if refused else ""
    same = next((ref for ref in refused if name and ref is not None and ref.name == name), None)
    return diagnostic if same is None else diagnostic._replace(help=f"mend {same} first", fixes=())


def unless_unread(
    diagnostic: Diagnostic, loaded: Documents, resources: Sequence[Resource]
) -> Diagnostic:
    """*diagnostic*, no error where it misses what may stand in an input of the repository that cannot be read.

    That a pinned definition is gone is a note, and says that too where it may stand in a file of the own input.
    """
    is_gone = diagnostic.code == codes.OBJECT_GONE.number
    subject = diagnostic.location.resource
    name = subject.name if is_gone and subject else _name_missed(diagnostic, resources)
    if not name:
        return diagnostic
    holder = loaded.unread_holder(name)
    if not holder.words:
        holder = _unread_holder(loaded, name, loaded.unread_files if is_gone else loaded.unreported)
    if not holder.words:
        return diagnostic
    is_told = holder.words in diagnostic.message
    return diagnostic._replace(
        severity=diagnostic.severity if is_gone else Severity.WARNING,
        message=diagnostic.message
        if is_told
        else f"{diagnostic.message}; it may stand in {holder.words}",
        related=(
            *diagnostic.related,
            *(Related("this cannot be read", place) for place in holder.places),
        ),
        help=holder.cure or f"first mend {holder.words}",
        fixes=(),
    )


def _unread_holder(loaded: Documents, name: str, among: Iterable[str]) -> UnreadHolder:
    """The file of *loaded*, *among* those that cannot be read, that may hold the object *name*."""
    texts = ((file, loaded.data.get(file, b"")) for file in among)
    holders = (
        loaded.unread([file])
        for file, text in texts
        if _may_hold([text], name) and may_define(file, text, Limits())
    )
    return next(holders, UnreadHolder())


def _traced(loaded: Documents, diagnostics: list[Diagnostic], request: Request) -> list[Diagnostic]:
    """*diagnostics* with where what is at fault comes from, if that is not the place that they have."""
    if loaded.plugins and loaded.borrowed:
        from render.frontends.request import plugins

        diagnostics = plugins.told(diagnostics, loaded, request)
    return [_with_values(loaded, _with_lender(loaded, each)) for each in diagnostics]


def _with_lender(loaded: Documents, diagnostic: Diagnostic) -> Diagnostic:
    """*diagnostic* with the other input by which a definition that *loaded* borrows comes to the cluster."""
    if diagnostic.code not in _OF_BORROWED:
        return diagnostic
    related = [
        each._replace(message=f"{each.message}, and comes with {lender[0].name}")
        if (lender := loaded.borrowed.get(each.location.index or 0)) and lender[0].is_one_root
        else each
        for each in diagnostic.related
    ]
    return diagnostic._replace(related=tuple(related))


def _with_values(loaded: Documents, diagnostic: Diagnostic) -> Diagnostic:
    """*diagnostic* with the value that a chart fills in there, or the files with its values where that is not known."""
    place = diagnostic.position or diagnostic.location
    values = [] if place.index is None else loaded.values(place.index, place.path)
    unset = "" if place.index is None else loaded.unset(place.index, place.path)
    if unset:
        return diagnostic._replace(help="; ".join(filter(None, (unset, diagnostic.help))))
    if not values:
        return diagnostic
    file, line, column = values[-1]
    if line:
        value = Location(diagnostic.resource, place.path, None, file, line, column)
        if _is_of_value_alone(loaded, place):
            template = Related("it is filled in here", place._replace(path=()))
            related = (*diagnostic.related, template)
            return diagnostic._replace(position=value, related=related)
        return diagnostic._replace(
            related=(*diagnostic.related, Related("the value comes from here", value))
        )
    names = ", ".join(file for file, *_ in values)
    return diagnostic._replace(
        help="; ".join(filter(None, (diagnostic.help, f"its values come from {names}")))
    )


def _is_of_value_alone(loaded: Documents, place: Location) -> bool:
    """Whether of *place* nothing but its value has a line: a template prints it with others, and it is no secret."""
    if place.index is None or not loaded.filled or loaded.blame(place.index, place.path):
        return False
    from render.diagnostics import secrets

    return not secrets.is_secret(place.path, place.resource.kind if place.resource else "")


def resources_of(documents: Sequence[Document], known: Sequence[Resource] = ()) -> list[Resource]:
    """The objects of *documents*: those that are *known* of the same trees at the same places."""
    same = len(known)
    return [
        known[index]
        if index < same
        and known[index].body is document.body
        and known[index].origin is document.origin
        else _resource(document, index)
        for index, document in enumerate(documents)
    ]


def _resource(document: Document, index: int) -> Resource:
    """The object of *document*, with the name that it had until kustomize built it.

    Its text says at once whether there may be a placeholder in it.
    """
    text = document.text
    doubtful = text is None or "{{" in text or "${" in text or "\\" in text
    resource = from_body(document.body, index, document.origin, may_hold_placeholders=doubtful)
    before = document.before
    previous = tree.get(before, "metadata", "name") if before else resource.name
    return resource if previous == resource.name else resource._replace(previous=str(previous))


def no_objects(
    request: Request, loaded: Documents, wanted: str = "Kubernetes object"
) -> Diagnostic:
    """That *loaded* has no object that is *wanted*: empty output would tell who applies it to remove everything."""
    where = ", ".join("standard input" if path == "-" else path for path in request.paths)
    tidied = {tidy(path) for path in request.paths}
    skipped = [
        d.message for d in loaded.diagnostics if d.location.file in tidied and not d.is_error
    ]
    return codes.NO_OBJECTS.at(
        Location(),
        "; ".join([f"no {wanted} in {where or 'the current folder'}", *skipped]),
        help=_cure(request, loaded),
    )


def _cure(request: Request, loaded: Documents) -> str:
    names = {option.name for option in COMMANDS[request.called.call.command].options}
    allowing = "--allow-empty" if "allow-empty" in names else "VIRT_RENDER_ALLOW_EMPTY=true"
    if request.paths == ("-",):
        return f"look at what writes to it, which printed nothing, or accept an empty input with {allowing}"
    charts = (d.location.file for d in loaded.diagnostics if d.message.endswith(CHART))
    chart = next((os.path.dirname(folder) or "." for folder in charts), "")
    if chart:
        return f"a Helm chart has to be rendered first: helm template {chart} | virt-render build -"
    return f"check the path (-v says what was skipped), or accept an empty input with {allowing}"


def _ambiguities(loaded: Documents, resources: Sequence[Resource]) -> Iterator[Diagnostic]:
    """Unquoted values in KubeVirt's objects that kustomize and kubectl read differently."""
    for document, resource in zip(loaded.documents, resources, strict=True):
        if not document.ambiguous or resource.group not in (KUBEVIRT, INSTANCETYPE_GROUP):
            continue
        from render.diagnostics import secrets
        from render.yaml import positions

        origin = document.printed or document.origin
        differences = positions.ambiguous(loaded.data[origin.file], origin)
        for path, text, kubectl, kustomize in differences:
            message = f"{text} is {kubectl} to kubectl and Argo CD, and {kustomize} to kustomize"
            cure = f'write "{text}" if it is a text, or the value that is meant'
            if secrets.is_secret(path, resource.kind):
                message = "kubectl and Argo CD read this value as another one than kustomize does"
                cure = "put the value in quotes if it is a text"
            readings = (kustomize, kubectl) if document.printed else (kubectl, kustomize)
            yield codes.AMBIGUOUS_SCALAR.at(
                at(resource, path), message, help=cure, fixes=_unambiguous(path, *readings)
            )


def _unambiguous(path: FieldPath, reading: str, other: str) -> tuple[Fix, ...]:
    """How to write what is read at *path* as the JSON *reading* so that it is read so by all.

    Of a key nobody knows whether its author meant this reading or the *other*.
    """
    try:
        value = json.loads(reading)
        if path and value == path[-1]:
            words = (value, json.loads(other))
            return choice(*((f'call it "{word}"', rename(path, str(word))) for word in words))
    except ValueError:  # refused
        return ()
    if isinstance(value, str):
        return (Fix("put the value in quotes", (quote(path),), safe=True),)
    return (Fix(f"write {reading}", (set_to(path, value),), safe=True),)


def _unordered(loaded: Documents, resources: Sequence[Resource]) -> Iterator[Diagnostic]:
    """That a disk or an interface has no boot order any more since kustomize has built it."""
    for document, resource in zip(loaded.documents, resources, strict=True):
        before = document.before
        if not before or (resource.group, resource.kind) != (KUBEVIRT, "VirtualMachine"):
            continue
        from render.manifests.blame import boot_order, dropped

        for path, name, order in boot_order.lost(before, resource.body):
            yield codes.BOOT_ORDER_LOST.at(
                at(resource, path),
                f"{name} had bootOrder {order} before kustomize built it, and has none now",
                help=dropped.REPEAT,
            )


def written(loaded: Documents, rendered: Rendered) -> list[Tree | str]:
    """What to write for each rendered object: the text of its author where nothing was changed."""
    return [
        content(loaded, body, source)
        for body, source in zip(rendered.resources, rendered.sources, strict=True)
    ]


def content(loaded: Documents, body: Tree, source: int | None) -> Tree | str:
    """What to write for *body*: the text of its author where it is the object at *source*, unchanged."""
    text = None if source is None else loaded.documents[source].text
    return body if text is None else text
