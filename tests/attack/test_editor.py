"""What a hostile repository, or a hostile text, does to the language server: it says something, and goes on."""

import os
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from tests.property.test_canary import CANARY, ENCODED, HOLDERS
from tests.support.editor import driven, opened
from tests.support.manifests import instancetype, put, vm

GOOD = vm("web", instancetype="small")
CONFLICT = vm("web", instancetype="small", memory="4Gi")
HEAD = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: bad\n"
TEXTS = {
    "nested": HEAD + "spec: " + "[" * 5000,
    "aliases": HEAD + "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40)),
    "itself": HEAD + "spec: &a\n  template: *a\n",
    "binary": HEAD + "spec: \x00\x01\ud800\n",
    "lines": HEAD + "spec:\u2028  x: 1\x85\x0b\x0c\r\n\r  y: \U0001f600\n",
    "keys": HEAD + "? [a, b]\n: 1\n? {}\n: 2\n1: 2\nnull: 3\n",
    "numbers": HEAD + "spec:\n  template:\n    spec:\n      domain:\n        memory:\n          guest: 1e999999999\n",
    "types": HEAD + "spec:\n  template: []\n  instancetype: {name: [], kind: {}}\n  dataVolumeTemplates: {a: b}\n",
    "volumes": HEAD + "spec:\n  template:\n    spec:\n      volumes: [1, {}, {name: {}}, {secret: []},"
    " {cloudInitNoCloud: x}]\n",
    "lock": "apiVersion: virt-render.dev/v1alpha1\nkind: RevisionLock\nmetadata: {name: x}\npins: [1]\nrevisions: 3\n",
    "preset": "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstancePreset\nmetadata: {name: p}\n"
    "spec: {selector: {matchLabels: [], matchExpressions: {}}}\n",
    "empty": "",
    "long": HEAD + "# " + "x" * 3_000_000 + "\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = (tmp_path / "repository").resolve()
    put(top / "vms/web.yaml", GOOD)
    put(top / "platform/instancetypes.yaml", instancetype())
    return top


def test_hostile_texts_do_not_stop_it(folder: Path) -> None:
    """After each, all that can be asked for is asked for, everywhere in it."""

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.open("vms/bad.yaml", HEAD)
            for name, text in TEXTS.items():
                whole = text.encode("utf-8", "replace").decode() if name == "binary" else text
                editor.type("vms/bad.yaml", whole)
                for word in (
                    "apiVersion",
                    "kind: ",
                    "name",
                    "spec",
                    "pins",
                    "volumes",
                    "guest",
                    "selector",
                ):
                    if word in whole:
                        await editor.hover("vms/bad.yaml", word, 1)
                        await editor.definition("vms/bad.yaml", word, 1)
                        await editor.references("vms/bad.yaml", word, 1)
                        await editor.complete("vms/bad.yaml", word, len(word))
                for finding in editor.diagnostics.get("vms/bad.yaml", [])[:3]:
                    await editor.actions("vms/bad.yaml", finding)
                assert editor.logged == [], name
                editor.type("vms/web.yaml", CONFLICT)
                await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])
                editor.type("vms/web.yaml", GOOD)
                await editor.until(lambda: editor.codes("vms/web.yaml") == [])

    driven(work)


def test_a_line_of_many_findings_has_a_menu_that_one_can_read(folder: Path) -> None:
    fields = ", ".join(f"running{number}: 1" for number in range(200))

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.open("vms/bad.yaml", f"{HEAD}spec: {{{fields}}}\n")
            await editor.until(lambda: len(editor.codes("vms/bad.yaml")) >= 200)
            offered = await editor.actions("vms/bad.yaml", editor.diagnostics["vms/bad.yaml"][0])
            assert 0 < len(offered) <= 32

    driven(work)


def test_messages_that_make_no_sense_do_not_stop_it(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            client = editor.client
            far, near = types.Position(10**6, 10**6), types.Position(0, 1)
            for uri, place in (
                (editor.uri("vms/web.yaml"), far),
                (editor.uri("vms/none.yaml"), near),
                ("nowhere:%zz", near),
                (editor.uri("vms/%00.yaml"), near),
                (editor.uri("vms/%2e%2e/%2e%2e/none.yaml"), near),
                ("file:///etc/passwd", near),
            ):
                document = types.TextDocumentIdentifier(uri)
                assert (
                    await client.text_document_hover_async(types.HoverParams(document, place))
                    is None
                )
                completion = types.CompletionParams(document, place)
                assert await client.text_document_completion_async(completion) is None
            with pytest.raises(JsonRpcInvalidParams):
                await client.workspace_execute_command_async(types.ExecuteCommandParams("rm"))
            item = types.TextDocumentItem("untitled:1", "yaml", 1, CONFLICT)
            client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            shadow = types.TextDocumentIdentifier("file:///etc/shadow")
            client.text_document_did_close(types.DidCloseTextDocumentParams(shadow))
            changes = [types.FileEvent("file:///", types.FileChangeType.Changed)]
            client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])
            assert editor.logged == []

    driven(work)


def test_no_edit_leaves_the_folder(folder: Path, tmp_path: Path) -> None:
    """A file that a link in the folder leads to is not edited, nor is one that two kustomizations use."""
    put(
        tmp_path / "outside.yaml",
        vm("outside").replace("  name: outside\n", "  name: outside\n  labels: {zone: 1}\n"),
    )
    (folder / "vms/link.yaml").symlink_to(tmp_path / "outside.yaml")
    put(
        folder / "base/vm.yaml",
        vm("shop").replace("  name: shop\n", "  name: shop\n  labels: {zone: 1}\n"),
    )
    put(folder / "base/kustomization.yaml", "resources: [vm.yaml]\n")
    for name in ("one", "two"):
        put(folder / name / "kustomization.yaml", "resources: [../base]\n")
    put(
        folder / "vms/web.yaml", GOOD.replace("  name: web\n", "  name: web\n  labels: {zone: 1}\n")
    )

    async def work() -> None:
        async with opened(folder) as editor:
            for file, titles in (
                ("vms/web.yaml", ["put the value in quotes"]),
                ("base/vm.yaml", []),
                ("vms/link.yaml", []),
            ):
                editor.open(file)
                await editor.hover(file, "kind")
                found = [
                    item
                    for finding in editor.diagnostics.get(file, [])
                    for item in await editor.actions(file, finding)
                ]
                assert [item.title for item in found] == titles, file

    driven(work)


def test_a_folder_that_goes_away(folder: Path) -> None:
    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            assert await editor.hover("vms/web.yaml", "small")
            os.rename(folder, f"{folder}-moved")
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.logged)
            os.rename(f"{folder}-moved", folder)
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])

    driven(work)


def test_a_pipe_in_the_place_of_a_file(folder: Path) -> None:
    os.mkfifo(folder / "vms/pipe.yaml")

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.open("vms/pipe.yaml", GOOD)
            editor.close("vms/pipe.yaml")
            editor.type("vms/web.yaml", CONFLICT)
            await editor.until(lambda: editor.codes("vms/web.yaml") == ["VR301"])

    driven(work)


def test_no_hover_and_no_finding_shows_a_secret(folder: Path) -> None:
    """Everywhere on the lines of each object that holds one, with a field beside it that nobody knows."""

    async def work() -> None:
        async with opened(folder) as editor:
            editor.open("vms/web.yaml")
            editor.open("vms/bad.yaml", HEAD)
            for name, holder in HOLDERS.items():
                text = holder.replace("KEY", "userData").replace("MORE", "unknown")
                text = text.replace("VALUE", CANARY)
                editor.type("vms/bad.yaml", text)
                answers = [
                    await editor.hover("vms/bad.yaml", line, column)
                    for line in set(text.splitlines())
                    for column in {len(line) - len(line.lstrip()) + 1, max(len(line) - 1, 0)}
                ]
                answers += [finding.message for finding in editor.diagnostics["vms/bad.yaml"]]
                assert not [a for a in answers if CANARY in a or ENCODED in a], name
            assert editor.logged == []

    driven(work)
