"""What an editor says of the word under a cursor: values that would run, sizes, what a code means."""

import re
from collections.abc import Iterable, Iterator, Sequence

from render.diagnostics import codes, explanations
from render.diagnostics.secrets import is_content, is_secret
from render.diagnostics.suppression import PREFIX
from render.diff.sizes import size_of
from render.frontends.editor import links
from render.frontends.editor.cursor import Cursor, field_at
from render.frontends.editor.navigation import here, resources
from render.frontends.editor.notes import Note
from render.frontends.editor.parts import RenderedPart
from render.frontends.editor.workspace import Workspace
from render.manifests.documents import Documents
from render.model import tree
from render.model.counting import counted
from render.model.fieldpath import FieldPath
from render.model.kinds import KIND_CLASSES, KindClass
from render.model.provenance import Decision
from render.model.regex import pattern
from render.model.release import NEWEST, Version, release_named
from render.model.resource import Resource, from_body
from render.model.tree import Tree
from render.pipeline.input import definitions
from render.report.deciders import Input, brief, trace, words
from render.report.places import Sources
from render.resolve import bundled

_MOST_FIELDS, _MOST_PARTS = 12, 3
_CODE = pattern(r"VR\d{3}")
_MARKUP = pattern(r"([\\`*_{}\[\]()<>#+!|~&@-])")
#: What GitHub's Markdown makes a link of without any markup.
_AUTOLINK = pattern(r"(www|https?|ftp|mailto|xmpp)([.:])", re.IGNORECASE)


def text(workspace: Workspace, cursor: Cursor, notes: Iterable[Note]) -> str:
    """What there is to say at *cursor*, as Markdown without a link, a command or a secret; *notes* are of its file."""
    paragraphs = list(_codes(cursor, notes))
    at = here(cursor, resources(workspace))
    if at is not None and not _is_private(at.resource, at.path):
        matcher = _matcher(at.resource, at.path)
        if matcher is not None:
            paragraphs += _sizes(workspace, at.resource, matcher)
        paragraphs += _values(workspace, at.resource, at.path)
    return "\n\n".join(paragraphs)


def _is_private(resource: Resource, path: FieldPath) -> bool:
    return is_secret(path, resource.kind) or is_content(resource.kind, str(path[:1] and path[0]))


def _codes(cursor: Cursor, notes: Iterable[Note]) -> Iterator[str]:
    """What the codes of the findings at *cursor* mean, and the one that stands there."""
    meant = [
        note.code
        for note in notes
        if note.span.line == cursor.line and note.span.start <= cursor.column <= note.span.end
    ]
    field = field_at(cursor)
    if field is not None and field.value.startswith(PREFIX):
        meant += _CODE.findall(field.value)
    for code in dict.fromkeys(meant):
        if code in codes.CODES:
            explained = explanations.explanation(code)
            title = f"{code} {codes.CODES[code].slug}"
            yield f"**{title}**: {explained.meaning}\n\n{explained.cure}"


def _matcher(resource: Resource, path: FieldPath) -> KindClass | None:
    """The kind class of the matcher of *resource* in which *path* leads."""
    vm = links.vm_spec(resource)
    size = len(vm) + 1 if vm else 0
    for kind_class in KIND_CLASSES:
        if vm and path[:size] == (*vm, kind_class.word):
            return kind_class
    return None


def _sizes(workspace: Workspace, resource: Resource, kind_class: KindClass) -> Iterator[str]:
    """What the definition gives or asks for that *resource* names."""
    vm = links.vm_spec(resource) or ()
    matcher = tree.get(resource.body, *vm, kind_class.word)
    name = matcher.get("name") if isinstance(matcher, dict) else None
    if isinstance(name, str):
        kind = matcher.get("kind")
        meant = kind_class.kind_of(kind if isinstance(kind, str) else "")
        for spec, where in _definition(workspace, resource, meant, name):
            yield f"{_plain(f'{meant} {name}')}: {amounts(spec)} ({_plain(where)})"


def _definition(
    workspace: Workspace, resource: Resource, kind: str, name: str
) -> Iterator[tuple[Tree, str]]:
    """The spec of the definition *name*, and where it stands: in the folder, or else with KubeVirt."""
    namespace = workspace.request.settings.namespace
    own = resource.namespace or namespace
    known = False
    for candidate in resources(workspace):
        is_named = definitions.is_definition(candidate) and (candidate.kind, candidate.name) == (
            kind,
            name,
        )
        if is_named and ("Cluster" in kind or (candidate.namespace or namespace) == own):
            known = True
            yield candidate.spec, candidate.origin.file if candidate.origin else ""
    shipped = bundled.definitions(release(workspace))
    if not known and (kind, name) in shipped:
        yield shipped[kind, name], "of KubeVirt itself"


def release(workspace: Workspace) -> Version:
    """The KubeVirt release for which the folder is rendered."""
    machines = (machine for rendered in workspace.parts.values() for machine in rendered.machines)
    first = next(machines, None)
    if first is not None:
        return first.context.release
    return release_named(workspace.request.settings.kubevirt) or NEWEST


def amounts(spec: Tree) -> str:
    """The vCPUs and the memory that a definition gives, or asks for at least."""
    sizes = []
    for field, unit in (("cpu", "vCPU"), ("memory", "memory")):
        amount = tree.get(spec, field, "guest")
        required = tree.get(spec, "requirements", field, "guest")
        if amount is not None:
            sizes.append(f"{amount} {unit}")
        elif required is not None:
            sizes.append(f"at least {required} {unit}")
    return ", ".join(sizes) or "no size"


def _values(workspace: Workspace, resource: Resource, path: FieldPath) -> Iterator[str]:
    """The values that would run of the field at *path*, with who decided them, in the parts that have *resource*."""
    vmi = links.vmi_spec(resource)
    if vmi is None:
        return
    wanted: FieldPath = ()
    is_size = (
        links.vm_spec(resource) is not None and path[-1:] != ("name",) and _matcher(resource, path)
    )
    if path[: len(vmi)] == vmi:
        wanted = ("spec", *path[len(vmi) :])
    elif path[: len(vmi)] == (*vmi[:-1], "metadata"):
        wanted = path[len(vmi) - 1 :]
    elif not (is_size or _matcher(resource, path)):
        return
    for rendered in _parts_with(workspace, resource)[:_MOST_PARTS]:
        lines = list(_of_part(rendered, resource, wanted))
        folder = rendered.part.loaded.folder
        if lines:
            yield "\n".join(
                (f"In {_plain(folder)}:\n" if rendered.part.loaded.is_built else "", *lines)
            ).strip()


def _parts_with(workspace: Workspace, resource: Resource) -> list[RenderedPart]:
    return [
        rendered for rendered in workspace.parts.values() if _index(rendered, resource) is not None
    ]


def _index(rendered: RenderedPart, resource: Resource) -> int | None:
    origin = resource.origin
    for index, document in enumerate(rendered.part.loaded.documents):
        document_origin = document.origin
        if origin and document_origin[:3] == origin[:3]:
            return index
    return None


def _of_part(rendered: RenderedPart, resource: Resource, wanted: FieldPath) -> Iterator[str]:
    """The decisions on *wanted*, and below it, in one part; the size of the VMI where nothing is wanted."""
    from render.pipeline.provenance import deciders

    index = _index(rendered, resource)
    if index is None:
        return
    part = rendered.part
    chosen = [
        number
        for number, candidate in enumerate(rendered.resources[: len(part.loaded.documents)])
        if number == index or not definitions.is_machine(candidate)
    ]
    documents = [part.loaded.documents[number] for number in chosen]
    objects = [
        from_body(document.body, number, document.origin)
        for number, document in enumerate(documents)
    ]
    position = chosen.index(index)
    told = deciders.explain(objects, part.request.settings)
    explained = next((vm for vm in told if vm.resource == objects[position].ref), None)
    if explained is None or not explained.decisions:
        return
    if not wanted:
        size = size_of(_vmi(explained.decisions))
        yield f"starts with {size.vcpus} vCPU, {size.memory / 2**20:,.0f} MiB"
        return
    manifests = _input(part.loaded, chosen, rendered)
    below = [
        decision for decision in explained.decisions if decision.field[: len(wanted)] == wanted
    ]
    for decision in below[:_MOST_FIELDS]:
        winner, *losers = trace(decision, manifests)
        value = _code(brief(winner.contender.value))
        yield f"- `{_code(decision.text)}`: `{value}`: {_plain(words(winner, decision.text))}"
        for each in losers:
            yield f"  - lost: `{_code(brief(each.contender.value))}`: {_plain(words(each, decision.text))}"
    if len(below) > _MOST_FIELDS:
        yield f"- and {counted(len(below) - _MOST_FIELDS, 'more field')}"


def _vmi(decisions: Sequence[Decision]) -> Tree:
    """The fields of *decisions* that say how large a VMI is."""
    vmi: Tree = {}
    for decision in decisions:
        if decision.field[:2] == ("spec", "domain") and not any(
            isinstance(step, int) for step in decision.field
        ):
            tree.put(vmi, decision.field, decision.winner.value)
    return vmi


def _input(loaded: Documents, chosen: Sequence[int], rendered: RenderedPart) -> Input:
    """Where the objects of *loaded* stand that are *chosen*, and behind them what counts beside the input."""
    around = rendered.part.request.around
    documents = [*(loaded.documents[number] for number in chosen), *around]

    def blame(index: int, path: FieldPath, within: tuple[int, int]) -> tuple[str, int, int] | None:
        return loaded.blame(chosen[index], path, within) if index < len(chosen) else None

    places = Sources([document.origin for document in documents], loaded.data, blame, quotes=False)
    before = {
        number: document.before for number, document in enumerate(documents) if document.before
    }
    return Input(places, [document.body for document in documents], before, lambda _: True)


def _plain(words_: str) -> str:
    """*words_* for Markdown in which nothing of them is markup."""
    return _AUTOLINK.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", words_)).replace("\n", " ")


def _code(words_: str) -> str:
    """*words_* for a code span."""
    return words_.replace("`", "'").replace("\n", " ")
