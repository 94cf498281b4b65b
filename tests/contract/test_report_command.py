"""``virt-render report`` as a process: what stands in the page, and what nothing in a repository makes of it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from render.model.resource import ResourceRef
from render.report.fleet import html
from render.report.fleet.machines import Fleet, FleetMachine, Wording
from render.report.places import Place
from render.revisions.hashes import Ref
from render.yaml import writer
from tests.support import browser, pages
from tests.support.browser import Page
from tests.support.manifests import NAMESPACED, instancetype, vm
from tests.support.repository import Repository, documents

FLEET = 150
HOSTILE = (
    "</details>",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "]]> --> <!-- ",
    "\u202etxt.exe",
    "line\n\n# heading",
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.instancetype("small")
    made.vm("web")
    made.vm("db")
    made.write("vms/plain.yaml", vm("plain", namespace="other", memory="1Gi"))
    made.write(
        "vms/lost.yaml", vm("lost", namespace="prod", instancetype="nowhere", kind=NAMESPACED)
    )
    return made


def text_of(page: str) -> str:
    """The text of a page, in one line."""
    document = pages.parse(page)
    for parent in document.iter():
        for child in list(parent):
            if child.tag in ("script", "style"):
                parent.remove(child)
    return " ".join(" ".join(document.itertext()).split())


def test_the_fleet_is_summed_up(repository: Repository) -> None:
    text = text_of(repository.fine("report"))
    assert "4 VMs, 1 of them with errors" in text
    assert "1 with errors: refused, or never started" in text
    assert "5 vCPU 5 GiB guest memory" in text
    assert "1 cannot be started and counts in no sum" in text
    assert (
        "Memory by namespace prod 2 VMs, 4 vCPU, 4 GiB other 1 VM, 1 vCPU, 1 GiB"
        " Memory by instancetype small 2 VMs, 4 vCPU, 4 GiB none 1 VM, 1 vCPU, 1 GiB" in text
    )
    reach = "A square is a VM. small VirtualMachineInstancetype 2 VMs prod/db , prod/web"
    assert f"Which edit reaches whom {reach}" in text


@pytest.mark.usefixtures("kustomize")
def test_findings_are_counted_as_check_counts_them(repository: Repository) -> None:
    """Of two overlays and of loose files: errors, warnings, and notes of placeholders and others."""
    wrong = vm("ide", namespace="prod", memory="1Gi").replace(
        "devices: {}", "devices: {disks: [{name: a, disk: {bus: ide}}]}"
    )
    repository.write("base/vm.yaml", wrong.replace("runStrategy: Always", "running: true"))
    repository.write("base/kustomization.yaml", "resources: [vm.yaml]\n")
    for overlay in ("east", "west"):
        repository.write(f"{overlay}/kustomization.yaml", "resources: [../base]\n")
    repository.write("vms/late.yaml", vm("late", memory="${MEMORY}"))
    repository.write(
        "vms/off.yaml", vm("off", memory="1Gi").replace("metadata:", "status: {}\nmetadata:")
    )
    counts = [
        repository.run(command, ".").stderr.splitlines()[-1].partition(";")[0]
        for command in ("check", "report")
    ]
    assert counts[0] == counts[1]
    assert re.search(r"\d errors?, \d warnings?, [12] infos?", counts[0]), counts


def test_what_is_wrong_comes_first_and_is_counted_once(repository: Repository) -> None:
    """Nine VMs are refused, though only two of them cannot be rendered."""
    for number in range(7):
        text = vm(f"ide-{number}", namespace="prod", memory="1Gi").replace(
            "devices: {}",
            "devices: {disks: [{name: a, disk: {bus: ide}}]}",
        )
        text += "      volumes: [{name: a, emptyDisk: {capacity: 1Gi}}]\n"
        repository.write(f"vms/ide-{number}.yaml", text)
    repository.write("vms/odd.yaml", vm("odd", namespace="prod").replace("Always", "[]"))
    page = repository.fine("report")
    text = text_of(page)
    assert "12 VMs, 9 of them with errors" in text
    assert "9 errors" in text
    assert "2 cannot be started and count in no sum" in text
    assert text.index("7 VMs IDE bus is not supported") < text.index("Memory by namespace")
    assert page.index('id="wrong"') < page.index('id="machines"')


def test_what_a_definition_keeps_from_vms_of_several_kustomizations_is_said_once(
    repository: Repository,
) -> None:
    for name in ("dev", "prod"):
        repository.write(f"teams/{name}/a.yaml", vm("a", instancetype="small"))
        text = f"namespace: {name}\nresources: [a.yaml, ../../sizes]\n"
        repository.write(f"teams/{name}/kustomization.yaml", text)
    repository.write("sizes/small.yaml", instancetype("small"))
    repository.write("sizes/kustomization.yaml", "resources: [small.yaml]\n")
    repository.fine("pin", "teams")
    repository.write("sizes/small.yaml", instancetype("small", memory="3Gi"))
    text = text_of(repository.fine("report", "teams"))
    assert text.count("differs from what") == 1
    told = "small differs from what dev/a, prod/a are pinned to; they keep the old content"
    assert f"2 VMs VirtualMachineClusterInstancetype {told}" in text


def test_what_a_definition_keeps_from_its_vms_is_said_once_with_links(
    repository: Repository,
) -> None:
    (repository.folder / "vms" / "lost.yaml").unlink()
    repository.fine("pin")
    path = repository.folder / "instancetypes" / "small.yaml"
    repository.write("instancetypes/small.yaml", path.read_text("utf-8").replace("2Gi", "3Gi"))
    page = repository.fine("report")
    assert text_of(page).count("differs from what") == 1
    assert "2 VMs VirtualMachineInstancetype prod/small differs from what" in text_of(page)
    wrong, _ = page.split('<h2 id="by-namespace">')
    assert re.findall(r'<a href="#([^"]+)">', wrong) == [
        "machines",
        "VirtualMachine-prod-db",
        "VirtualMachine-prod-web",
    ]
    assert "Other findings" not in page


def test_what_a_pin_keeps_from_an_edit_is_no_part_that_it_reaches(repository: Repository) -> None:
    assert '<path class="f-share" d="M0 0h2v1h-2z"/><rect' in repository.fine("report")
    (repository.folder / "vms" / "lost.yaml").unlink()
    repository.fine("pin")
    page = repository.fine("report")
    assert '<path class="f-pinned" d="M0 0h2v1h-2z"/><rect' in page
    assert "VMs that keep what they are pinned to" in page


def test_a_few_vms_of_a_definition_are_seen_beside_many() -> None:
    """Each VM is a square as large as any other, and of very many some together."""

    def pictures(*counts: int) -> tuple[str, list[list[tuple[str, str]]]]:
        machines = [
            FleetMachine(
                "", ResourceRef("VirtualMachine", "prod", f"{size}-{number}"), Place(), None, "1.9",
                {"instancetype": Ref("VirtualMachineClusterInstancetype", f"size-{size}", "sha256:0")},
            )
            for size, count in enumerate(counts)
            for number in range(count)
        ]  # fmt: skip
        page = html.report(Fleet(machines, Wording(), ()))
        squares = re.findall(r"<p>(A square is [^<.]*)", page)
        pictured = re.findall(r'<svg class="squares" viewBox="0 0 \d+ \d+".*?</svg>', page)
        assert f'viewBox="0 0 {25 if max(counts) <= 25 else 50} ' in pictured[0]
        return squares[0], [re.findall(r'f-(\w+)" d="([^"]+)"', svg) for svg in pictured]

    square, drawn = pictures(130, 3)
    assert square == "A square is a VM"
    assert drawn == [[("share", "M0 0h50v2h-50zM0 2h30v1h-30z")], [("share", "M0 0h3v1h-3z")]]
    assert pictures(25, 3)[1][0] == [("share", "M0 0h25v1h-25z")]
    square, drawn = pictures(2_000, 3)
    assert square == "A square is 10 VMs, and a part of one is fewer"
    assert drawn == [[("share", "M0 0h50v4h-50z")], [("share", "M0 0h0.3v1h-0.3z")]]


def _cluster(repository: Repository, name: str, vms: int) -> None:
    """A root with so many VMs in the namespace prod, and a quota there that holds one of them."""
    texts = [vm(f"web-{number}", namespace="prod", memory="4Gi") for number in range(vms)]
    repository.write(f"{name}/vms.yaml", "---\n".join(texts))
    quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: team, namespace: prod}\n"
    repository.write(f"{name}/quota.yaml", f"{quota}spec: {{hard: {{requests.memory: 6Gi}}}}\n")
    repository.write(f"{name}/kustomization.yaml", "resources: [vms.yaml, quota.yaml]\n")


def test_a_quota_names_the_vms_of_its_own_cluster(tmp_path: Path, kustomize: str) -> None:
    """Two clusters have the same namespace, and VMs of the same names in it."""
    made = Repository(tmp_path / "clusters")
    for name in ("east", "west"):
        _cluster(made, name, 3)
    page = made.fine("report", "--kustomize", kustomize)
    wrong = page.partition('id="wrong"')[2].partition("</section>")[0]
    assert "<strong>6 VMs</strong> exceeded quota" in wrong
    lines = re.findall(r"<p><code>(\w+)/quota.yaml:4:15</code> (.*)</p>", wrong)
    assert [name for name, _ in lines] == ["east", "west"]
    anchors = [
        re.findall(r'href="#([^"]+)">prod/web-\d</a> <small>(\w+)<', vms) for _, vms in lines
    ]
    assert [{where for _, where in named} for named in anchors] == [{"east"}, {"west"}]
    assert len({anchor for named in anchors for anchor, _ in named}) == 6


def test_of_many_vms_of_a_quota_the_first_are_open_and_the_others_folded(
    tmp_path: Path, kustomize: str
) -> None:
    made = Repository(tmp_path / "cluster")
    _cluster(made, "east", 60)
    page = made.fine("report", "--kustomize", kustomize)
    wrong = page.partition('id="wrong"')[2].partition("</section>")[0]
    opened, _, folded = wrong.partition("<details><summary>and 54 more</summary>")
    assert (opened.count("<a "), folded.count("<a ")) == (6, 44)
    assert folded.count(" and 10 more</p>") == 1


def test_a_definition_that_is_missing_is_named_in_the_table(repository: Repository) -> None:
    page = repository.fine("report")
    assert '<td class="name">nowhere <strong class="error">missing</strong>' in page
    assert page.count(">missing<") == 1
    repository.write("vms/lost.yaml", vm("lost", namespace="prod", instancetype="small", kind=NAMESPACED).replace(
        "  template:", "  preference: {name: gone}\n  template:", 1))  # fmt: skip
    assert (
        '<td class="name">small<td class="name">gone <strong class="error">missing'
        in repository.fine("report")
    )


def test_what_is_wrong_alike_in_several_places_names_each(repository: Repository) -> None:
    """Of what is no VM the first places stand there, and the others below."""
    for number in range(8):
        repository.write(f"broken/{number}.yaml", "apiVersion: kubevirt.io/v1\nkind: [\n")
    page = repository.run("report").stdout
    assert [page.count(f"broken/{number}.yaml") for number in range(8)] == [1] * 8
    assert "Not all of the input can be read" in text_of(page)


def test_places_link_to_the_repository(repository: Repository) -> None:
    repository.commit("A fleet")
    template = "https://git.example.com/shop/blob/{commit}/{file}#L{line}"
    page = repository.fine("report", "--link-template", template)
    commit = repository.git("rev-parse", "HEAD").strip()
    assert f'href="https://git.example.com/shop/blob/{commit}/vms/plain.yaml#L' in page
    assert commit[:10] in text_of(page)
    for odd in ("javascript:alert(1)//{file}", "https://git.example.com/"):
        done = repository.run("report", "--link-template", odd)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--link-template: " in done.stderr
    done = repository.run("report", "--link-template", "https://git.example.com/{comit}/{file}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "has {comit}: did you mean {commit}?" in done.stderr
    done = repository.run("report", "--link-template", "https://git.example.com/{file}/{a}")
    assert "has {a}: known are {commit}, {file}, {line}" in done.stderr


def test_each_vm_has_its_definitions_findings_and_fields(repository: Repository) -> None:
    text = text_of(repository.fine("report"))
    hash_ = re.search(r"instancetype small@([0-9a-z]{10}) ", text)
    assert hash_ is not None
    assert "prod/lost" in text
    assert "does not start 1 error" in text
    assert '"nowhere" not found' in text
    assert (
        "spec.domain.memory.guest : 2Gi instancetype instancetypes/small.yaml:10:5 "
        "VirtualMachineInstancetype prod/small spec.memory.guest"
    ) in text
    assert "spec.domain.memory.guest : 1Gi VM vms/plain.yaml:13:11" in text


def test_capacity_says_whom_it_leaves_out(repository: Repository) -> None:
    assert "Capacity" not in text_of(repository.fine("report"))
    quota = {"metadata": {"name": "team", "namespace": "prod"}, "spec": {"hard": {"pods": "9"}}}
    repository.write(
        "quota.yaml", json.dumps({"apiVersion": "v1", "kind": "ResourceQuota", **quota})
    )
    text = text_of(repository.fine("report"))
    assert "prod 2 pods" in text
    assert "VMs that nothing of the input limits are left out." in text


def test_of_a_long_list_the_first_are_open_and_the_others_folded(tmp_path: Path) -> None:
    """Else the VMs stand below thirty namespaces, twice, and sixty instancetypes."""
    made = Repository(tmp_path / "fleet")
    names = [f"team-{number:02}" for number in range(14)]
    texts = [
        vm("web", namespace=name, instancetype=f"size-{number:02}")
        for number, name in enumerate(names)
    ]
    texts += [instancetype(f"size-{number:02}", memory=f"{number + 1}Gi") for number in range(14)]
    quota = (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: room, namespace: %s}\n"
        "spec: {hard: {requests.memory: %s}}\n"
    )
    texts += [quota % (name, "4Gi" if name == "team-01" else "64Gi") for name in names]
    made.write("fleet.yaml", "---\n".join(texts))
    page = made.fine("report")
    folded = re.findall(r"<details><summary>([^<]+)</summary>(.*?)</details>", page, re.DOTALL)
    words = [summary for summary, _ in folded]
    assert words[:4] == ["4 more, none fuller", "by instancetype", "4 more", "4 more"]
    by_quota, by_definition, by_namespace, _ = [text for _, text in folded[:4]]
    assert re.findall(r'scope="row">([^ ]+)', by_quota) == [
        "team-04",
        "team-03",
        "team-02",
        "team-00",
    ]
    assert by_definition.count("size-") == 14
    assert re.findall(r"<span>(team-\d+)</span>", by_namespace) == [
        "team-03",
        "team-02",
        "team-01",
        "team-00",
    ]
    capacity = page.partition(">Capacity<")[2]
    assert re.findall(r'scope="row">([^ ]+)', capacity)[:2] == ["team-01", "team-13"], "the fullest"
    assert page.count('class="f-share" width="100.00"') == 2, "the largest has a whole bar"
    assert "2 more definitions that fewer use" in text_of(page)


def test_a_vm_that_is_refused_stands_there_too(repository: Repository) -> None:
    repository.write("vms/odd.yaml", vm("odd", namespace="prod").replace("Always", "[]"))
    text = text_of(repository.fine("report"))
    assert "5 VMs, 2 of them with errors" in text
    assert "prod/odd" in text
    assert "2 cannot be started" in text


def test_pins_are_named(repository: Repository) -> None:
    (repository.folder / "vms" / "lost.yaml").unlink()
    repository.fine("pin")
    assert "3 VMs" in text_of(repository.fine("report"))
    assert "2 pinned" in text_of(repository.fine("report"))


def test_a_lock_that_is_passed_over_moves_no_place(repository: Repository) -> None:
    (repository.folder / "vms" / "lost.yaml").unlink()
    repository.fine("pin")
    for words in ((), ("--pins", "ignore")):
        text = text_of(repository.fine("report", *words))
        assert "virt-render.lock.yaml" not in text
        assert "spec.domain.memory.guest : 1Gi VM vms/plain.yaml:13:11" in text


def test_nothing_left_beside_kustomizations_is_no_finding(tmp_path: Path, kustomize: str) -> None:
    repository = Repository(tmp_path / "built")
    repository.write("kustomization.yaml", "resources: [app]\n")
    repository.write("app/kustomization.yaml", "resources: [vm.yaml]\n")
    repository.write("app/vm.yaml", vm("web", memory="1Gi"))
    text = text_of(repository.fine("report", "--kustomize", kustomize))
    assert "1 VM: nothing is refused" in text
    assert "no-objects" not in text


def test_nothing_is_summed_up_where_there_is_no_vm(tmp_path: Path) -> None:
    done = Repository(tmp_path / "empty").run("report")
    line = "no manifest (*.yaml, *.yml, *.json) in the current folder: nothing to look at\n"
    assert (done.returncode, done.stderr) == (0, line)
    text = text_of(done.stdout)
    assert text.startswith("There are no VMs ")
    assert "Memory by" not in text
    assert "no-objects" not in text


def test_a_replica_set_counts_once(repository: Repository) -> None:
    repository.write(
        "set.yaml",
        """\
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstanceReplicaSet
metadata: {name: cache, namespace: other}
spec:
  replicas: 7
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec: {domain: {devices: {}, memory: {guest: 1Gi}}}
""",
    )
    text = text_of(repository.fine("report"))
    assert "5 VMs, 1 of them with errors" in text
    assert "6 vCPU 6 GiB guest memory" in text
    assert "A pool or replica set counts as one of what it makes." in text


def test_it_is_written_to_a_file_or_not_at_all(repository: Repository) -> None:
    assert repository.fine("report", "-o", "page.html") == ""
    page = (repository.folder / "page.html").read_text(encoding="utf-8")
    assert page == repository.fine("report")
    done = repository.run("report", "-o", "nowhere/page.html")
    assert (done.returncode, done.stdout) == (3, "")
    assert "nowhere/page.html" in done.stderr


def test_a_path_that_cannot_be_read_is_no_empty_page(repository: Repository) -> None:
    for paths in (["nosuch"], ["./nosuch/"], ["vms", "nosuch.yaml"]):
        done = repository.run("report", *paths, "-o", "page.html")
        assert (done.returncode, done.stdout) == (3, "")
        assert "cannot read" in done.stderr
        assert done.stderr.count("nosuch") >= 1
        assert not (repository.folder / "page.html").exists()


def test_the_policy_allows_only_what_is_ours(repository: Repository) -> None:
    page = repository.fine("report")
    stated, only_ours = pages.policies(page)
    assert stated == only_ours


def test_the_rows_have_a_cell_a_column(repository: Repository) -> None:
    assert pages.uneven(repository.fine("report")) == []


def test_a_column_that_says_nothing_is_left_out(repository: Repository) -> None:
    assert 'data-key="7">Pins' not in repository.fine("report")
    (repository.folder / "vms/lost.yaml").unlink()
    repository.fine("pin")
    pinned = repository.fine("report")
    assert 'data-key="7">Pins' in pinned
    assert pages.uneven(pinned) == []


def test_sums_stand_before_the_vms(repository: Repository) -> None:
    page = repository.fine("report")
    titles = re.findall(r'<h2 id="([\w-]+)"', page)
    assert titles == ["wrong", "by-namespace", "by-instancetype", "reach", "machines"]


def hostile(number: int, text: str) -> dict[str, Any]:
    labels = {text: text}
    template = {
        "metadata": {"labels": labels},
        "spec": {"domain": {"devices": {}}, "nodeSelector": labels, "hostname": text},
    }
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": f"{text}{number}", "namespace": text},
        "spec": {"runStrategy": "Always", "template": template},
    }


@pytest.fixture
def forging(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    bodies = [hostile(number, text) for number, text in enumerate(HOSTILE)]
    made.write("</details>/<b>.yaml", writer.write(bodies))
    return made


def test_hostile_text_forges_no_html(forging: Repository) -> None:
    page = forging.fine("report", "--admission", "off")
    assert "\u202e" not in page
    assert pages.reaching(page) == []
    assert len(list(pages.parse(page).iter("details"))) == len(HOSTILE)
    assert not list(pages.parse(page).iter("b"))
    assert {row[1] for row in pages.data(page)["rows"]} == {
        f"{text}{n}" for n, text in enumerate(HOSTILE)
    }


# A name with <script> in it is one that a template fills in, and no VM starts with it.
@pytest.mark.parametrize("number", [n for n, text in enumerate(HOSTILE) if "<script>" not in text])
def test_hostile_text_forges_no_line(forging: Repository, number: int) -> None:
    name = f"{HOSTILE[number]}/{HOSTILE[number]}{number}"
    text = forging.fine("explain", name, "--admission", "off")
    fields = json.loads(forging.fine("explain", name, "--admission", "off", "--format", "json"))
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == 1 + len(fields["fields"])
    assert "\u202e" not in text


def test_hostile_text_forges_no_yaml(forging: Repository) -> None:
    """Of what an API server takes: names of such texts it refuses, and so do we."""
    bodies = [hostile(number, text) for number, text in enumerate(HOSTILE)]
    for number, body in enumerate(bodies):
        body["metadata"] = {"name": f"vm-{number}", "namespace": "prod"}
        body["spec"]["template"]["metadata"] = {"annotations": {"example.com/a": HOSTILE[number]}}
    forging.write("</details>/<b>.yaml", writer.write(bodies))
    plain = forging.fine("build", "--emit", "vmi", "--admission", "off")
    content = forging.fine("build", "--emit", "vmi", "--admission", "off", "--explain")
    assert documents(content) == documents(plain)
    assert len(content.splitlines()) == len(plain.splitlines())
    assert all("\u202e" not in line.partition("  # ")[2] for line in content.splitlines())


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of so many VMs that their fields are made by the script."""
    made = Repository(tmp_path_factory.mktemp("fleet"))
    texts = [
        vm(f"vm-{number:03}", namespace=f"team-{number % 7}", instancetype=f"size-{number % 5}")
        for number in range(FLEET)
    ]
    texts += [instancetype(f"size-{number}", cpus=number + 1) for number in range(5)]
    # So many that the page does not have them written out.
    labels = "".join(f'        label-{number}: "{number}"\n' for number in range(20))
    texts = [
        text.replace(
            "    spec:\n",
            f"    metadata:\n      annotations: {{a: '{HOSTILE[2]}'}}\n      labels:\n{labels}    spec:\n",
        )
        for text in texts
    ]
    # And a section on capacity.
    texts.append(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: team, namespace: team-3}\n"
        "spec: {hard: {requests.memory: 1Ti, pods: 99}}\n"
    )
    made.write("fleet.yaml", "---\n".join(texts))
    return made.fine("report")


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browser.page() as opened:
        yield opened


@pytest.fixture
def page(tab: Page, fleet: str, tmp_path: Path) -> Iterator[Page]:
    """The page, opened anew."""
    (tmp_path / "page.html").write_text(fleet, encoding="utf-8")
    tab.open(tmp_path / "page.html")
    yield tab
    assert tab.errors == []


def test_what_many_vms_say_alike_stands_there_once(fleet: str) -> None:
    pages.parse(fleet)
    assert fleet.count("metadata.labels.label-13") == 1
    assert fleet.count("fleet.yaml:") == FLEET + 2 * 5  # vCPUs and memory of each instancetype
    assert len(fleet) < FLEET * 1_000


def test_fields_are_shown_when_a_vm_is_opened(page: Page) -> None:
    page.run("document.querySelectorAll('#fleet summary')[3].focus()")
    page.press("Enter", 13)
    page.run("new Promise((done) => setTimeout(done, 100))")
    printed = page.run("document.querySelectorAll('#fleet .more')[3].innerText")
    assert not page.run("document.querySelectorAll('#fleet .more')[4].checkVisibility()")
    assert "metadata.labels.label-13: 13 VM fleet.yaml:" in printed
    assert "spec.domain.cpu.sockets: " in printed
    assert f"metadata.annotations.a: {HOSTILE[2]} VM" in printed
    assert page.run("document.images.length") == 0
    assert "VirtualMachineClusterInstancetype size-" in printed
    name = page.run("document.querySelectorAll('#fleet tbody th')[3].innerText")
    place = page.run("document.querySelectorAll('#fleet .more p code')[3].innerText")
    line = int(place.split(":")[1])
    assert name == "team-0/vm-021"
    assert f"fleet.yaml:{line + 11}:" in printed


def rows(page: Page) -> list[str]:
    heads = "[...document.querySelectorAll('#fleet tbody:not([hidden]) th summary')]"
    script = f"{heads}.map((one) => one.firstChild.textContent.trim())"
    found: list[str] = page.run(script)
    return found


def choose(page: Page, control: str, value: str) -> None:
    page.run(
        f"(() => {{ const one = document.getElementById('{control}'); one.value = '{value}';"
        " one.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_the_table_is_filtered_and_sorted(page: Page) -> None:
    assert len(rows(page)) == FLEET
    choose(page, "namespace", "team-3")
    in_team = rows(page)
    assert 0 < len(in_team) < FLEET
    choose(page, "instancetype", "size-2")
    assert 0 < len(rows(page)) < len(in_team)
    choose(page, "namespace", "")
    choose(page, "instancetype", "")
    choose(page, "name", "VM-017")
    assert rows(page) == ["team-3/vm-017"]
    choose(page, "name", "")
    page.run("document.querySelector('#fleet thead th:nth-child(2) button').click()")
    page.run("document.querySelector('#fleet thead th:nth-child(2) button').click()")
    cpus = "[...document.querySelectorAll('#fleet tbody td:nth-child(2)')].map((one) => +one.textContent)"
    assert page.run(cpus) == sorted(page.run(cpus), reverse=True)


def test_its_table_is_whole_without_scripts(fleet: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(fleet, encoding="utf-8")
    with browser.page() as opened:
        opened.ask("Emulation.setScriptExecutionDisabled", value=True)
        opened.open(tmp_path / "page.html")
        assert len(rows(opened)) == FLEET
        assert "virt-render explain VM" in opened.run("document.body.innerText")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_it_fits_its_window(page: Page, scheme: str, width: int) -> None:
    page.reopen(scheme=scheme, width=width)
    assert page.run("document.documentElement.scrollWidth") == width
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.mark.parametrize("width", [400, 800, 1000, 1280])
def test_what_is_wrong_with_a_vm_is_in_view_and_comes_first(
    repository: Repository, width: int, tmp_path: Path
) -> None:
    (repository.folder / "vms" / "lost.yaml").unlink()
    repository.fine("pin")
    repository.write("vms/lost.yaml", vm("lost", namespace="prod", instancetype="nowhere"))
    (tmp_path / "page.html").write_text(repository.fine("report"), encoding="utf-8")
    with browser.page() as opened:
        opened.open(tmp_path / "page.html", width=width)
        assert rows(opened) == ["prod/lost", "other/plain", "prod/db", "prod/web"]
        every = "[...document.querySelectorAll('#fleet %s')].map((one) => one.%s)"
        right = "getBoundingClientRect().right"
        assert max(opened.run(every % ("tr > *", right))) <= width
        cells = "[...document.querySelectorAll('#fleet tr:not(.more) > td')]"
        filled = f"{cells}.filter((one) => one.textContent.trim())"
        assert min(opened.run(f"{filled}.map((one) => one.offsetWidth)")) > 0, "none is left out"
        heights = opened.run(every % ("tbody > tr:first-child", "offsetHeight"))
        assert max(heights) < (40 if width > 400 else 64), "a row is a line high"
        opened.run(
            "document.querySelectorAll('#fleet details').forEach((one) => (one.open = true))"
        )
        assert max(opened.run(every % (".more li", right))) <= width
        assert opened.violations() == []


@pytest.mark.parametrize(("width", "media"), [(1280, ""), (718, "print")])
def test_what_is_pinned_takes_no_second_line(
    repository: Repository, width: int, media: str, tmp_path: Path
) -> None:
    (repository.folder / "vms" / "lost.yaml").unlink()
    linux = (
        "apiVersion: instancetype.kubevirt.io/v1beta1\nkind: VirtualMachineClusterPreference\n"
        "metadata: {name: linux}\nspec: {}\n"
    )
    text = vm("both", namespace="prod", instancetype="small", kind=NAMESPACED)
    text = text.replace("  template:", "  preference: {name: linux}\n  template:", 1)
    repository.write("vms/both.yaml", f"{text}---\n{linux}")
    repository.fine("pin")
    (tmp_path / "page.html").write_text(repository.fine("report"), encoding="utf-8")
    with browser.page() as opened:
        opened.open(tmp_path / "page.html", width=width, media=media)
        pins = "[...document.querySelectorAll('#fleet .pins')].map((one) => one.%s)"
        assert "instancetype, preference" in opened.run(pins % "innerText")
        assert max(opened.run(pins % "offsetHeight")) < 40


def test_a_link_to_a_vm_that_is_filtered_away_shows_it(page: Page) -> None:
    choose(page, "namespace", "team-3")
    page.run("document.querySelector('.reach').open = true")
    hidden = "document.querySelector('#fleet tbody[hidden]').id"
    name = page.run(hidden)
    page.run(f"location.hash = {name!r}; new Promise((done) => setTimeout(done, 100))")
    assert page.run(f"document.getElementById({name!r}).checkVisibility()")
    assert len(rows(page)) == FLEET


@pytest.mark.parametrize("width", [400, 800, 1000, 1280])
def test_the_head_of_the_table_stays_in_sight(page: Page, width: int) -> None:
    page.reopen(width=width)
    page.run("document.querySelectorAll('#fleet tbody')[100].scrollIntoView()")
    head = page.run("document.querySelector('#fleet thead th button').getBoundingClientRect().top")
    assert 0 <= head < 20
    row = page.run("document.querySelectorAll('#fleet tbody')[100].getBoundingClientRect().top")
    heads = "[...document.querySelectorAll('#fleet thead th')]"
    foot = page.run(f"Math.max(...{heads}.map((one) => one.getBoundingClientRect().bottom))")
    assert foot <= row


def test_a_vm_is_a_line_on_paper(page: Page) -> None:
    page.show(width=718, media="print")
    script = "[...document.querySelectorAll('#fleet > tbody')].map((one) => one.offsetHeight)"
    assert max(page.run(script)) < 18
    head = "getComputedStyle(document.querySelector('#fleet > thead')).display"
    assert page.run(head) == "table-header-group", "it is printed on each sheet"
    inside = "getComputedStyle(document.querySelector('%s')).breakInside"
    assert page.run(inside % "#fleet > tbody") == page.run(inside % ".capacity tr") == "avoid"
    assert page.run(inside % ".capacity tbody") == "auto", "else half a sheet is blank above it"
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.querySelectorAll('.reach').length") > 0
    assert page.run("document.querySelectorAll('.reach[open]').length") == 0


def _on_paper(page: Page, selector: str) -> int:
    script = f"[...document.querySelectorAll('{selector}')].filter((one) => one.checkVisibility())"
    count: int = page.run(f"{script}.length")
    return count


def test_of_vms_that_are_fine_the_first_stand_on_paper(page: Page) -> None:
    """Who wants others to be printed chooses them, or unfolds them."""
    assert _on_paper(page, "#fleet > tbody") == FLEET
    assert not _on_paper(page, ".rest")
    page.show(width=718, media="print")
    assert _on_paper(page, "#fleet > tbody") == 30
    rest = "document.querySelector('.rest').innerText"
    assert page.run(rest) == "120 more VMs of which nothing is wrong: see the page"
    page.run("document.querySelectorAll('#fleet details')[100].open = true")
    assert _on_paper(page, "#fleet > tbody") == 31
    choose(page, "instancetype", "size-2")
    assert _on_paper(page, "#fleet > tbody") == FLEET // 5
    assert not _on_paper(page, ".rest")


def test_what_is_folded_stays_so_on_paper(page: Page) -> None:
    page.run("dispatchEvent(new Event('beforeprint'))")
    folded = "document.querySelector('.capacity ~ details')"
    page.show(width=718, media="print")
    assert not page.run(f"{folded}.open")
    after = f"getComputedStyle({folded}.querySelector('summary'), '::after').content"
    assert "see the page" in page.run(after)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_to_say(page: Page, scheme: str) -> None:
    page.show(scheme=scheme)
    choose(page, "name", "VM-017")
    assert page.violations() == []


def test_of_vms_of_one_name_the_first_has_what_is_found(repository: Repository) -> None:
    """Else each carries the findings of all: a page of a small file would be as large as its square."""
    text = "---\n".join(
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: twin}\n"
        f"spec: {{runStrategy: Always, instancetype: {{name: absent-{number}}}}}\n"
        for number in range(40)
    )
    repository.write("vms/twins.yaml", text)
    report: Any = json.loads(repository.fine("report", "--format", "json"))
    twins = [
        len(machine["findings"]) for machine in report["machines"] if machine["name"] == "twin"
    ]
    assert twins[0] >= 40
    assert set(twins[1:]) == {0}


def test_findings_have_the_same_fingerprint_everywhere(repository: Repository) -> None:
    """A baseline of `check` knows what `report` and `diff` show."""
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--message", "VMs")
    checked = json.loads(repository.run("check", "--format", "json").stdout)["diagnostics"]
    wanted = {each["fingerprint"] for each in checked if each["severity"] == "error"}
    assert wanted
    assert "" not in wanted
    report: Any = json.loads(repository.fine("report", "--format", "json"))
    of_machines = [found for machine in report["machines"] for found in machine["findings"]]
    errors = [found for found in of_machines if found["severity"] == "error"]
    assert {found["fingerprint"] for found in errors} == wanted
    change: Any = json.loads(repository.run("diff", "HEAD", "--format", "json").stdout)
    remaining = change["errors"]["remaining"]
    assert {found["fingerprint"] for found in remaining} == wanted


def test_vms_that_differ_from_their_pins_count_apart(repository: Repository) -> None:
    """Nothing is wrong with them, and they are not what the definition says."""
    (repository.folder / "vms/lost.yaml").unlink()
    repository.fine("pin")
    page = repository.fine("report")
    assert 'id="part-fine"' in page
    assert "differing" not in text_of(page)
    repository.instancetype("small", cpus=4)
    text = text_of(repository.fine("report"))
    assert "2 pinned 2 differing from what a definition says now" in text
    assert "2 differing from what they are pinned to" in text
    assert "1 fine" in text
