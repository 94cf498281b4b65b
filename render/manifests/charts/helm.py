"""Helm charts: found, run without a shell, without plugins, network or anything from outside the repository."""

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location, Related, Severity
from render.manifests import discover, relevance
from render.manifests.boxed import program as boxed
from render.manifests.boxed.program import ProgramBounds
from render.manifests.charts import layout, templating
from render.manifests.charts.layout import Chart, Dependency
from render.manifests.discover import HelmRelease
from render.manifests.kustomization import Reach
from render.model.hints import TYPE_CHECKING, Any
from render.model.named_tuple import NamedTuple
from render.model.regex import pattern
from render.model.release import row, served
from render.model.resource import CDI, INSTANCETYPE_GROUP, KUBEVIRT, SNAPSHOT, Origin
from render.system import files
from render.system.files import boundary, bounds_of, inside, real_path
from render.system.signals import signal
from render.yaml.budget import Limits
from render.yaml.reader import Document, read

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from render.system.programs.box import Allowance
    from render.system.programs.processes import Steps, Task

_SCHEMA = "values.schema.json"
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "$schema"})
_PUBLISHED = r"https?://json-schema\.org/(draft-0[467]|draft/20(19-09|20-12))/schema#?\Z"
_PATIENCE = 12
"""Seconds for each second of a processor that helm may take: others want one too."""
#: How Go ends without memory; it may find itself without some in the midst of what then fails.
_NO_MEMORY = pattern(
    rb"cannot allocate memory|^fatal error: .*out of memory|^SIGSEGV: segmentation violation",
    re.MULTILINE,
)
_LANGUAGE = {"LC_ALL": "ko_KR.UTF-8"}
"""At each start helm packs and reads kubectl's texts in a language: in English, its default, half of its time.

In this one they are eight, none of which helm shows (k8s.io/kubectl/pkg/util/i18n).
"""
_PIECE = 1 << 20
_LOCATED = 10
"""Faults of which the line is looked for in the template."""
_RELEASE_NAME = "release-name"
"""What ``helm template`` itself calls a release without a name."""
_CHATTER = pattern(
    r"^walk\.go:\d+: found symbolic link .*\n?|Use --debug flag to render out invalid YAML",
    re.MULTILINE,
)
"""What helm says beside why it failed."""
#: What helm says of a chart that renders with no values at all; what comes of running its templates may depend on them.
_BROKEN = pattern(
    r"(?:^|: )(?:Error: (?:parse error at \(|cannot load |validation: chart\.metadata)|not started: "
    r"|stopped(?: after |: it needs ))"
    # Helm looks a template up before it looks at values.
    r"|: no template \".*\" associated with template "
    r"| is not in the repository of the chart ",
    re.MULTILINE,
)
#: How what is said of helm begins where the system has no room for it, or has ended it.
_FELLED = ("cannot start ", "ended by signal ", "fatal error: ")
#: A path of keys in which helm sees nothing but keys: its syntax for --set-file has escapes, lists and several at once.
_KEYS = pattern(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_NO_DEPENDENCY = "missing in charts/"
_VALUES = "name the values files with --values, or as values in .virt-render.yaml"
#: What templates know of a cluster alone.
_ASKS_CLUSTER = pattern(rb"\b(?:Capabilities|lookup|getHostByName)\b")
_UNREADABLE = "Error: YAML parse error on "
_NAMED = r"[^/\s:]+/([^\s:]+)(?::(\d{1,9}))?(?::(\d{1,9}))?"
#: The template that helm names, by the name of its chart; the column is of an expression, from 0.
_PLACE = pattern(rf"(?:YAML parse error on |(?:parse|execution) error at \(|template: ){_NAMED}")
#: Where an expression begins that has no end: helm names the end of the file first.
_UNCLOSED = pattern(rf"parse error at \(\S+: unclosed action started at {_NAMED}")
_SOURCE = pattern(rb"^# Source: (.+?)\r?$", re.MULTILINE)
#: What clusters with KubeVirt serve, for charts that ask.
_SERVED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        f"{KUBEVIRT}/v1",
        (
            "VirtualMachine",
            "VirtualMachineInstance",
            "VirtualMachineInstanceReplicaSet",
            "KubeVirt",
        ),
    ),
    (
        f"{INSTANCETYPE_GROUP}/v1beta1",
        (
            "VirtualMachineInstancetype",
            "VirtualMachineClusterInstancetype",
            "VirtualMachinePreference",
            "VirtualMachineClusterPreference",
        ),
    ),
    (f"{CDI}/v1beta1", ("DataVolume", "DataSource", "DataImportCron")),
    (f"{SNAPSHOT}/v1", ("VolumeSnapshot",)),
)
_POOL = f"pool.{KUBEVIRT}"


def faults(chart: Chart, release: HelmRelease, limits: Limits) -> list[Diagnostic]:
    """What speaks against running helm on *chart*: files from outside of its repository, and more than the limits."""
    folder = chart.folder
    texts = release.text_files(folder)
    values = (*release.values, *texts.values())
    every = (*chart.every_file, *values)
    present = (file for file in every if file in values or os.path.exists(file))
    return [
        *_misnamed(folder, texts),
        *_unnamable(folder, release),
        *_unfit(folder, present, release, limits),
    ]


def _unnamable(folder: str, release: HelmRelease) -> Iterator[Diagnostic]:
    """Which names of *release* no program can be told."""
    for name in (release.name, release.namespace):
        if "\0" in name:
            message = f"{discover.printable(name)} is no name"
            yield _refused(folder, message, "keep to letters, digits and -")


def _misnamed(folder: str, names: Iterable[str]) -> Iterator[Diagnostic]:
    """Which of the *names* of values are none."""
    for name in map(discover.printable, names):
        if not _KEYS.fullmatch(name):
            cure = "keys of letters, digits, _ and -, with dots between them"
            yield _refused(folder, f"{name} is no name of a value", cure)


def _unfit(
    folder: str, every: Iterable[str], release: HelmRelease, limits: Limits
) -> Iterator[Diagnostic]:
    """Which of the files are missing, lie or lead outside of the repository, or are too large, each or together."""
    allowed = (bounds_of(folder),)
    total = sum(len(values.text) for values in release.texts)
    for file in every:
        name = discover.printable(file)
        if not inside(real_path(file), allowed):
            message = f"{name} is not in the repository of the chart {folder}"
            yield _refused(name, message, "put a copy into the repository")
            continue
        if os.path.exists(file) and not (os.path.isfile(file) or os.path.isdir(file)):
            yield files.special(name)  # helm waits for what a pipe says
            continue
        if not os.path.isfile(file):
            message = f"cannot read the values file {name}: no such file"
            yield _refused(name, message, "values come from files of the repository")
            continue
        if file.count(os.sep) - folder.count(os.sep) > files.MOST_AROUND:
            message = f"a file of the chart {folder} is below more than {files.MOST_AROUND} folders"
            yield codes.LIMIT_EXCEEDED.at(Location(file=folder), message)
            return
        is_packed = file.endswith(".tgz")
        size = _size(file, limits.total_bytes) if is_packed else os.path.getsize(file)
        total += size
        if size > limits.file_bytes and not is_packed:
            message = f"{name} has {size:,} bytes, more than {limits.file_bytes:,}"
            cure = "raise --max-file-bytes if it is meant to be read"
            yield codes.LIMIT_EXCEEDED.at(Location(file=name), message, help=cure)
        if total > limits.total_bytes:
            message = (
                f"the chart {folder} is larger than {limits.total_bytes:,} bytes: stopped at {name}"
            )
            cure = "raise --max-total-bytes if all of it is meant to be read"
            yield codes.LIMIT_EXCEEDED.at(Location(file=name), message, help=cure)
            return


def _refused(file: str, message: str, cure: str) -> Diagnostic:
    return codes.HELM_FAILED.at(Location(file=file), message, help=cure)


def _size(packed: str, most: int) -> int:
    """How many bytes the packed chart unfolds to; a little more than *most* where it is more."""
    import gzip
    import zlib

    size = 0
    try:
        with gzip.open(packed) as stream:
            while size <= most and (piece := stream.read(_PIECE)):
                size += len(piece)
    except (OSError, EOFError, zlib.error):  # helm says what is wrong with it
        return size
    return size


def template(
    chart: Chart, program: str, release: HelmRelease, bounds: ProgramBounds
) -> "Steps[bytes | Diagnostic]":
    """What ``helm template`` prints for *chart*, or its own words about why not, without secrets.

    Once it has printed more than the *bounds* allow it is stopped, and the answer is a byte longer than that.
    """
    folder = chart.folder
    allowance = _allowance(bounds)
    try:
        with (
            boxed.explained(program),
            boxed.opened(program, folder, _seen(folder), allowance, bounds.boxes) as inside,
        ):
            handed = _handed_over(folder, release, inside.home, bounds.limits)
            if isinstance(handed, Diagnostic):
                return handed
            place = _laid_out(chart, release, inside.home)
            words = [real_path(program), *_words(chart.every_file, place, release, handed)]
            done = yield from boxed.run(
                inside, _task(words, folder, inside.home, bounds), bounds.limits
            )
    except boxed.UnfinishedError as error:
        return _failure(folder, *error.args)
    if done.returncode == 0 or len(done.stdout) > bounds.most:
        return done.stdout
    copies = {} if place == "." else {place: folder}
    for file, copy in (*handed.values, *handed.texts.values()):
        copies[copy] = discover.printable(file)
    return _ended(done, chart, copies, release, bounds.limits)


def _allowance(bounds: ProgramBounds) -> "Allowance":
    """What helm may have."""
    from render.system.programs.box import Allowance

    limits = bounds.limits
    return Allowance(limits.chart_bytes, limits.chart_seconds, bounds.is_box_required)


def _task(words: list[str], folder: str, home: str, bounds: ProgramBounds) -> "Task":
    """What the *words* start in *folder*, with a *home* of its own."""
    from render.system.programs.processes import Task

    return Task(
        words,
        folder=folder,
        environ=environment(home),
        seconds=_PATIENCE * bounds.limits.chart_seconds,
        most=bounds.most,
    )


def _ended(
    done: "CompletedProcess[bytes]",
    chart: Chart,
    copies: Mapping[str, str],
    release: HelmRelease,
    limits: Limits,
) -> Diagnostic:
    """Why helm, which is *done*, made nothing of *chart*; it knows it by the names of *copies*."""
    folder = chart.folder
    exceeded = _exceeded(done, limits)
    if exceeded:
        return _failure(folder, *exceeded)
    if closed := boxed.shut_out(chart.own.paths):
        return closed
    words = boxed.words(done.stderr.decode("utf-8", "replace"))
    for copy, file in copies.items():
        words = words.replace(copy, file)
    reach = Reach()
    reach.others += [discover.join(folder, discover.VALUES_FILE), *release.values]
    reach.others += release.text_files(folder).values()
    names = layout.names_of_templates(chart, limits)
    stated = _stated(release, limits)
    words = boxed.concealed(_CHATTER.sub("", words).strip(), reach, limits, names, stated)
    failure = _failure(folder, words or boxed.ending(done.returncode))
    return failure._replace(position=_named_place(chart, failure.message))


def _stated(release: HelmRelease, limits: Limits) -> Iterator[str]:
    """The values that objects state for *release*: each may be a secret, as those of files may."""
    for each in release.texts:
        for document in read(each.text, "", limits).documents:
            yield from (str(value) for _, value in templating.scalars(document.body))


def _named_place(chart: Chart, words: str) -> Location | None:
    """Where in its templates helm's *words* say that *chart* fails; None where they name none."""
    found = _UNCLOSED.search(words) or _PLACE.search(words)
    file = os.path.normpath(discover.join(chart.folder, found[1])) if found else ""
    if not found or file not in map(os.path.normpath, chart.own.files):
        return None
    line, column = int(found[2] or 0), int(found[3] or 0)
    return Location(file=file, line=line, column=column + 1 if line else 0)


def _seen(folder: str) -> tuple[list[str], list[str]]:
    """What helm sees for the chart in *folder*, and what of that is empty to it."""
    top = boundary(real_path(folder)) or folder
    return [top], [os.path.join(top, ".git")]


def _laid_out(chart: Chart, release: HelmRelease, home: str) -> str:
    """Where helm is given *chart*: in its folder, or where it would read too much or too little a copy in *home*."""
    if not chart.wanted and release.has_defaults and not chart.own.has_git:
        return "."
    place = os.path.join(home, "chart")
    layout.copy(chart, place, has_defaults=release.has_defaults)
    return place


def _exceeded(done: "CompletedProcess[bytes]", limits: Limits) -> tuple[str, str] | None:
    """Which of its *limits* ended helm, and what to do; None where none did."""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        reason = f"stopped after {limits.chart_seconds} seconds of a processor"
        return reason, "raise --max-chart-seconds if it is worth more"
    if _NO_MEMORY.search(done.stderr):
        reason = f"stopped: it needs more than {limits.chart_bytes:,} bytes of memory"
        return reason, "raise --max-chart-bytes if it is worth more"
    return None


class _Copy(NamedTuple):
    """A *file* that was read, and the *copy* of it that helm is handed."""

    file: str
    copy: str


class _Handed(NamedTuple):
    """Copies of the values files, in their order, and of the texts of files by the name of their value."""

    values: list[_Copy]
    texts: dict[str, _Copy]


def _handed_over(
    folder: str, release: HelmRelease, home: str, limits: Limits
) -> _Handed | Diagnostic:
    """Copies in *home* of all files that *release* names, so that helm parses no name of theirs; or which cannot be."""
    copies = []
    texts = release.text_files(folder)
    for number, file in enumerate((*release.values, *texts.values())):
        data = files.read(file, discover.printable(file), limits.file_bytes)
        if isinstance(data, Diagnostic):
            return data
        copies.append(_Copy(file, os.path.join(home, f"values-{number}")))
        with open(copies[-1].copy, "xb") as stream:
            stream.write(data)
    count = len(release.values)
    for number, values in enumerate(release.texts, len(copies)):
        copy = os.path.join(home, f"values-{number}")
        with open(copy, "xb") as stream:
            stream.write(values.text)
        copies.insert(count, _Copy(values.origin.file, copy))
        count += 1
    return _Handed(copies[:count], dict(zip(texts, copies[count:], strict=True)))


def _words(files_: Iterable[str], chart: str, release: HelmRelease, handed: _Handed) -> list[str]:
    kubernetes = row(release.kubevirt).kubernetes
    words = ["template", "--skip-tests", "--include-crds"]
    if not all(map(_is_complete, files_)):
        words.append("--skip-schema-validation")
    pool = f"{_POOL}/{served(_POOL, release.kubevirt)[0]}"
    groups = (*_SERVED, (pool, ("VirtualMachinePool",)))
    words += ["--namespace", release.namespace, "--kube-version", f"1.{kubernetes}.0"]
    for group, kinds in groups:
        words += ["--api-versions", ",".join((group, *(f"{group}/{kind}" for kind in kinds)))]
    for values in handed.values:
        words += ["--values", _quoted(values.copy)]
    for name, text in handed.texts.items():
        escaped = re.sub(r"([,\\])", r"\\\1", text.copy)  # commas part several of them
        words += ["--set-file", f"{name}={escaped}"]
    return [*words, "--", release.name or _RELEASE_NAME, chart]


def _quoted(file: str) -> str:
    """*file* for an option that takes several, as a line of CSV."""
    escaped = file.replace('"', '""')
    return f'"{escaped}"'


def _is_complete(file: str) -> bool:
    """Whether *file* has helm load nothing else by a schema of values, which may name any file or address.

    Nobody looks into packed charts. Values that a schema refuses change no manifest, so that leaving it out is no harm.
    """
    if os.path.basename(file) != _SCHEMA:
        return not file.endswith(".tgz")
    import json

    try:
        with open(file, "rb") as stream:
            return _names_nothing(json.load(stream))
    except (OSError, ValueError, RecursionError):
        return False


def _names_nothing(value: Any) -> bool:
    """Whether every reference in this part of a schema is to the schema itself, or to a published one that helm has."""
    if isinstance(value, list):
        return all(map(_names_nothing, value))
    if not isinstance(value, dict):
        return True
    return all(
        re.match(_PUBLISHED if key == "$schema" else "#", item) is not None
        if isinstance(item, str) and key in _REFERENCES
        else _names_nothing(item)
        for key, item in value.items()
    )


def _failure(folder: str, message: str, cure: str = "") -> Diagnostic:
    if _NO_DEPENDENCY in message:
        cure = "commit what it depends on: helm dependency build puts it into charts/"
    elif _is_of_values(message):
        cure = _VALUES
    elif _UNREADABLE in message:
        cure = f"mend what the template prints (helm template --debug shows it, and counts its lines), or {_VALUES}"
    return codes.HELM_FAILED.at(
        Location(file=folder), f"helm template {folder}: {message}", help=cure
    )


def _is_of_values(words: str) -> bool:
    """Whether helm's *words* say that the values are none with which its chart can be rendered."""
    return any(cause in words for cause in ("nil pointer", "execution error", "values don't meet"))


def with_known_values(
    fault: Diagnostic, chart: Chart, release: HelmRelease, limits: Limits
) -> Diagnostic:
    """*fault* of the *chart*, where all values of the *release* are known: who installs it fails alike.

    A warning where a cluster may answer otherwise: templates ask for what it has, or nobody knows why helm fails.
    """
    is_certain = _is_of_values(fault.message) and not any(
        file.endswith(".tgz") or _ASKS_CLUSTER.search(_text(file, limits))
        for file in chart.every_file
        if file.endswith(".tgz") or "templates" in file.split(os.sep)
    )
    usual = (discover.join(chart.folder, discover.VALUES_FILE),) if release.has_defaults else ()
    every = (*usual, *release.values, *(text.origin.file for text in release.texts))
    named = dict.fromkeys(discover.tidy(file) for file in every if os.path.isfile(file))
    cure = f"all values are known, of {', '.join(named)}: set what is missing, or mend it, there"
    return fault._replace(
        severity=fault.severity if is_certain else Severity.WARNING,
        help=fault.help.replace(_VALUES, cure) if named else fault.help,
    )


def wants_dependency(diagnostic: Diagnostic) -> bool:
    """Whether helm's words in *diagnostic* say that what the chart depends on is not there."""
    return _NO_DEPENDENCY in diagnostic.message


def is_unreadable(diagnostic: Diagnostic) -> bool:
    """Whether helm's words in *diagnostic* say that a template prints no YAML; a value that is missing may do that."""
    return _UNREADABLE in diagnostic.message


def is_broken(diagnostic: Diagnostic) -> bool:
    """Whether *diagnostic* says that the chart renders with no values, whatever they are, or takes more than it may.

    So does that helm did not run here, or not to its end; a pipe in the place of a file, say.
    """
    if diagnostic.code == codes.UNREADABLE.number:
        return not files.is_denied(diagnostic)
    if diagnostic.code == codes.LIMIT_EXCEEDED.number:
        return True
    if diagnostic.code != codes.HELM_FAILED.number:
        return False
    words = diagnostic.message.removeprefix(f"helm template {diagnostic.location.file}: ")
    return words.startswith(_FELLED) or _BROKEN.search(diagnostic.message) is not None


def environment(home: str) -> dict[str, str]:
    """What helm sees: nothing of our environment, and folders of its own in the empty *home*.

    So it knows no plugin, no repository and no cluster; it finds no program, and no way out.
    """
    own = {
        f"HELM_{name}": os.path.join(home, name.lower())
        for name in (
            "CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "PLUGINS", "REGISTRY_CONFIG", "REPOSITORY_CACHE",
            "REPOSITORY_CONFIG",
        )
    }  # fmt: skip
    lonely = {"PATH": os.devnull, "HTTP_PROXY": boxed.NOBODY, "HTTPS_PROXY": boxed.NOBODY}
    return (
        own
        | lonely
        | _LANGUAGE
        | {"HOME": home, "TMPDIR": home, "KUBECONFIG": os.devnull, "HELM_NO_PLUGINS": "1"}
    )


def _template(folder: str, path: str, deepest_first: Sequence[Dependency]) -> str:
    """The file that helm calls *path* of the chart in *folder*."""
    for dependency in deepest_first:
        if path.startswith(f"{dependency.below}/"):
            return os.path.join(dependency.folder, path.removeprefix(f"{dependency.below}/"))
    return discover.join(folder, path)


def _sources(folder: str, output: bytes, wanted: Sequence[Dependency]) -> list[tuple[int, str]]:
    """From which lines of the *output* on helm says that a template file has printed it."""
    lines: list[tuple[int, str]] = []
    deepest_first = sorted(wanted, key=lambda dependency: -len(dependency.below))
    line, start = 1, 0
    for match in _SOURCE.finditer(output):
        line += output.count(b"\n", start, match.start())
        start = match.start()
        _, _, inside = match[1].decode("utf-8", "replace").partition("/")
        if ".." not in inside.split("/"):  # a template may say so itself, of any file
            lines.append((line, _template(folder, inside, deepest_first)))
    return lines


def _printed_by(lines: Sequence[tuple[int, str]], line: int) -> tuple[int, str] | None:
    """The last of the *lines*, in order, with a source that is not behind *line*."""
    place = bisect_right(lines, line, key=itemgetter(0))
    return lines[place - 1] if place else None


def of_machines(
    folder: str, output: bytes, wanted: Sequence[Dependency], limits: Limits
) -> dict[str, bool]:
    """The templates of the chart in *folder* with VMs, and whether helm has printed any of each to its *output*."""
    charts = layout.chart_in(folder, wanted).files
    every = dict.fromkeys(
        file for each in charts for file in layout.templates(each, charts[each], limits)
    )
    found = [file for file in every if templating.makes_machines(_text(file, limits))]
    if not found:
        return {}
    printed: set[str] = set()
    lines, texts = _sources(folder, output, wanted), output.split(b"\n")
    for number, (start, file) in enumerate(lines, 1):
        end = lines[number][0] - 1 if number < len(lines) else None
        path = os.path.normpath(file)
        if path not in printed and path in every:
            text = b"\n".join(texts[start - 1 : end])
            if relevance.may_be_of_machine(text):
                printed.add(path)
    return {file: file in printed for file in found}


def _text(file: str, limits: Limits) -> bytes:
    """What stands in the template *file*; nothing of what cannot be read."""
    data = files.read(file, file, limits.file_bytes)
    return data if isinstance(data, bytes) else b""


def unparted(
    folder: str,
    output: bytes,
    diagnostics: Sequence[Diagnostic],
    wanted: Sequence[Dependency] = (),
) -> list[Diagnostic]:
    """*diagnostics* of the *output* of helm with their templates, keys of objects that nothing parts as one of each.

    A template that forgets the ``---`` in a loop prints all of its objects into one document.
    """
    lines = _sources(folder, output, wanted)
    found: list[Diagnostic] = []
    known: set[tuple[int, str]] = set()
    for diagnostic in diagnostics:
        place = diagnostic.location
        source = _printed_by(lines, place.line) if place.line else None
        if source is None:
            found.append(diagnostic)
            continue
        is_key = diagnostic.code == codes.DUPLICATE_KEY.number and place.column == 1
        if is_key and source in known:
            continue
        template = Location(file=source[1])
        if is_key:
            known.add(source)
            cure = f"{source[1]} prints another object here: begin each, also in a loop, with a line ---"
            diagnostic = diagnostic._replace(help=cure)  # noqa: PLW2901 - what is said of it
        elif len(found) < _LOCATED:
            template = _in_template(lines, source, output, place.line)
        related = Related("the template that prints it", template)
        found.append(diagnostic._replace(related=(*diagnostic.related, related)))
    return found


def _in_template(
    lines: Sequence[tuple[int, str]], source: tuple[int, str], output: bytes, line: int
) -> Location:
    """Where the template *source*, one of *lines*, has printed the *line* of the *output*, as far as that is clear."""
    start, file = source
    data = files.read(file, file, len(output))
    if isinstance(data, Diagnostic):
        return Location(file=file)
    later = bisect_right(lines, start, key=itemgetter(0))
    end = lines[later][0] if later < len(lines) else None
    printed = output.decode(errors="replace").split("\n")[start - 1 : end and end - 1]
    texts = data.decode(errors="replace").splitlines()
    return Location(file=file, line=templating.line_of(texts, printed, line - start))


def trace(
    folder: str, output: bytes, documents: Sequence[Document], wanted: Sequence[Dependency] = ()
) -> list[Document]:
    """*documents* of the *output* of helm, at the template files that it says they come from.

    The text of such a file is no YAML, and nothing is looked up in it. *wanted*: what else belongs to the chart.
    """
    lines = _sources(folder, output, wanted)
    traced = []
    for document in documents:
        source = _printed_by(lines, document.origin.line + 1)
        origin = Origin(source[1]) if source else document.origin
        traced.append(document._replace(origin=origin, printed=document.origin))
    return traced
