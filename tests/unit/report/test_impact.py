"""The impact of a change in every format: the schema of the JSON, secrets, hostile names, and what is cut."""

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from markdown_it import MarkdownIt

from render import Impact, Settings, compare
from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diff.impact import DefinitionWithoutEffect, MachineImpact
from render.diff.source import SideName
from render.model.resource import ResourceRef
from render.report.formats import IMPACT_FORMATS
from render.report.impact import formats
from render.report.impact.formats import ImpactStyle
from render.report.impact.markdown import code
from render.report.impact.review import (
    Review,
    ReviewedState,
    ReviewPart,
    by_instancetype,
    by_namespace,
    causes,
    entries,
    errors,
    new_warnings,
    total,
    without_rest,
)
from render.report.places import Place
from render.revisions import differing
from tests.support import pages

ROOT = Path(__file__).parents[3]
CANARY = "canary-horse-staple"
HOSTILE = (
    "</details>",
    "a|b|c",
    "`code` ``more``",
    "@team/everyone",
    "<script>alert(1)</script>",
    "![x](https://example.com/x.png)",
    "[x](javascript:alert(1))",
    "</script><img src=x onerror=alert(1)>",
    "line\n\n# heading\n\n| a | b |",
    "]]> --> <!-- ",
    "\\`|\\",
    "`",
    "\u202etxt.exe",
    "https://example.com www.example.com a@example.com",
)


def vm(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "prod"},
        "spec": {
            "runStrategy": "Always",
            "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}, **spec}},
        },
    }


def instancetype(guest: int) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "small"},
        "spec": {"cpu": {"guest": guest}, "memory": {"guest": "2Gi"}},
    }


def using(name: str, **spec: Any) -> dict[str, Any]:
    made = vm(name, **spec)
    made["spec"]["instancetype"] = {"name": "small"}
    del made["spec"]["template"]["spec"]["domain"]["memory"]
    return made


def review(
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    name: str = "",
    place: Place = Place("vms.yaml", 3, 5),  # noqa: B008 - a value
) -> Review:
    """The review of a change, where each object stands in a line of its own, beginning with *place*."""
    found = compare(before, after, Settings(emit="vm", admission="off"))
    part = ReviewPart(name, found, lambda of: place._replace(line=place.line + (of.index or 0)))
    return Review(ReviewedState("main"), ReviewedState("the working tree"), "vm", (part,))


def written(name: str, item: Review, most: int = 0) -> str:
    return formats.report(name, item, ImpactStyle(most=most))


def hostile() -> Review:
    """A change in which every text that the repository decides is a hostile one."""
    before, after = [], []
    for number, text in enumerate(HOSTILE):
        name = f"{text}{number}"
        labels = {text: text, f"example.com/{number}": text}
        before.append(vm(name, nodeSelector=labels))
        after.append(vm(name, nodeSelector=dict.fromkeys(labels, f"{text}+"), hostname=text))
    return review(before, after, name=HOSTILE[0], place=Place(HOSTILE[4], 1, 1))


def secrets(word: str) -> dict[str, Any]:
    encoded = base64.b64encode(word.encode()).decode()
    volumes = [
        {"name": "a", "cloudInitNoCloud": {"userData": word, "networkData": word}},
        {"name": "b", "cloudInitConfigDrive": {"userDataBase64": encoded, "networkDataBase64": encoded}},
    ]  # fmt: skip
    return vm(volumes=volumes)


def pool(memory: str) -> dict[str, Any]:
    labels = {"app": "web"}
    spec = {"domain": {"devices": {}, "memory": {"guest": memory}}}
    template = {
        "metadata": {"labels": labels},
        "spec": {
            "runStrategy": "Always",
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    return {
        "apiVersion": "pool.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePool",
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": labels}, "virtualMachineTemplate": template,
        },
    }  # fmt: skip


SAMPLES = {
    "pool": lambda: review([vm(), pool("1Gi")], [vm(), pool("2Gi")]),
    "nothing": lambda: review([], []),
    "same": lambda: review([vm()], [vm()]),
    "fleet": lambda: review(
        [instancetype(2), using("a"), using("b"), vm("c")], [instancetype(4), using("a"), vm("d")]
    ),
    "hostile": hostile,
}


@cache
def impact_schema() -> jsonschema.Draft202012Validator:
    schema = json.loads((ROOT / "schemas" / "impact.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("sample", SAMPLES)
def test_json_follows_its_schema(sample: str) -> None:
    impact_schema().validate(json.loads(written("json", SAMPLES[sample]())))


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_secrets_are_hidden(name: str) -> None:
    text = written(name, review([secrets(f"{CANARY}-1")], [secrets(f"{CANARY}-2")]))
    assert "(hidden, changed)" in text
    for number in (1, 2):
        word = f"{CANARY}-{number}"
        assert word not in text
        assert base64.b64encode(word.encode()).decode() not in text


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_every_vm_counts(name: str) -> None:
    text = written(name, SAMPLES["fleet"]())
    if name == "json":
        assert json.loads(text)["counts"] == {"gone": 2, "migrate": 1, "new": 1}
    else:
        assert "4 VMs: 2 gone, 1 migrate, 1 new" in text


def test_totals_by_namespace_and_instancetype() -> None:
    machines = SAMPLES["fleet"]().machines
    assert total(machines) == ((3, 5, 5 << 30), (2, 5, 3 << 30))
    assert by_namespace(machines) == {"prod": total(machines)}
    assert by_instancetype(machines) == {
        "": ((1, 1, 1 << 30), (1, 1, 1 << 30)),
        "small": ((2, 4, 4 << 30), (1, 4, 2 << 30)),
    }


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_who_is_pinned_is_said(name: str) -> None:
    reviewed = review([vm()], [vm()])
    (part,) = reviewed.parts
    (machine,) = part.impact.machines
    found = Impact((machine._replace(pins=("instancetype",)),), ())
    text = written(name, reviewed._replace(parts=(part._replace(impact=found),)))
    if name == "json":
        assert json.loads(text)["machines"][0]["pins"] == ["instancetype"]
    else:
        assert "inned by the lock, of those that stay as they are: 1" in text
    assert "inned by the lock" not in written(name, reviewed)


def test_hostile_text_forges_no_markdown() -> None:
    text = written("markdown", hostile())
    assert "\u202e" not in text
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text)
    flat = [item for token in tokens for item in (token, *(token.children or ()))]
    blocks = [item.content.strip() for item in flat if item.type == "html_block"]
    title = re.compile(
        r"<details><summary><b>[a-z]+</b> <code>[A-Za-z0-9 /&#;-]*</code> in <code>[A-Za-z0-9 /&#;-]*</code></summary>"
    )
    rest = re.compile(
        r"<details><summary>((details of )?[0-9]+ [A-Za-z ]+|sums by [a-z]+: \d+|what these effects mean)</summary>"
    )
    opened = [block for block in blocks if block != "</details>"]
    assert all(title.fullmatch(item) or rest.fullmatch(item) for item in opened)
    assert len([item for item in opened if title.fullmatch(item)]) == len(HOSTILE)
    assert len(blocks) == 2 * len(opened)
    assert {item.type for item in flat}.isdisjoint({"image", "link_open", "html_inline", "fence"})
    assert {item.tag for item in flat if item.type == "heading_open"} == {"h3"}
    plain = "".join(item.content for item in flat if item.type == "text")
    for word in ("@team", "example.com", "alert", "heading", "|"):
        assert word not in plain
    for row in _rows(tokens):
        assert row in (2, 3, 4)


def _rows(tokens: list[Any]) -> list[int]:
    """The number of cells of each row of a table."""
    counted: list[int] = []
    for token in tokens:
        if token.type == "tr_open":
            counted.append(0)
        elif token.type in ("td_open", "th_open"):
            counted[-1] += 1
    return counted


@pytest.mark.parametrize("text", [*HOSTILE, "", " ", "``` `a", "a`"])
@pytest.mark.parametrize("cell", [False, True])
def test_a_code_span_cannot_be_closed(text: str, *, cell: bool) -> None:
    printed = code(text, cell=cell)
    (paragraph,) = [item for item in MarkdownIt().parse(f"x {printed} y") if item.type == "inline"]
    assert [item.type for item in paragraph.children or ()] == ["text", "code_inline", "text"]


def test_hostile_text_forges_no_html() -> None:
    text = written("html", hostile())
    assert "\u202e" not in text
    assert pages.reaching(text) == []
    assert len(list(pages.parse(text).iter("details"))) == len(HOSTILE) + 1  # causes
    rows = pages.data(text)
    assert sorted(row[2] for row in rows) == sorted(f"{item}{i}" for i, item in enumerate(HOSTILE))


def test_the_page_has_the_worst_cause_first_and_a_box_an_object() -> None:
    labels = {"a": "b"}
    broken = vm("broken")
    broken["spec"]["instancetype"] = {"name": "nowhere"}
    edited = vm("edited", nodeSelector=labels, hostname="other", terminationGracePeriodSeconds=7)
    reviewed = review([vm("broken"), vm("edited")], [broken, edited])
    text = written("html", reviewed)
    boxes = [
        " ".join("".join(box.itertext()).split())
        for box in pages.parse(text).iter("div")
        if "cause" in box.get("class", "")
    ]
    assert len(boxes) == 2
    assert boxes[0].startswith("VirtualMachine prod/broken: 1 unrenderable")
    assert '"nowhere" not found' in boxes[0]
    assert boxes[1].startswith("VirtualMachine prod/edited: 1 restart")
    assert boxes[1].count("vms.yaml:4:5") == 3
    rows = [" ".join("".join(row.itertext()).split()) for row in pages.parse(text).iter("tr")]
    (row,) = (row for row in rows if row.startswith("unrenderable"))
    assert '"nowhere" not found' in row
    assert "<h1>1 of 2 VMs breaks, 1 needs a restart</h1>" in text


def test_a_vm_counts_at_a_cause_by_what_comes_of_that_one() -> None:
    """Of a VM that stops, the instancetype is for its next start; what needs a restart comes before the rest."""
    stopped, running = using("stopped"), using("running")
    halted = {**stopped, "spec": {**stopped["spec"], "runStrategy": "Halted"}}
    edited = using("running", hostname="other")
    reviewed = review([instancetype(1), stopped, running], [instancetype(2), halted, edited])
    found = causes(entries(reviewed.parts))
    assert [(cause.name.rpartition("/")[2], cause.field, cause.effects) for cause in found] == [
        ("stopped", "spec.runStrategy", {"stop": 1}),
        ("running", "spec.template.spec.hostname", {"restart": 1}),
        ("VirtualMachineClusterInstancetype small", "spec.cpu.guest", {"restart": 1, "next": 1}),
    ]
    assert "(with the restart)" in written("text", reviewed)


def test_of_those_that_cannot_be_rendered_the_new_ones_come_first() -> None:
    lost = [
        MachineImpact(ResourceRef("VirtualMachine", "prod", name), ("unrenderable",), ("no",))
        for name in "abc"
    ]
    sides: tuple[tuple[SideName, ...], ...] = (
        ("before", "after"), ("before", "after"), ("after",),
    )  # fmt: skip
    machines = tuple(
        machine._replace(unrendered=unrendered)
        for machine, unrendered in zip(lost, sides, strict=True)
    )
    listed = entries([ReviewPart("", Impact(machines))])
    assert [entry.machine.resource.name for entry in listed] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("methods", "answer"),
    [([], "waits for a migration"), (["LiveMigrate"], "migrates"), (["Evict"], "is evicted")],
)
def test_the_table_says_what_nothing_migrates(methods: list[str], answer: str) -> None:
    """Without workloadUpdateMethods a merge migrates nothing."""
    cluster = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"workloadUpdateStrategy": {"workloadUpdateMethods": methods}},
    }
    before, after = (vm(networks=[{"name": "default", "pod": {}}]) for _ in range(2))
    for machine, guest in ((before, "1Gi"), (after, "2Gi")):
        domain = machine["spec"]["template"]["spec"]["domain"]
        domain["devices"] = {"interfaces": [{"name": "default", "masquerade": {}}]}
        domain["memory"]["guest"] = guest
    text = written("markdown", review([cluster, before], [cluster, after]))
    (row,) = (line for line in text.splitlines() if line.startswith("| `VirtualMachine prod/web`"))
    assert "| migrate, next |" in row
    assert row.endswith("; nothing migrates it by itself |") == (not methods)
    assert text.startswith(f"### 1 of 1 VM {answer}\n"), "nor does the heading say so"


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_what_cannot_migrate_is_not_said_to_change_with_a_migration(name: str) -> None:
    """KubeVirt takes more sockets over, sets no RestartRequired, and migrates nothing."""
    meant = {}
    for bindings in (["bridge"], ["bridge", "masquerade"], ["masquerade"]):
        sides: list[list[Any]] = [[], []]
        for number, binding in enumerate(bindings):
            for side, sockets in zip(sides, (1, 2), strict=True):
                machine = vm(f"web-{number}", networks=[{"name": "default", "pod": {}}])
                domain = machine["spec"]["template"]["spec"]["domain"]
                domain["devices"] = {"interfaces": [{"name": "default", binding: {}}]}
                domain["cpu"] = {"sockets": sockets}
                side.append(machine)
        text = written(name, review(sides[0], sides[1]))
        meant[" ".join(bindings)] = re.findall(
            r"(?:would change|changes) with a live migration[^|\n<]*", text
        )[0]
    after = "cannot migrate: the guest has it after a restart"
    assert meant["bridge"].strip() == f"would change with a live migration, and {after}"
    mixed = f"changes with a live migration; 1 of them {after}"
    assert meant["bridge masquerade"].strip() == mixed
    assert meant["masquerade"].strip() == "changes with a live migration"


def test_a_line_of_a_base_is_one_cause_for_all_overlays() -> None:
    """Each overlay has the object of the base in a namespace of its own."""
    parts = []
    for namespace in ("dev", "prod"):
        machine = using("web")
        machine["metadata"]["namespace"] = namespace
        machine["spec"]["instancetype"]["kind"] = "VirtualMachineInstancetype"
        sizes = [{**instancetype(guest), "kind": "VirtualMachineInstancetype"} for guest in (1, 2)]
        for size in sizes:
            size["metadata"] = {"name": "small", "namespace": namespace}
        (part,) = review([sizes[0], machine], [sizes[1], machine]).parts
        parts.append(part._replace(name=namespace))
    reviewed = review([], [])._replace(parts=tuple(parts))
    (cause,) = causes(entries(reviewed.parts))
    assert cause.name == "VirtualMachineInstancetype small"
    assert sum(cause.effects.values()) == len(parts)
    text = written("html", reviewed)
    (box,) = (box for box in pages.parse(text).iter("div") if "cause" in box.get("class", ""))
    assert "spec.cpu.guest" in "".join(box.itertext())


def test_vms_of_a_line_are_told_together() -> None:
    """Overlays give the VM of a base a prefix each."""
    before = [vm("dev-web"), vm("prod-web")]
    after = [vm("dev-web", hostname="web"), vm("prod-web", hostname="web")]
    reviewed = review(before, after)
    (part,) = reviewed.parts
    listed = reviewed._replace(parts=(part._replace(locate=lambda _: Place("vms.yaml", 3, 5)),))
    text = written("text", listed)
    assert "restart  2 VMs\n    prod/dev-web, prod/prod-web\n" in text
    assert text.count("spec.hostname: none -> web (restart)  vms.yaml:3:5\n") == 1


def preference(bus: str, model: str) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "linux", "namespace": "prod"},
        "spec": {"devices": {"preferredDiskBus": bus, "preferredInterfaceModel": model}},
    }


def test_a_box_says_how_many_vms_a_field_reaches_if_not_all() -> None:
    machines = []
    for name, own in (("both", {}), ("model", {"bus": "virtio"})):
        machine = vm(
            name,
            networks=[{"name": "default", "pod": {}}],
            volumes=[{"name": "root", "emptyDisk": {"capacity": "1Gi"}}],
        )
        machine["spec"]["preference"] = {"kind": "VirtualMachinePreference", "name": "linux"}
        machine["spec"]["template"]["spec"]["domain"]["devices"] = {
            "disks": [{"name": "root", "disk": own}],
            "interfaces": [{"name": "default", "masquerade": {}}],
        }
        machines.append(machine)
    before, after = preference("virtio", "virtio"), preference("sata", "e1000e")
    text = written("html", review([before, *machines], [after, *machines]))
    (box,) = (box for box in pages.parse(text).iter("div") if "cause" in box.get("class", ""))
    told = " ".join("".join(box.itertext()).split())
    assert "spec.devices.preferredDiskBus: bus virtio → sata in 1 of 2 VMs" in told
    assert told.count(" VMs") == 1


def boxes(page: str) -> list[str]:
    """What stands in the boxes of causes."""
    return [
        " ".join("".join(box.itertext()).split())
        for box in pages.parse(page).iter("div")
        if "cause" in box.get("class", "")
    ]


def test_vms_that_are_edited_alike_are_one_box() -> None:
    """A box for each VM hid what reaches many of them behind the tenth."""
    names = [f"vm-{number}" for number in range(8)]
    before = [instancetype(2), *map(vm, names), vm("other"), using("sized")]
    after = [
        instancetype(4),
        *(vm(name, hostname="x") for name in names),
        vm("other", hostname="y"),
        using("sized"),
    ]
    alike, other, size = boxes(written("html", review(before, after)))
    assert alike == (
        "8 VirtualMachines: 8 restart vms.yaml:4:5 spec.template.spec.hostname: none → x"
        " and the same in vms.yaml:5:5, vms.yaml:6:5, vms.yaml:7:5, vms.yaml:8:5"
        " and 3 more placesvms.yaml:9:5, vms.yaml:10:5, vms.yaml:11:5"
    )
    assert other.startswith("VirtualMachine prod/other: 1 restart")
    assert size.startswith("VirtualMachineClusterInstancetype small: 1 migrate")


def test_errors_that_say_the_same_are_one_box() -> None:
    def lost(name: str, wanted: str) -> dict[str, Any]:
        made = vm(name)
        made["spec"]["instancetype"] = {"name": wanted}
        return made

    after = [lost("a", "nowhere"), lost("b", "nowhere"), lost("c", "elsewhere")]
    reviewed = review([*map(vm, "abc")], after)
    page = written("html", reviewed)
    several, alone = boxes(page)
    assert several.startswith("VirtualMachine prod/a and 1 more VM: 2 unrenderable ")
    assert several.endswith('"nowhere" not found')
    assert alone.startswith("VirtualMachine prod/c: 1 unrenderable ")
    assert page.count("&#34;nowhere&#34; not found") == 1
    assert page.count('<a href="#fault-0">') == 2 * len(after[:2])
    comment = written("markdown", reviewed)
    assert "| `VirtualMachine prod/a` and 1 more | unrenderable | " in comment


def test_what_is_known_of_a_vm_that_a_state_cannot_render() -> None:
    """Its instancetype by name in both states; its size in the one that renders it."""
    lost, known = vm("a"), vm("a")
    lost["spec"]["instancetype"] = {"name": "nowhere"}
    known["spec"]["instancetype"] = {"name": "small"}
    del known["spec"]["template"]["spec"]["domain"]["memory"]
    small = instancetype(2)
    for before, after, names, sizes in (
        (lost, known, "nowhere → <strong>small</strong>", "? → <strong>2</strong>"),
        (known, lost, "small → <strong>nowhere</strong>", "2 → <strong>?</strong>"),
    ):
        reviewed = review([before, small], [after, small])
        page = written("html", reviewed)
        assert f'<td class="name">{names}<td class="n cpus">{sizes}<' in page
        plain = re.sub("</?strong>", "", names).replace("→", "->")
        assert f"its instancetype:  {plain}" in written("text", reviewed)


def test_causes_stand_before_errors() -> None:
    """The answer, what causes it, and then what is wrong: an error of a cause is not told twice on the page."""
    lost = vm("a")
    lost["spec"]["instancetype"] = {"name": "nowhere"}
    unused = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "unused", "namespace": "prod"},
        "spec": {"cpu": {"guest": "x"}, "memory": {"guest": "1Gi"}},
    }
    reviewed = review([vm("a"), vm("c")], [lost, vm("c", hostname="x"), unused])
    page, comment = written("html", reviewed), written("markdown", reviewed)
    titles = re.findall(r"<h2[^>]*>([^<]+)", page)
    assert titles[:3] == ["What causes it", "Errors and warnings", "VMs"]
    errors = page[page.index("Errors and warnings") : page.index('<h2 id="machines">')]
    assert "2 errors (new), build prints nothing; 1 cause above is among them" in errors
    assert "nowhere" not in errors
    assert "VirtualMachineInstancetype prod/unused: expected a whole number" in errors
    assert (
        comment.index("| Cause |")
        < comment.index("**after: 2 errors (new)")
        < comment.index("| VM |")
    )


def test_vms_that_are_edited_alike_are_one_cause_of_markdown() -> None:
    names = [f"vm-{number}" for number in range(3)]
    text = written(
        "markdown", review([*map(vm, names)], [vm(name, hostname="x") for name in names])
    )
    (row,) = re.findall(r"^\| `.*hostname.* \|$", text[: text.index("In all")], re.MULTILINE)
    assert "VirtualMachine prod/vm-0 spec.template.spec.hostname` and 2 more |" in row
    assert row.endswith("| 3 restart |")


def test_what_vms_of_several_inputs_keep_is_one_warning() -> None:
    small = ResourceRef("VirtualMachineClusterInstancetype", "", "small")
    parts = []
    for namespace in ("dev", "prod"):
        vms = tuple(ResourceRef("VirtualMachine", namespace, name) for name in "ab")
        names = [f"{vm.namespace}/{vm.name}" for vm in vms]
        message = differing.message(str(small), names)
        found = codes.OBJECT_CHANGED.at(Location(small, ("spec",)), message)
        impact = Impact((), (), (found._replace(concerned=vms),))
        parts.append(ReviewPart(namespace, impact))
    (warning,) = new_warnings(parts)
    assert warning.finding.diagnostic.message == (
        f"{small} differs from what dev/a, dev/b, prod/a and 1 more are pinned to; they keep the old content"
    )


def test_the_heading_and_the_tiles_count_alike() -> None:
    nowhere = vm("lost")
    nowhere["spec"]["instancetype"] = {"name": "nowhere"}
    halted = vm("halted")
    halted["spec"]["runStrategy"] = "Halted"
    names = ("lost", "halted", "edited", "gone", "same")
    after = [nowhere, halted, vm("edited", hostname="x"), vm("same"), vm("new")]
    reviewed = review([*map(vm, names)], after)
    text = written("html", reviewed)
    tiles = re.findall(r"<li[^>]*><strong>(\d+)</strong>([a-z][a-z ,]*)$", text, re.MULTILINE)
    assert tiles == [
        ("1", "breaks"), ("3", "go, stop or need a restart"), ("1", "is new"), ("1", "new error"),
    ]  # fmt: skip
    answer = "1 of 6 VMs breaks, 3 go, stop or need a restart"
    assert f"<h1>{answer}</h1>" in text
    assert written("markdown", reviewed).startswith(f"### {answer}\n")


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [
        ([], [], "There are no VMs"),
        ([vm()], [vm()], "Nothing changes for any VM"),
        ([], [vm("a"), vm("b")], "2 of 2 VMs are new"),
        ([vm("a")], [vm("b")], "1 of 2 VMs goes, 1 is new"),
    ],
)
def test_the_answer_names_what_vms_do(
    before: list[dict[str, Any]], after: list[dict[str, Any]], answer: str
) -> None:
    assert written("markdown", review(before, after)).startswith(f"### {answer}\n")


def test_what_could_not_be_rendered_before_is_told_apart_first() -> None:
    """Broken as before, for another reason, and only now."""

    def lacking(name: str, instancetype: str) -> dict[str, Any]:
        machine = vm(name)
        machine["spec"]["instancetype"] = {"name": instancetype}
        return machine

    before = [lacking("old", "a"), lacking("other", "a"), vm("lost"), vm("same")]
    after = [lacking("old", "a"), lacking("other", "b"), lacking("lost", "b"), vm("same")]
    reviewed = review(before, after)
    counts = "4 VMs: 3 unrenderable (2 already before), 1 same"
    assert written("text", reviewed).startswith(f"{counts}\n")
    title = "### 1 of 4 VMs breaks, 1 stays broken"
    assert written("markdown", reviewed).startswith(f"{title}\n\n{counts}\n")
    assert f"<title>{counts}</title>" in written("html", reviewed)
    text = written("text", review(before[:1], after[:1]))
    assert text.startswith("1 VM: 1 unrenderable (already before)\n")


@pytest.mark.parametrize(
    ("before", "after", "is_new"),
    [("abcd", "bcd", False), ("abcd", "abcde", True), ("abc", "abd", True)],
)
def test_a_finding_about_fewer_vms_is_no_new_one(before: str, after: str, *, is_new: bool) -> None:
    """A wave leaves fewer VMs with the old content of an instancetype."""
    small = ResourceRef("VirtualMachineClusterInstancetype", "", "small")

    def found(names: str, code: codes.Code) -> tuple[Diagnostic, ...]:
        message = f"it differs from what {names} are pinned to"
        vms = tuple(ResourceRef("VirtualMachine", "prod", name) for name in names)
        return (code.at(Location(small, ("spec",)), message)._replace(concerned=vms),)

    warnings, errors_ = (
        ReviewPart("", Impact((), found(before, code), found(after, code)))
        for code in (codes.OBJECT_CHANGED, codes.QUOTA)
    )
    assert bool(new_warnings([warnings])) == is_new
    told = errors([errors_])
    assert [len(some) for some in told[:3]] == ([1, 0, 1] if is_new else [0, 1, 0])


def test_new_errors_are_in_the_answer_where_no_vm_breaks() -> None:
    """What KubeVirt has stored runs on; made anew it would be refused."""

    def preference(cpus: int) -> dict[str, Any]:
        made = instancetype(2) | {"kind": "VirtualMachineClusterPreference"}
        return made | {"spec": {"requirements": {"cpu": {"guest": cpus}}}}

    machine = using("web")
    machine["spec"]["preference"] = {"name": "small"}
    before, after = ([instancetype(2), preference(cpus), machine] for cpus in (1, 4))
    part = ReviewPart("", compare(before, after, Settings(emit="source")), lambda _: Place("a", 1))
    ends = ReviewedState("main"), ReviewedState("HEAD")
    text = written("markdown", Review(*ends, "source", (part,)))
    assert text.startswith("### 1 new error: Nothing changes for any VM\n")


def test_an_error_of_a_vm_that_moves_and_cannot_be_rendered_is_gone_if_it_would_be_seen() -> None:
    """What is refused as it is read does not hide behind anything; what only a rendering finds may be there still."""
    web = ResourceRef("VirtualMachine", "prod", "web")
    mistyped, lacking, fresh = (
        code.at(Location(resource=web), "so it is")
        for code in (codes.WRONG_TYPE, codes.INSTANCETYPE_CONFLICT, codes.INSTANCETYPE_NOT_FOUND)
    )
    lost = Impact((MachineImpact(web, ("unrenderable",), unrendered=("after",)),), after=(fresh,))
    parts = [
        ReviewPart("a", Impact((), before=(mistyped, lacking))),
        ReviewPart("b", lost, moved_from="a"),
    ]
    found = errors(parts)
    assert [finding.diagnostic for finding in found.gone] == [mistyped]
    assert [finding.diagnostic for finding in found.new] == [fresh]


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_vms_that_lack_the_same_stand_together(name: str) -> None:
    machines = [using(vm_name) for vm_name in ("web", "db")]
    found = compare([instancetype(2), *machines], machines, Settings(emit="vm"))
    part = ReviewPart("", found, lambda _: Place("definitions.yaml", 3, 5))
    text = written(name, Review(ReviewedState("main"), ReviewedState("HEAD"), "vm", (part,)))
    assert ("unrenderable  2 VMs" if name == "text" else "</b> 2 VMs like") in text


def test_an_edited_size_says_what_it_was_and_is() -> None:
    """KubeVirt computes the most that may be plugged in from the same field, which is another value."""
    before, after = instancetype(2), instancetype(4)
    after["spec"]["memory"]["guest"] = "3Gi"
    reviewed = review([before, using("a"), using("b")], [after, using("a"), using("b")])
    text = written("markdown", reviewed)
    (cpu,) = (line for line in text.splitlines() if "small spec.cpu.guest` |" in line)
    (memory,) = (line for line in text.splitlines() if "small spec.memory.guest` |" in line)
    assert "| `sockets` `2` → `4` |" in cpu
    assert "| `2Gi` → `3Gi` |" in memory
    (box,) = (
        box
        for box in pages.parse(written("html", reviewed)).iter("div")
        if "cause" in box.get("class", "")
    )
    assert "spec.memory.guest: 2Gi → 3Gi" in " ".join("".join(box.itertext()).split())
    assert "`VirtualMachine prod/a` and 1 more" in text, "what happens to several is a row"


def test_a_line_that_changes_several_fields_names_each() -> None:
    """The name of an instancetype decides all that it has."""
    large = {**instancetype(4), "metadata": {"name": "large"}}
    machine = using("web")
    machine["spec"]["instancetype"] = {"name": "large"}
    sizes = [instancetype(2), large]
    text = written("markdown", review([*sizes, using("web")], [*sizes, machine]))
    (row,) = (line for line in text.splitlines() if "spec.instancetype.name` |" in line)
    assert re.search(r"sockets` `2` → `4`", row)


def test_the_policy_allows_only_what_is_ours() -> None:
    text = written("html", SAMPLES["fleet"]())
    stated, only_ours = pages.policies(text)
    assert stated == only_ours


@pytest.fixture(scope="module")
def hundreds() -> Review:
    """Three hundred VMs are edited, and the instancetype that they use."""
    names = [f"vm-{number}" for number in range(300)]
    return review(
        [instancetype(2), *map(using, names)],
        [instancetype(4), *(using(name, hostname=name) for name in names)],
    )


@pytest.mark.parametrize("most", [1_500, 5_000, 20_000])
def test_markdown_cuts_details_and_never_counts(most: int, hundreds: Review) -> None:
    text = written("markdown", hundreds, most)
    assert len(text.encode()) <= most
    assert text.startswith("### 300 of 300 VMs need a restart\n\n300 VMs: 300 restart\n")
    assert "| 300 | **restart** |" in text
    left = int(re.findall(r"details of ([\d,]+) VMs left out", text)[0])
    assert text.count("<details>") == text.count("</details>")
    assert text.count("<details><summary><b>") == 300 - left
    assert "left out" not in written("markdown", hundreds)


def test_markdown_of_many_machines_is_one_screen_with_the_rest_folded(hundreds: Review) -> None:
    depth, is_open = 0, []
    for line in written("markdown", hundreds).splitlines():
        if not depth:
            is_open.append(line)
        depth += line.count("<details>") - line.count("</details>")
    assert depth == 0
    assert len(is_open) < 50
    text = "\n".join(is_open)
    assert "290 more VMs" in text
    assert "details of 300 VMs" in text
    assert text.index("| Cause |") < text.index("| VM |")


def named(number: int, guest: int = 0) -> dict[str, Any]:
    """An instancetype, or without *guest* the VM that uses it."""
    if not guest:
        made = using(f"vm-{number:04}")
        made["spec"]["instancetype"] = {"name": f"size-{number:04}"}
        return made
    return {**instancetype(guest), "metadata": {"name": f"size-{number:04}"}}


def test_a_single_rest_is_in_the_singular() -> None:
    vms = [named(number) for number in range(11)]
    before, after = ([named(number, guest) for number in range(11)] for guest in (2, 4))
    text = written("markdown", review([*before, *vms], [*after, *vms]))
    assert re.findall(r"<summary>(1 more .*)</summary>", text) == ["1 more cause", "1 more VM"]


@pytest.fixture(scope="module")
def many() -> Review:
    """A thousand definitions are edited, each of which one VM uses; twenty VMs are there twice."""
    numbers = range(1_000)
    vms = [named(number) for number in numbers]
    twice = [{**vms[number], "spec": {}} for number in range(20)]
    before, after = ([named(number, guest) for number in numbers] for guest in (2, 4))
    return review([*before, *vms], [*after, *twice, *vms], place=Place("sizes.yaml", 3, 5))


@pytest.mark.parametrize("most", [2_000, 10_000, 65_536])
def test_markdown_cuts_the_table_of_causes_too(most: int, many: Review) -> None:
    text = written("markdown", many, most)
    assert len(text.encode()) <= most
    assert "\n1,000 VMs: " in text
    printed = re.findall(r"^\| `sizes.yaml:\d+:5` ", text, re.MULTILINE)
    left = int(re.findall(r"([\d,]+) more causes left out", text)[0].replace(",", ""))
    assert len(printed) + left == 1_000
    assert "**after: 20 errors (new), build prints nothing**" in text


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_vms_to_which_the_same_happens_stand_together(name: str) -> None:
    names = [f"vm-{number}" for number in range(300)]
    reviewed = review([instancetype(2), *map(using, names)], [instancetype(4), *map(using, names)])
    text = written(name, reviewed)
    assert text.count("spec.domain.cpu.maxSockets") == 1
    assert all(f"prod/{each}" in text for each in names)


def test_what_is_found_in_both_states_is_in_the_json() -> None:
    odd = {**vm(), "spec": {**vm()["spec"], "odd": 1}}
    found = json.loads(written("json", review([odd], [vm()])))["diagnostics"]
    assert ["odd" in change["field"] for change in found["before"]] == [True]
    assert found["after"] == []


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_an_edit_that_changes_no_vm_is_said(name: str) -> None:
    def preference(bus: str) -> dict[str, Any]:
        made = {**instancetype(0), "kind": "VirtualMachineClusterPreference"}
        return {**made, "spec": {"devices": {"preferredInputBus": bus}}}

    using_it = vm()
    using_it["spec"]["preference"] = {"name": "small"}
    reviewed = review([preference("usb"), using_it], [preference("virtio"), using_it])
    (machine,) = reviewed.machines
    edited = DefinitionWithoutEffect(ResourceRef("VirtualMachineClusterPreference", "", "small"))
    assert (machine.effects, machine.edited) == (("none",), (edited,))
    text = written(name, reviewed)
    if name == "json":
        assert json.loads(text)["machines"][0]["edited"] == [
            {"resource": edited.resource._asdict(), "pin": None}
        ]
    else:
        assert "what they run is the same" in text


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_a_deletion_that_changes_no_vm_is_said(name: str) -> None:
    found = compare([instancetype(2), using("web")], [using("web")], Settings(emit="source"))
    part = ReviewPart("", found, lambda _: Place("vms.yaml", 3, 5))
    review_of_part = Review(
        ReviewedState("main"), ReviewedState("the working tree"), "source", (part,)
    )
    text = written(name, review_of_part)
    if name == "json":
        (machine,) = json.loads(text)["machines"]
        ref = {"kind": "VirtualMachineClusterInstancetype", "namespace": "", "name": "small"}
        assert machine["deleted"] == [{"resource": ref, "pin": None}]
        assert machine["edited"] == []
    else:
        title = (
            "deleted, and nothing comes of it" if name == "text" else "Deleted, without an effect"
        )
        assert text.index(title) < text.index("KubeVirt keeps what they were created with")
        assert "2 -> 0" not in text.replace("→", "->")  # it runs on


def test_a_page_folds_many_vms_of_a_definition_without_an_effect() -> None:
    for count, folded in ((6, False), (7, True)):
        machines = [using(f"web-{number}") for number in range(count)]
        found = compare([instancetype(2), *machines], machines, Settings(emit="source"))
        part = ReviewPart("", found, lambda _: Place("vms.yaml", 3, 5))
        ends = ReviewedState("main"), ReviewedState("HEAD")
        page = written("html", Review(*ends, "source", (part,)))
        assert (f"<details><summary>{count} VMs</summary>" in page) is folded


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_a_deletion_is_the_cause_of_the_vms_that_cannot_do_without(name: str) -> None:
    machines = [using(vm_name) for vm_name in ("web", "db")]
    found = compare([instancetype(2), *machines], machines, Settings(emit="vm"))
    part = ReviewPart("", found, lambda _: Place("definitions.yaml", 3, 5))
    text = written(name, Review(ReviewedState("main"), ReviewedState("HEAD"), "vm", (part,)))
    if name == "json":
        for machine in json.loads(text)["machines"]:
            (cause,) = machine["lacking"]
            assert cause["resource"]["name"] == "small"
            assert (cause["side"], cause["file"]) == ("before", "definitions.yaml")
    elif name == "markdown":
        assert (
            "`definitions.yaml:3:5` `VirtualMachineClusterInstancetype small` is deleted |  | 2 unrenderable |"
            in text
        )
    elif name == "html":
        assert "VirtualMachineClusterInstancetype small is deleted</strong>: 2 " in text
    else:
        assert (
            "it asks for what is deleted:  VirtualMachineClusterInstancetype small  definitions.yaml:3:5"
            in text
        )


@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_a_pool_stands_beside_the_counts(name: str) -> None:
    text = written(name, SAMPLES["pool"]())
    if name == "json":
        (found,) = json.loads(text)["holders"]
        assert json.loads(text)["counts"] == {"same": 1}
        assert (found["outcome"], found["replicas"]) == ("restarted", {"before": 3, "after": 3})
        (change,) = found["changes"]
        assert change["field"] == "spec.template.spec.domain.memory.guest"
        return
    assert "1 VM: 1 same" in text
    assert "eside these VMs 1 pool, see below" in text
    assert "ools, whose VMs are not in the counts" in text
    assert "3 replicas: its controller deletes each VMI" in text
    assert "whose VMs are not in the counts" not in written(name, SAMPLES["fleet"]())
    after = pool("2Gi")
    after["spec"]["replicas"] = 1
    fewer = written(name, review([vm(), pool("1Gi")], [vm(), after]))
    assert "1 replicas: its controller deletes 2 of what it has made; of the others: its" in fewer


@pytest.mark.parametrize("name", ["text", "markdown"])
def test_a_mapping_is_shown_with_its_name_where_the_path_has_none(name: str) -> None:
    after = pool("1Gi")
    spec = after["spec"]["virtualMachineTemplate"]["spec"]
    del spec["template"]["spec"]["domain"]["memory"]
    spec["instancetype"] = {"name": "small", "kind": "VirtualMachineClusterInstancetype"}
    text = written(name, review([vm(), pool("1Gi")], [vm(), after, instancetype(2)]))
    assert "name: small" in text


STAGED = "vmRolloutStrategy is Stage"
SETTING = "KubeVirt kubevirt/kubevirt spec.configuration.vmRolloutStrategy"


@pytest.mark.parametrize(
    ("kubevirt", "strategy", "messages"),
    [
        ("1.9", "Stage", (f"{STAGED}: such fields change at a restart", SETTING)),
        ("1.9", "", ()),
        ("1.9", "LiveUpdate", ()),
        ("1.5", "", (f"{STAGED}, the default of KubeVirt 1.5:",)),
        ("1.5", "LiveUpdate", ()),
        ("1.4", "Stage", (f"{STAGED}: ", SETTING)),
        ("1.4", "LiveUpdate", (f"{STAGED} as long as the feature gate VMLiveUpdateFeatures is off: ", SETTING)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", IMPACT_FORMATS)
def test_a_restart_because_of_the_rollout_strategy_names_it(
    kubevirt: str, strategy: str, messages: tuple[str, ...], name: str
) -> None:
    cluster = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
        "spec": {"configuration": {"vmRolloutStrategy": strategy} if strategy else {}},
    }
    before, after = ([cluster, vm(nodeSelector={"zone": zone})] for zone in ("a", "b"))
    found = compare(before, after, Settings(kubevirt=kubevirt))
    part = ReviewPart("", found, lambda item: Place(f"{item.resource.kind}.yaml", 3, 5))
    review_of_part = Review(ReviewedState("main"), ReviewedState("HEAD"), "source", (part,))
    (machine,) = found.machines
    assert machine.effects == (("restart",) if messages else ("live",))
    text = written(name, review_of_part)
    if name == "json":
        rollout = json.loads(text)["machines"][0]["rolloutStrategy"]
        assert bool(rollout) == bool(messages)
        assert bool(rollout and rollout["cause"]) == (SETTING in messages)
    else:
        assert all(each in text for each in messages)
        assert ("KubeVirt.yaml:3:5" in text) == (SETTING in messages)
        assert (STAGED in text) == bool(messages)


@pytest.mark.parametrize("field", ["hostname", "nodeSelector"])
def test_what_restarts_in_any_case_names_no_rollout_strategy(field: str) -> None:
    values: list[Any] = ["a", "b"] if field == "hostname" else [{"a": "b"}, {"a": "c"}]
    before, after = ([vm(**{field: value})] for value in values)
    (machine,) = compare(before, after, Settings(kubevirt="1.5")).machines
    assert (machine.rollout is None) == (field == "hostname")


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([()], ""),
        ([("after",), ("before", "after")], " (without 2 that cannot be rendered)"),
        ([("before",), ()], " (without 1 that could not be rendered before)"),
        ([("before",), ("after",)], " (without 2 that one state cannot render)"),
    ],
)
def test_sums_say_which_vms_they_lack(states: Any, expected: str) -> None:
    """One that can be rendered now was repaired, and is not among those that cannot."""
    ref = ResourceRef("VirtualMachine", "prod", "web")
    found = [MachineImpact(ref, ("same",), unrendered=unrendered) for unrendered in states]
    assert without_rest(found) == expected
