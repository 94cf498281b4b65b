"""Texts of guests that are to make us speak, or work without end."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from render import Settings, compare, render
from render.frontends.execute import execute
from render.frontends.request.request import Call
from render.guest import texts
from render.report.formats import FORMATS
from tests.support.manifests import put
from tests.support.process import run

CANARY = "hunter2canary"
HEAD = "#cloud-config\n"
#: Texts in which the secret is a value, a key, a tag or what is broken.
USER = {
    "values": f"{HEAD}users: [{{name: {CANARY}, lock_passwd: {CANARY}}}]\nssh_pwauth: [{CANARY}]\n",
    "keys": f"{HEAD}{CANARY}: 1\nchpasswd: {{root:{CANARY}: null, {CANARY}: 2}}\n",
    "deep keys": f"{HEAD}apt: {{sources: {{{CANARY}: {{{CANARY}: {CANARY}}}}}}}\n",
    "broken": f"{HEAD}password: '{CANARY}\n",
    "broken words": f"{HEAD}password: {CANARY}: {CANARY}\n",
    "tag": f"{HEAD}password: !{CANARY} x\n",
    "alias": f"{HEAD}password: *{CANARY}\n",
    "no first line": f"password: {CANARY}\nhostname: {CANARY}\n",
    "ignition": f'{{"ignition": "{CANARY}" {CANARY}}}',
    "deprecated": f"{HEAD}chpasswd: {{list: ['root:{CANARY}']}}\n",
    "script": f"#!/bin/sh\npasswd {CANARY}\n",
}
NETWORK = f"version: 2\nethernets: {{{CANARY}: {{dhcp4: {CANARY}, addresses: {CANARY}}}}}\n"
ANSWERS = f"<unattend><Password>{CANARY}</unattend>"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def thing(kind: str, name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "prod"}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **content}


def machine(*volumes: dict[str, Any], **annotations: str) -> dict[str, Any]:
    named = [{"name": f"v{number}", **volume} for number, volume in enumerate(volumes)]
    spec = {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}, "volumes": named}
    template = {"metadata": {"annotations": annotations}, "spec": spec}
    body = thing("VirtualMachine", "web", spec={"runStrategy": "Always", "template": template})
    return {**body, "apiVersion": "kubevirt.io/v1"}


def inline(text: str) -> list[dict[str, Any]]:
    return [machine({"cloudInitNoCloud": {"userData": text, "networkData": NETWORK}})]


def in_base64(text: str) -> list[dict[str, Any]]:
    source = {"userDataBase64": encoded(text), "networkDataBase64": encoded(NETWORK)}
    return [machine({"cloudInitConfigDrive": source})]


def in_secrets(text: str) -> list[dict[str, Any]]:
    source = {"secretRef": {"name": "s"}, "networkDataSecretRef": {"name": "s"}}
    secret = thing(
        "Secret", "s", stringData={"userdata": text}, data={"networkdata": encoded(NETWORK)}
    )
    return [machine({"cloudInitNoCloud": source}), secret]


def in_answers(text: str) -> list[dict[str, Any]]:
    return [
        machine(
            {"sysprep": {"secret": {"name": "a"}}},
            {"sysprep": {"configMap": {"name": "b"}}},
            **{"kubevirt.io/ignitiondata": f"ignition {text}"},
        ),
        thing("Secret", "a", data={"unattend.xml": encoded(ANSWERS)}),
        thing("ConfigMap", "b", data={"Autounattend.xml": ANSWERS, CANARY: text}),
    ]


PLACES = (inline, in_base64, in_secrets, in_answers)


def blocks(bodies: list[dict[str, Any]]) -> str:
    """*bodies* as people write them, with texts in literal blocks as far as these can stand in one."""
    from io import StringIO

    from ruamel.yaml import YAML
    from ruamel.yaml.scalarstring import LiteralScalarString

    def literal(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: literal(item) for key, item in value.items()}
        if isinstance(value, list):
            return [literal(item) for item in value]
        return LiteralScalarString(value) if isinstance(value, str) and "\n" in value else value

    stream = StringIO()
    YAML().dump_all([literal(body) for body in bodies], stream)
    return stream.getvalue()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", USER)
def test_no_word_of_a_text_is_in_any_format(
    name: str, place: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    bodies = place(USER[name])
    put(tmp_path / "vm.yaml", blocks(bodies))
    put(tmp_path / "vm.json", "\n".join(map(json.dumps, bodies)))
    monkeypatch.chdir(tmp_path)
    for file in ("vm.yaml", "vm.json"):
        for format_ in FORMATS:
            flags: dict[str, str | bool] = {"--format": format_, "--verbose": True}
            execute(Call("check", (file,), flags), {})
            printed = capfd.readouterr()
            assert CANARY not in printed.out + printed.err, (file, format_)
            assert encoded(CANARY)[:-4] not in printed.out + printed.err
            assert "VR45" in printed.out


@pytest.mark.parametrize("place", PLACES)
def test_nor_in_the_library(place: Any) -> None:
    for text in USER.values():
        rendered = render(place(text), Settings(guest="error"))
        assert CANARY not in repr(rendered.diagnostics)
        impact = compare(place(f"{HEAD}hostname: x\n"), place(text), Settings(guest="error"))
        assert CANARY not in repr(impact.after)


@pytest.mark.parametrize("format_", ["text", "json", "markdown", "html"])
def test_nor_in_a_review(
    format_: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "old" / "vm.yaml", blocks(in_secrets(f"{HEAD}hostname: x\n")))
    put(tmp_path / "new" / "vm.yaml", blocks(in_secrets(USER["values"])))
    monkeypatch.chdir(tmp_path)
    execute(Call("diff", ("old", "new"), {"--format": format_, "--guest": "error"}), {})
    printed = capfd.readouterr()
    assert "user data in Secret prod/s, key userdata" in printed.out
    assert CANARY not in printed.out + printed.err


LARGE = {
    "aliases of aliases": HEAD + "a: &a [x, x]\n" + "".join(f"k{n}: &a [*a, *a, *a]\n" for n in range(30)),
    "brackets": HEAD + "users: " + "[" * 100_000,
    "closed brackets": HEAD + "users: " + "[" * 40_000 + "]" * 40_000,
    "braces": HEAD + "x: " + "{a: " * 40_000 + "}" * 40_000,
    "packages": HEAD + "packages: [" + "a," * 40_000 + "]\n",
    "packages of each kind": HEAD + "packages: [" + "".join(f"[a{n}, b]," for n in range(12_000)) + "]\n",
    "a swap of digits": HEAD + f"swap: {{size: {'1' * 400_000}}}\n",
    "a list of passwords": HEAD + f"chpasswd: {{list: ['{':a' * 200_000}\n\n']}}\n",
    "keys on top": HEAD + "".join(f"key{n}: 1\n" for n in range(20_000)),
    "wrong users": HEAD + "users:\n" + "".join(f"- {{name: {n}, x{n}: 1}}\n" for n in range(8_000)),
    "tabs": HEAD + "runcmd: |\n" + "\t  \t#\n" * 100_000,
    "blanks": HEAD + "x: |\n" + "\n" * 300_000,
    "placeholders": HEAD + "x: '" + "<a" * 200_000 + "'\n",
    "an integer": HEAD + "x: " + "9" * 500_000 + "\n",
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_no_text_takes_long(name: str, tmp_path: Path) -> None:
    """A minute, on a machine with much else to do: most take less than a second, and without limits hours."""
    put(tmp_path / "vm.yaml", blocks(in_secrets(LARGE[name])))
    done = run("check", "vm.yaml", cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", LARGE)
def test_nor_do_network_data(name: str) -> None:
    assert len(texts.network_data(LARGE[name].removeprefix(HEAD)).remarks) <= 1


def test_an_answer_file_expands_no_entity() -> None:
    entities = "".join(
        f"<!ENTITY {b} '{f'&{a};' * 9}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    text = f"<!DOCTYPE x [<!ENTITY a 'aaaa'>{entities}]><x>&i;</x>"
    assert texts.answer_file(text) == texts.TextVerdict(unread="XML with a document type")
