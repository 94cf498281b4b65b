"""``pin --upgrade`` of some VMs: by namespace, pattern and label, so many or such a share of them."""

from pathlib import Path

import pytest

from render.diagnostics.exits import Exit
from render.frontends.dispatch import invoke
from tests.support.manifests import instancetype, put, vm

NAMES = ["prod/api", "prod/web-1", "prod/web-2", "prod/web-3", "test/web-1"]


def labelled(name: str, namespace: str) -> str:
    labels = f"  labels: {{tier: {name.partition('-')[0]}}}\n"
    text = vm(name, namespace=namespace, instancetype="small")
    return text.replace("spec:\n", f"{labels}spec:\n", 1)


@pytest.fixture
def messages(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> "pytest.CaptureFixture[str]":
    """What is printed, in a repository whose five VMs are pinned to a smaller instancetype than there is now."""
    monkeypatch.chdir(tmp_path_factory.mktemp("repository"))
    for name in NAMES:
        namespace, _, last = name.partition("/")
        put(f"{name}.yaml", labelled(last, namespace))
    put("small.yaml", instancetype())
    assert invoke(["pin", "."]) == Exit.OK
    put("small.yaml", instancetype(cpus=2))
    capfd.readouterr()
    return capfd


def upgraded(messages: "pytest.CaptureFixture[str]", *words: str) -> list[str]:
    assert invoke(["pin", "-v", *words]) == Exit.OK
    lines = messages.readouterr().out.splitlines()
    return [line.split()[0] for line in lines if " 1 -> 2 " in line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--upgrade", "prod/"), NAMES[:4]),
        (("--upgrade", "web-*"), NAMES[1:]),
        (("--upgrade", "*/web-1"), ["prod/web-1", "test/web-1"]),
        (("--upgrade", "p*/web-[!1]"), ["prod/web-2", "prod/web-3"]),
        (("--upgrade", "test/", "--upgrade", "api"), ["prod/api", "test/web-1"]),
        (("--upgrade", "VirtualMachine/prod/*1"), ["prod/web-1"]),
        (("--upgrade-all", "--selector", "tier!=web"), ["prod/api"]),
        (("--upgrade", "prod/", "-l", "tier in (web, db),!old"), NAMES[1:4]),
        (("--upgrade-all", "--limit", "2"), NAMES[:2]),
        (("--upgrade-all", "--limit", "9"), NAMES),
        (("--upgrade-all", "--percent", "50"), NAMES[:3]),
        (("--upgrade", "web-*", "--percent", "1"), ["prod/web-1"]),
    ],
)
def test_some_are_upgraded(
    words: tuple[str, ...], expected: list[str], messages: "pytest.CaptureFixture[str]"
) -> None:
    assert upgraded(messages, *words) == expected


def test_waves_go_on_until_nobody_is_left(messages: "pytest.CaptureFixture[str]") -> None:
    waves = [upgraded(messages, "--upgrade-all", "--limit", "2") for _ in range(4)]
    assert waves == [NAMES[:2], NAMES[2:4], NAMES[4:], []]


def test_a_wave_says_how_far_it_goes(messages: "pytest.CaptureFixture[str]") -> None:
    words = ["pin", "--quiet", "--upgrade", "prod/", "--limit", "3"]
    assert invoke([*words, "--dry-run"]) == Exit.OK
    assert "\nwould be upgraded: 3 of 4 VMs that would change, the first by name" in (
        messages.readouterr().out
    )
    invoke(words)
    messages.readouterr()
    invoke(words)
    assert messages.readouterr().out.endswith("\nupgraded: 1 VM, the last that would change\n")
    invoke(words)
    assert messages.readouterr().out == "nothing moved\n"


def test_other_edits_are_no_part_of_a_wave(messages: "pytest.CaptureFixture[str]") -> None:
    text = labelled("api", "prod").replace(
        "devices: {}", "devices: {}\n        machine: {type: q35}"
    )
    put("prod/api.yaml", text)
    assert upgraded(messages, "--upgrade-all", "--limit", "1") == ["prod/api"]
    put("new.yaml", vm("new", namespace="prod", instancetype="small"))
    assert upgraded(messages, "--upgrade-all", "--limit", "1") == ["prod/web-1"]


def test_what_is_alike_is_one_group(messages: "pytest.CaptureFixture[str]") -> None:
    assert invoke(["pin", "--quiet", "--upgrade-all", "--dry-run"]) == Exit.OK
    heading, names, *changes = messages.readouterr().out.splitlines()
    assert heading.startswith("5 VMs: instancetype small@")
    assert names == "  prod/api, prod/web-1, prod/web-2, and 2 more (-v)"
    assert all(line.startswith("      ") for line in changes)
    invoke(["pin", "--quiet", "--upgrade-all"])
    _, row = messages.readouterr().out.splitlines()
    assert row.startswith("prod/api and 4 more  1 -> 2 ")


LONG = "*a" * 400


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--limit", "1"), "--limit narrows down which VMs are upgraded, and none is to be"),
        (("--selector", "a"), "--selector narrows down"),
        (("--upgrade-all", "--limit", "1", "--percent", "1"), "exclude each other"),
        (("--upgrade-all", "--percent", "101"), "101 is more than 100"),
        (("--upgrade", "x-*"), "no VirtualMachine in the input fits x-*"),
        (("--upgrade", "prdo/"), "no VirtualMachine in the input fits prdo/"),
        (("--upgrade", LONG), "no VirtualMachine in the input fits *a*a"),
        (("--upgrade", "[" * 1000), "no VirtualMachine in the input fits [["),
        (("--upgrade", "a/b/c/*"), "no VirtualMachine in the input fits a/b/c/*"),
        (("--upgrade", "web-1"), "web-1 may be prod/web-1 or test/web-1"),
        (("--upgrade-all", "--selector", "tier=db"), "none of 5 VirtualMachines has the labels tier=db"),
        (("--upgrade-all", "--selector", "tier in web"), '"web" is in the place of values in brackets'),
        (("--upgrade-all", "--selector", "tier in (web"), "is in the place of values in brackets"),
        (("--upgrade-all", "--selector", "tier>1"), '">1" is in the place of a comma'),
        (("--upgrade-all", "--selector", "a,,b"), '",b" begins with no label'),
        (("--upgrade-all", "--selector", "a,"), '"," is in the place of a comma'),
        (("--upgrade-all", "--selector", ","), '"," begins with no label'),
        (("--upgrade-all", "--selector", "!a=b"), '"=b" is in the place of a comma'),
        (("--upgrade-all", "--selector", "-a=b"), "key: Invalid value"),
        (("--upgrade-all", "--selector", "a=" + "b" * 64), "must be no more than 63"),
    ],
)  # fmt: skip
def test_what_is_no_choice_is_said_and_nothing_written(
    words: tuple[str, ...], told: str, messages: "pytest.CaptureFixture[str]"
) -> None:
    with open("virt-render.lock.yaml", encoding="utf-8") as lock:
        before = lock.read()
    assert invoke(["pin", *words]) == Exit.USAGE
    printed = messages.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert "VR608" not in printed.err, "only what is wrong with the call"
    with open("virt-render.lock.yaml", encoding="utf-8") as lock:
        assert lock.read() == before


def test_a_vm_is_named_with_the_namespace_that_its_application_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As other commands print it; the lock knows it without one."""
    monkeypatch.chdir(tmp_path)
    put(
        "app.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n"
        "spec:\n  project: default\n  destination: {namespace: prod, server: https://x}\n"
        "  source: {repoURL: https://x/y, path: web, targetRevision: main}\n",
    )
    put("web/kustomization.yaml", "resources: [vm.yaml, small.yaml]\n")
    put("web/vm.yaml", vm(namespace="", instancetype="small"))
    put("web/small.yaml", instancetype())
    assert invoke(["pin", "."]) == Exit.OK
    put("web/small.yaml", instancetype(cpus=2))
    capfd.readouterr()
    for words in (["--upgrade", "prod/web"], ["--upgrade", "prod/*"]):
        assert invoke(["pin", "-v", "--dry-run", *words, "."]) == Exit.OK
        assert "web  " in capfd.readouterr().out
    assert invoke(["pin", "--dry-run", "--upgrade", "test/web", "."]) == Exit.USAGE
