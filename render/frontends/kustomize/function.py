"""``virt-render krm``: a transformer or generator of kustomize, as KRM function or as legacy exec plugin.

The same rendering as ``build``, for what kustomize has in hand. On an error kustomize must see a failing process: it
ignores results. A KRM function then answers with its input unchanged (kustomize reads the answer before it looks at
the exit status), a legacy plugin with nothing; the report goes to stderr, which kustomize passes on.
"""

import os
from collections.abc import Mapping, Sequence

from render.diagnostics import codes
from render.diagnostics.codes import status, worth_saying
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends import waived
from render.frontends.kustomize.message import (
    KustomizeAnnotations,
    Message,
    is_plugin,
    receive,
    reply,
)
from render.frontends.progress import Work, in_words
from render.frontends.reporting import print_findings
from render.frontends.request import config
from render.frontends.request.commands import Call
from render.frontends.request.layers import host_values, limits_of
from render.frontends.request.options import FUNCTION_SECONDS, HOST_OPTIONS
from render.frontends.request.request import Request, request
from render.frontends.session import reading, render_loaded, rendering, written
from render.manifests import kustomization
from render.manifests.blame import origins
from render.manifests.blame.patches import PatchedBuild
from render.manifests.documents import Documents
from render.manifests.sources import loading
from render.manifests.sources.intake import STDIN
from render.model.hints import Any
from render.model.resource import ResourceRef, text_at
from render.report.findings import Finding, find, merge
from render.report.places import Place, Sources
from render.settings import OPTIONS, Layer, Source
from render.system import signals
from render.system.files import boundary, inside, is_file_name, real_path
from render.system.streams import STDOUT, emit, standard_input

_RESOURCES = "resources"
_HOST_FLAGS = {option.spelled(Source.FLAG): option for option in (*HOST_OPTIONS, FUNCTION_SECONDS)}


def answer(call: Call, environ: Mapping[str, str]) -> Exit:
    """Answer the message on stdin; *call* may carry flags, and of a legacy plugin the file of its configuration."""
    with Work() as work:
        seconds = host_values(_without_flags(call, environ), environ).values["deadline"]
        try:
            with signals.deadline(seconds):
                return _answer(call, environ, work)
        except signals.OverdueError:
            message = f"the deadline of {seconds} s has passed while {work.doing}"
            cure = "who runs kustomize may set VIRT_RENDER_DEADLINE in its environment"
            overdue = find([codes.DEADLINE.at(Location(), message, help=cure)], Sources())
            print_findings(overdue, request(call._replace(paths=(), flags={}), environ))
            return Exit.DEADLINE


def _answer(call: Call, environ: Mapping[str, str], work: Work) -> Exit:
    work.begin("read", "reading standard input")
    plugin = is_plugin(call.paths, environ)
    presumed: list[Diagnostic] = []
    if plugin:  # its flags stand in its configuration, in the repository
        presumed = _host_only_options_set(call)
        call = _without_flags(call, environ)
    limits = limits_of(host_values(call, environ).values)
    message = Message([], None, is_resource_list=False)
    faults = _unexpected(() if plugin else call.paths)
    if not faults:
        message, faults = receive(standard_input(), call.paths[0] if plugin else "", limits)
    layers, paths, misfits = _configured(message.config)
    parsed = request(call._replace(paths=()), environ, *layers)
    if faults:  # there is nothing to send back
        print_findings(find(faults, Sources()), parsed)
        return status(faults)
    misfits += _outside(paths)
    misfits += (*presumed, *parsed.faults.diagnostics)
    if misfits:
        return _refuse(message, find(misfits, parsed.faults.sources), parsed, status(misfits))
    work.doing = f"reading {in_words(paths)}"
    loaded = _load(message, paths, parsed)
    work.begin("render", rendering(loaded))
    rendered, diagnostics = render_loaded(loaded, parsed.reading_from("-", *paths))
    diagnostics = [_repinned(diagnostic) for diagnostic in diagnostics]
    findings = _findings(loaded, len(message.documents), diagnostics, parsed, environ)
    outcome = status(diagnostics)
    if outcome is not Exit.OK:
        return _refuse(message, findings, parsed, outcome)
    annotations = KustomizeAnnotations(message.documents)
    bodies = rendered.resources if message.is_resource_list else written(loaded, rendered)
    contents = [
        body if isinstance(body, str) or source is not None else annotations.with_bookkeeping(body)
        for body, source in zip(bodies, rendered.sources, strict=True)
    ]
    emit(reply(message, contents, findings), STDOUT)
    print_findings(findings, parsed)
    waived.tell(parsed, [loaded])
    return Exit.OK


def _without_flags(call: Call, environ: Mapping[str, str]) -> Call:
    """*call* without what the configuration of a legacy plugin, if that is what started us, may not decide."""
    if not is_plugin(call.paths, environ):
        return call
    return call._replace(flags={k: v for k, v in call.flags.items() if k not in _HOST_FLAGS})


def _repinned(diagnostic: Diagnostic) -> Diagnostic:
    """*diagnostic* with how to pin what a function gets, if that is the cure: ``pin`` does not build such a folder."""
    if diagnostic.code not in (codes.PIN_MISSING.number, codes.PIN_ENDED.number):
        return diagnostic
    return diagnostic._replace(
        help=f"run: kustomize build --enable-alpha-plugins . | virt-render pin --lock {kustomization.LOCK} -"
    )


def _host_only_options_set(plugin: Call) -> list[Diagnostic]:
    """What the configuration of a legacy *plugin* wants to decide by flags and may not."""
    return [
        codes.INVALID_SETTING.at(
            Location(),
            f"{flag} is not for the configuration of a legacy plugin to decide",
            help=f"who runs kustomize may set {option.spelled(Source.ENVIRONMENT)} in its environment",
        )
        for flag, option in _HOST_FLAGS.items()
        if flag in plugin.flags
    ]


def _unexpected(paths: Sequence[str]) -> list[Diagnostic]:
    return [
        codes.USAGE.at(
            Location(),
            f"krm takes no path, and was given {path}",
            help="it reads a ResourceList from standard input",
        )
        for path in paths[:1]
    ]


def _refuse(message: Message, findings: Sequence[Finding], request: Request, outcome: Exit) -> Exit:
    print_findings(findings, request)
    if message.is_resource_list:
        unchanged = [document.body for document in message.documents]
        emit(reply(message, unchanged, findings), STDOUT)
    return outcome


def _configured(body: Any) -> tuple[list[Layer], list[str], list[Diagnostic]]:
    """What the function config *body* asks for: options, the paths to read, and what is wrong with it."""
    if body is None:
        return [], [], []
    name = text_at(body.get("metadata"), "name") if isinstance(body, dict) else ""
    if _is_config_map(body):
        about, place = ResourceRef("ConfigMap", "", name), "data"
        spec = {key: _typed(key, value) for key, value in (body.get("data") or {}).items()}
    else:
        about, place = ResourceRef(config.KIND, "", name), "spec"
        fault = config.fault_of(body)
        if fault:
            message = f"the function config: {fault}; a ConfigMap may have the options in its data"
            return [], [], [codes.INVALID_SETTING.at(Location(about), message)]
        spec = dict(body.get("spec") or {})
    paths = spec.pop(_RESOURCES, [])
    layer = Layer(Source.FUNCTION_CONFIG, spec, Location(about, (place,)), (_RESOURCES,))
    if not isinstance(paths, list) or not all(_is_path(path) for path in paths):
        fault = "should be a list of files and folders"
        return [layer], [], [codes.INVALID_SETTING.at(layer.at(_RESOURCES), fault)]
    return [layer], paths, []


def _is_config_map(body: Any) -> bool:
    """Whether *body* is what kpt hands a function whose options stand on its command line, or in a ConfigMap."""
    is_named = isinstance(body, dict) and (body.get("apiVersion"), body.get("kind")) == (
        "v1",
        "ConfigMap",
    )
    return is_named and isinstance(body.get("data"), dict | None)


def _typed(key: str, value: Any) -> Any:
    """The *value* of the option *key* in a ConfigMap, which holds texts: lists are taken apart at blanks."""
    if not isinstance(value, str):
        return value
    option = next(
        (candidate for candidate in OPTIONS if candidate.spelled(Source.FUNCTION_CONFIG) == key),
        None,
    )
    if key == _RESOURCES or (option and option.many):
        return value.split()
    is_flag = option is not None and option.kind == "flag"
    return {"true": True, "false": False}.get(value, value) if is_flag else value


def _outside(paths: Sequence[str]) -> list[Diagnostic]:
    """Which of *paths*, that the repository names, lead out of it."""
    bounds = boundary(real_path("."))
    strays = (path for path in paths if not inside(real_path(path), [bounds]))
    return [kustomization.outside(path) for path in strays] if bounds else []


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and value != "" and is_file_name(value)


def _load(message: Message, paths: Sequence[str], request: Request) -> Documents:
    """The objects of *message* and those below *paths*, in one input."""
    loaded = Documents()
    if paths:
        loaded = loading.load(paths, reading(request, None)._replace(before=message.size))
    loaded.documents[:0] = message.documents
    return loaded


def _findings(
    loaded: Documents,
    sent: int,
    diagnostics: Sequence[Diagnostic],
    request: Request,
    environ: Mapping[str, str],
) -> list[Finding]:
    """*diagnostics* with places in the files that kustomize read, as seen from where it was started.

    kustomize starts a function in the folder of the kustomization that names it, so that one is followed to the
    sources of the first *sent* documents, as ``build`` does.
    """
    reported = diagnostics if request.reporting.verbose else worth_saying(diagnostics)
    if not reported:
        return []
    bounds = boundary(real_path("."))
    reach = kustomization.reach(".", request.reading.limits, allow_remote=True, bounds=bounds)
    for file in (*reach.kustomizations, *reach.resources, *reach.others):
        loaded.data.add_file(file, request.reading.limits.file_bytes)
    limits = request.reading.limits
    loaded.documents[:sent] = origins.trace(".", loaded.documents[:sent], reach, limits)
    loaded.patched.append(PatchedBuild(loaded.documents, STDIN, reach, limits))
    places = [
        None if document.origin.file == STDIN else document.origin
        for document in (*loaded.documents, *request.beside.catalog)
    ]
    findings = merge(find(reported, Sources(places, loaded.data, loaded=loaded)))
    start = real_path(environ.get("PWD", "."))
    below = os.path.relpath(os.getcwd(), start)
    if below == "." or below.startswith(".."):
        return findings
    return [
        finding._replace(
            place=_seen_from(below, finding.place),
            related=tuple(_seen_from(below, place) for place in finding.related),
        )
        for finding in findings
    ]


def _seen_from(below: str, place: Place) -> Place:
    """*place*, known by its path in the folder *below* the one where kustomize was started."""
    if not place.file:
        return place
    return place._replace(file=os.path.normpath(os.path.join(below, place.file)))
