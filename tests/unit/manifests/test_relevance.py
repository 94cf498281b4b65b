"""What of a repository counts."""

import pytest

from render.diagnostics.diagnostic import Diagnostic
from render.manifests import relevance
from render.yaml.reader import read
from tests.support.calls import calls_of_ours


@pytest.mark.parametrize(
    ("api_version", "kind", "counts"),
    [
        ("kubevirt.io/v1", "VirtualMachine", True),
        ("apps/v1", "ControllerRevision", True),
        ("apps/v1", "Deployment", False),
        ("v1", "ConfigMap", False),
        ("template.openshift.io/v1", "Template", True),
    ],
)
def test_what_kubevirt_reads(api_version: str, kind: str, *, counts: bool) -> None:
    assert relevance.concerns({"apiVersion": api_version, "kind": kind}) is counts


@pytest.mark.parametrize(
    ("api_version", "kind", "counts"),
    [
        ("v1", "PersistentVolumeClaim", True),
        ("v1", "Secret", True),
        ("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", True),
        ("v1", "Pod", False),
        ("example.com/v1", "Secret", False),
    ],
)
def test_what_a_vm_may_refer_to(api_version: str, kind: str, *, counts: bool) -> None:
    body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}
    assert relevance.is_referent(body) is counts
    assert not relevance.is_referent({**body, "metadata": {"generateName": "x-"}})
    text = f"apiVersion: {api_version}\nkind: {kind}\n".encode()
    assert relevance.may_be_referent(text) or not counts


@pytest.mark.parametrize(
    "text",
    [
        b"apiVersion: kubevirt.io/v1",
        rb'apiVersion: "kubevirt\x2eio/v1"',
        rb'{"apiVersion": "\u006b\u0075bevirt.io\/v1"}',
        rb'apiVersion: "kubevirt\U0000002Eio/v1"',
        b'apiVersion: "kubevirt.\\\n  io/v1"',
        b'apiVersion: "kubevirt.\\\r\n\tio/v1"',
        b"apiVersion: !!binary a3ViZXZpcnQuaW8vdjE=",
        b"apiVersion: !<tag:yaml.org,2002:binary> a3ViZXZpcnQuaW8vdjE=",
        b"%TAG !b! tag:yaml.org,2002:\n---\napiVersion: !b!binary a3ViZXZpcnQuaW8vdjE=",
        "apiVersion: kubevirt.io/v1".encode("utf-16"),
        b"apiVersion: ${GROUP}/v1",
        b"apiVersion: >-\n  ${GROUP}/v1",
        b"apiVersion:\n  ${GROUP:=a,b}/v1",
    ],
)
def test_a_word_counts_however_it_is_written(text: bytes) -> None:
    assert relevance.may_hold(text)


@pytest.mark.parametrize(
    "text",
    [
        rb"path: C:\users\x2\u00zz",
        b"kind: List",
        rb'"kubevirt\u002fio"',
        b'{"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "${B}"}}',
        b"apiVersion: v1\nkind: ${KIND}\n",
    ],
)
def test_other_escapes_are_no_word_of_kubevirts(text: bytes) -> None:
    assert not relevance.may_hold(text)


def test_what_is_asked_of_a_text_is_asked_of_its_escapes() -> None:
    assert relevance.may_ask(rb'apiVersion: "argoproj\x2eio/v1alpha1"')
    assert relevance.may_be_referent(rb'kind: "Secre\x74"')
    assert relevance.refers(rb'"claim\u004eame": x')
    assert relevance.may_limit(rb'kind: "Limit\x52ange"')


def test_a_document_with_many_mistakes_is_looked_at_once() -> None:
    """Each look takes as long as the document is: a thousand of them took four seconds."""
    data = b"a: b\n---\n" + b"a: |\n" * 100_000
    found = read(data, "x.yaml").diagnostics
    assert len(found) >= 1000
    counting: list[list[Diagnostic]] = []
    done = calls_of_ours(lambda: counting.append(relevance.of_kubevirt(found, data)[0]))
    assert (counting, done["manifests/relevance.py:may_hold"]) == ([[]], 1)
