"""What of a repository can hold or reach what KubeVirt reads: the rest is neither parsed, nor built, nor judged."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic
from render.manifests.discover import skipped
from render.model.api_version import may_be_meant, version_meant
from render.model.globs import Globs
from render.model.named_tuple import NamedTuple
from render.model.resource import OWN, SNAPSHOT, is_operator, text_at
from render.model.tree import Tree, leaves
from render.yaml.stream import as_utf8

_KUBEVIRT = b"kubevirt.io"
_OWN = b"virt-render.dev/"
#: Objects without a word of KubeVirt's to which a VM may refer, by group and kind.
_REFERENTS = frozenset(
    {
        *(
            ("", kind)
            for kind in ("ConfigMap", "PersistentVolumeClaim", "Secret", "ServiceAccount")
        ),
        (SNAPSHOT, "VolumeSnapshot"),
        ("k8s.cni.cncf.io", "NetworkAttachmentDefinition"),
        ("scheduling.k8s.io", "PriorityClass"),
    }
)
_OF_REFERENT = (
    rb"""kind["']?\s*:\s*["']?(?:%s)\b"""
    % "|".join(sorted(kind for _, kind in _REFERENTS)).encode()
)
_REFERS = (
    rb"inferFromVolume|dataVolume|claimName|networkName|priorityClassName|serviceAccountName"
    rb"|imagePullSecret|[sS]ecretRef|secretName|configMap|sysprep"
)
#: Objects that decide whether there is room for a pod.
_LIMITING = (b"ResourceQuota", b"LimitRange", b"pod-security.kubernetes.io/enforce")
_LIMITING_KINDS = frozenset(
    {
        ("", "Namespace"),
        ("", "ResourceQuota"),
        ("", "LimitRange"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("node.k8s.io", "RuntimeClass"),
    }
)
#: Without a word of KubeVirt's: what Harvester and Cluster API make VMs of.
_HOLDERS_OF_OTHERS = (b"VirtualMachineTemplateVersion", b"KubevirtMachineTemplate")
_HOLDER_GROUPS = frozenset(
    {OWN, "template.openshift.io", "harvesterhci.io", "infrastructure.cluster.x-k8s.io"}
)
#: The kind of a VM, or of what makes VMs.
KIND_OF_MACHINE = (
    r"(?:VirtualMachine(?:Instance(?:ReplicaSet)?|Pool|Template(?:Version)?)?|VM"
    r"|KubevirtMachineTemplate)"
)
#: Where one stands, what may make one, or a patch of either; a JSON patch has no kind, but a target.
_OF_MACHINE = (
    rb"""kind["']?\s*:\s*["']?(?:%b|Template)["']?\s*([,}\n\r#]|\Z)""" % KIND_OF_MACHINE.encode()
)
#: What each VM has, and a patch of it has no need to: when it runs (unless it stands for itself), and its devices.
_RUNS = rb"""\brun(?:ning|Strategy)["']?\s*:|kind["']?\s*:\s*["']?VirtualMachineInstance(?:ReplicaSet)?\b"""
_WHOLE = (rb"""\bdomain["']?\s*:""", rb"""\bdevices["']?\s*:""")
#: Whose objects say how charts and folders are filled in.
_ASKING = (b"argoproj.io/", b"toolkit.fluxcd.io/")
#: Those of them that are evaluated, or else counted as what they are.
_ASKING_KINDS = frozenset({"Application", "ApplicationSet", "HelmRelease", "Kustomization"})
#: How a file begins that stands for one which is kept elsewhere, or is a secret of those with the key.
_VEILS = (
    (b"version https://git-lfs.github.com/spec/", "file that stands in Git LFS"),
    (b"\0GITCRYPT\0", "file that git-crypt has encrypted"),
)
#: Argo CD takes a file of a directory for no manifest where this stands anywhere in it (reposerver/repository).
SKIP_MARKER = b"+argocd:skip-file-rendering"
#: An object of which SOPS has encrypted even what it is; of a Secret that can be seen.
_SEALED = rb"""\b(?:kind|apiVersion)["']?+\s*+:\s*+["']?+ENC\["""
_SEPARATOR = rb"(?m)^---"
#: A character of a quoted scalar that is written as an escape, and the end of a line that does not count.
_ESCAPE = rb"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(/)|\r?\n[ \t]*)"
#: Text in base64, by its tag, by the tag's own name, or by a name that a directive gives it.
_BINARY = rb"!!binary|2002:binary|(?m:^%TAG)"
#: A version with a variable: on its line, as a block or below; in JSON the other fields of the line are none of it.
#: Nothing is tried twice, however many blanks there are.
_VARIABLE_VERSION = rb"apiVersion[\"']?+\s*+:\s*+(?:[>|][^\n]{0,20}+\n\s*+)?+[^\n,]{0,200}?\$\{"
_NEAR = 3
_NOT_YET_YAML = "a template, not yet YAML"


def may_hold(data: bytes) -> bool:
    """Whether an object of KubeVirt's, or one of ours, may stand in the text *data*, however its words are written."""
    text = unescaped(data)
    if any(word in text for word in (_KUBEVIRT, _OWN, *_HOLDERS_OF_OTHERS)):
        return True
    is_varying = b"${" in text and re.search(_VARIABLE_VERSION, text)
    return bool(is_varying or re.search(_BINARY, data)) or may_be_meant(text)


def may_be_referent(data: bytes) -> bool:
    """Whether an object to which a VM may refer may stand in *data*."""
    return re.search(_OF_REFERENT, unescaped(data)) is not None


def refers(data: bytes) -> bool:
    """Whether a VM in *data* may refer to other objects than definitions."""
    return re.search(_REFERS, unescaped(data)) is not None


def may_limit(data: bytes) -> bool:
    """Whether a quota, a LimitRange or a namespace that enforces Pod Security may stand in *data*."""
    text = unescaped(data)
    return any(word in text for word in _LIMITING)


def may_be_namespace(data: bytes) -> bool:
    """Whether the Namespace object of some VMs may stand in *data*."""
    return b"Namespace" in unescaped(data)


def may_ask(data: bytes) -> bool:
    """Whether an object of Argo CD or Flux that says how others are filled in may stand in *data*."""
    text = unescaped(data)
    return any(word in text for word in _ASKING)


def veil(data: bytes) -> str:
    """What a file is called that says *data* in the place of a text which nobody can read here; ``""`` for others."""
    for start, what in _VEILS:
        if data.startswith(start):
            return what
    return "file that SOPS has encrypted" if b"ENC[" in data and re.search(_SEALED, data) else ""


def unescaped(data: bytes) -> bytes:
    """*data* with the characters that quoted scalars write as escapes; UTF-16 as UTF-8.

    Without NUL: UTF-16 and UTF-32 that have no mark, which nothing reads, have their words then, and are no text to
    whoever parses them.
    """
    data = as_utf8(data).replace(b"\0", b"")
    return re.sub(_ESCAPE, _character, data) if b"\\" in data else data


def _character(escape: re.Match[bytes]) -> bytes:
    digits = escape[1] or escape[2] or escape[3]
    if not digits:
        return escape[4] or b""
    return chr(min(int(digits, 16), sys.maxunicode)).encode("utf-8", "replace")


def concerns(body: Tree) -> bool:
    """Whether KubeVirt reads the object *body*, or we do."""
    group = text_at(body, "apiVersion").rpartition("/")[0]
    if group in _HOLDER_GROUPS or group.endswith("kubevirt.io"):
        return True
    kind, name = text_at(body, "kind"), text_at(body.get("metadata"), "name")
    is_kept = (group, kind) in (("apps", "ControllerRevision"), ("", "Template"))
    return bool(is_kept or version_meant(body)) or is_operator(group, kind, name)


def may_be_of_machine(data: bytes) -> bool:
    """Whether a VM may stand in the text *data*, or what makes one, or a patch of either."""
    return re.search(_OF_MACHINE, unescaped(data)) is not None


def may_be_whole_machine(data: bytes) -> bool:
    """Whether a VM with all that KubeVirt demands of it may stand in the text *data*, and not just a patch of it."""
    text = unescaped(data)
    return all(re.search(words, text) for words in (_OF_MACHINE, _RUNS, *_WHOLE))


def is_of_machine(body: Tree) -> bool:
    """Whether the object *body* is a VM, or what makes VMs and nothing else."""
    return concerns(body) and re.fullmatch(KIND_OF_MACHINE, text_at(body, "kind")) is not None


def is_parameter_of_tekton(body: Tree) -> bool:
    """Whether *body* is an object of Tekton in which a VM stands as text: a task makes it, by what it is told."""
    if text_at(body, "apiVersion").rpartition("/")[0] != "tekton.dev":
        return False
    return any(
        may_be_of_machine(text.encode("utf-8", "replace")) for text in leaves(body.get("spec"))
    )


def carries_machine(body: Tree) -> bool:
    """Whether a whole VM stands in *body*, an object of others, of which their controllers may make one.

    As a mapping or as a text: a ManifestWork, an Object of Crossplane, a ConfigMap. What its metadata says is no part
    of it: examples, and what was applied last; nor are patches and values for charts that Argo CD and Flux are told.
    """
    group = text_at(body, "apiVersion").partition("/")[0]
    is_asking = group == "argoproj.io" or group.endswith(".toolkit.fluxcd.io")
    if is_asking and text_at(body, "kind") in _ASKING_KINDS:
        return False
    pending: list[object] = [value for key, value in body.items() if key != "metadata"]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if "kind" in value and is_of_machine(value) and isinstance(value.get("spec"), dict):
                return True
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and _may_be_machine(value):
            return True
    return False


def _may_be_machine(text: str) -> bool:
    """Whether *text* may be a whole VM; most texts of an object have no word of one, and no escape that may hide it."""
    has_word = "domain" in text or "\\" in text
    return has_word and may_be_whole_machine(text.encode("utf-8", "replace"))


def limits(body: Tree) -> bool:
    """Whether *body* has a say in whether there is room for a pod."""
    group = text_at(body, "apiVersion").rpartition("/")[0]
    return (group, text_at(body, "kind")) in _LIMITING_KINDS and bool(
        text_at(body.get("metadata"), "name")
    )


def is_referent(body: Tree) -> bool:
    """Whether *body* is an object with a name to which a VM may refer."""
    group = text_at(body, "apiVersion").rpartition("/")[0]
    return (group, text_at(body, "kind")) in _REFERENTS and bool(
        text_at(body.get("metadata"), "name")
    )


def is_shared(body: Tree) -> bool:
    """Whether *body* is an object that VMs refer to or are limited by, whoever applies it."""
    return is_referent(body) or limits(body)


def identity(body: Tree) -> tuple[str, ...]:
    """What tells the object *body* from others in a cluster."""
    metadata = body.get("metadata")
    version, names = text_at(body, "apiVersion"), ("namespace", "name")
    return (version, text_at(body, "kind"), *(text_at(metadata, key) for key in names))


def named(body: Tree) -> Tree:
    """*body* without what it holds; of a namespace that is what its labels enforce."""
    kept = {key: body[key] for key in ("apiVersion", "kind", "metadata")}
    return {**kept, "metadata": {**kept["metadata"], "labels": {}}} if limits(body) else kept


class Scope(NamedTuple):
    """That only what can hold or reach an object of KubeVirt's counts, and of that nothing in *exclude*.

    In *shared* that may also be what says whether there is room for pods: others are meant by it.
    *lenient*: what a walk meets and cannot read is a note, since nobody says that a VM stands in it; but where it
    *demands_closed*, what is there and may not be read is none. *drop*: of the other objects in a file that counts
    nothing is known afterwards. *has_submodules*: what stands in one counts too.
    *apart*: the resolved folders of kustomizations that are not built; what they gather is read by itself.
    *repository*: the resolved folder to anything in which links may lead, ``""`` where that is what is read alone.
    """

    exclude: Globs = Globs()
    lenient: bool = True
    demands_closed: bool = False
    drop: bool = True
    shared: Globs = Globs()
    has_submodules: bool = True
    apart: frozenset[str] = frozenset()
    repository: str = ""


def of_kubevirt(
    diagnostics: Sequence[Diagnostic], data: bytes, *, is_applied: bool = False
) -> tuple[list[Diagnostic], int, int]:
    """Of the *diagnostics* about the text *data* those in documents that may hold an object of KubeVirt's.

    Where it *is_applied*, since it has such an object, what is no YAML counts in its other documents too: who applies
    the file is refused. What is a template and not yet YAML is a note: nobody can apply it as it is; the second answer
    counts those, the third the texts in which no document is a manifest.
    """
    if not diagnostics:
        return [], 0, 0
    starts = [0, *(match.start() for match in re.finditer(_SEPARATOR, data)), len(data)]
    lines = data.split(b"\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    documents = [data[start:end] for start, end in pairwise(starts)]
    concerning = list(
        _of_kubevirt(diagnostics, documents, starts, lines, offsets, is_applied=is_applied)
    )
    skips = [found for found in concerning if found.code == codes.FILE_SKIPPED.number]
    templates = sum(found.message.endswith(_NOT_YET_YAML) for found in skips)
    return concerning, templates, len(skips) - templates


def _of_kubevirt(  # noqa: PLR0913 - the text, taken apart
    diagnostics: Iterable[Diagnostic],
    documents: Sequence[bytes],
    starts: Sequence[int],
    lines: Sequence[bytes],
    offsets: Sequence[int],
    *,
    is_applied: bool,
) -> Iterator[Diagnostic]:
    from bisect import bisect_right

    known: dict[int, bool] = {}  # many a document has a thousand mistakes
    for diagnostic in diagnostics:
        line = diagnostic.location.line
        if not diagnostic.is_error or not line or line > len(lines):
            yield diagnostic
            continue
        index = bisect_right(starts, offsets[line - 1], hi=len(starts) - 1) - 1
        if index not in known:
            known[index] = may_hold(documents[index])
        is_no_yaml = diagnostic.code == codes.YAML_SYNTAX.number
        is_no_template = not is_no_yaml or not is_template(lines, line)
        if known[index] and is_no_template:
            yield diagnostic
        elif known[index]:
            yield skipped(diagnostic.location.file, _NOT_YET_YAML)
        elif is_applied and is_no_yaml and is_no_template:
            yield diagnostic


def is_template(lines: Sequence[bytes], line: int) -> bool:
    """Whether a ``{{ }}`` or ``{% %}`` stands in *line* (from 1) or right before it."""
    return any(b"{{" in text or b"{%" in text for text in lines[max(line - _NEAR, 0) : line])
