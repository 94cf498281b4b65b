"""The page of ``diff`` in a real browser: a fleet of 2,000 VMs, of which 200 change."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from render import Settings, compare
from render.report import page as page_of_report
from render.report.impact import formats
from render.report.impact.formats import ImpactStyle
from render.report.impact.review import RANKED, Review, ReviewedState, ReviewPart
from render.report.places import Place
from tests.support import browser, manifests, pages
from tests.support.browser import Page
from tests.support.cases import ROOT

FLEET, SIZES = 2_000, 20
FACES = [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]


def instancetype(number: int, cpus: int) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": f"size-{number:02}"},
        "spec": {"cpu": {"guest": cpus}, "memory": {"guest": "4Gi"}},
    }


def vm(number: int, **domain: Any) -> dict[str, Any]:
    devices = {"interfaces": [{"name": "default", "masquerade": {}}]}
    spec = {"domain": {"devices": devices, **domain}, "networks": [{"name": "default", "pod": {}}]}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": f"vm-{number:04}", "namespace": f"team-{number % 12:02}"},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": f"size-{number % SIZES:02}"},
            "template": {"spec": spec},
        },
    }


@pytest.fixture(scope="module")
def review() -> Review:
    """One of the instancetypes grows; twenty VMs go, twenty come, sixty others are edited."""
    before = [instancetype(n, 2) for n in range(SIZES)] + [vm(n) for n in range(FLEET)]
    after = [instancetype(n, 4 if n == 3 else 2) for n in range(SIZES)]
    after += [
        vm(n, ioThreadsPolicy="auto") if n % 50 == 11 else vm(n, memory={"guest": "8Gi"}) if n % 100 == 31 else vm(n)
        for n in range(FLEET + 20)
        if n % 100 != 7 or n >= FLEET
    ]  # fmt: skip
    found = compare(before, after, Settings(emit="vm"))
    part = ReviewPart(
        "", found, lambda item: Place(f"{item.resource.namespace}/{item.resource.name}.yaml", 7, 5)
    )
    return Review(ReviewedState("main"), ReviewedState("the working tree"), "vm", (part,))


@pytest.fixture(scope="module")
def html(review: Review) -> str:
    return formats.report("html", review, ImpactStyle())


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browser.page() as opened:
        yield opened


@pytest.fixture
def page(tab: Page, html: str, tmp_path: Path) -> Page:
    """The page, opened anew."""
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    tab.open(tmp_path / "page.html")
    return tab


@pytest.fixture(autouse=True)
def quiet(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing is said on the console."""
    yield
    if "page" in request.fixturenames:
        assert request.getfixturevalue("tab").errors == []


def test_a_large_fleet_stays_small(review: Review, html: str) -> None:
    assert sum(machine.effects != ("same",) for machine in review.machines) == 200
    assert len(html.encode()) < 1_000_000
    markdown = formats.report("markdown", review, ImpactStyle(most=65_536))
    assert len(markdown.encode()) <= 65_536
    assert markdown.startswith("### 20 of 2,020 VMs break, 60 go or need a restart\n")


def test_sums_that_change_are_open_and_the_others_folded() -> None:
    machines = [vm(n) for n in range(SIZES)]
    before, after = (
        [*(instancetype(n, cpus if n == 3 else 2) for n in range(SIZES)), *machines]
        for cpus in (2, 4)
    )
    part = ReviewPart("", compare(before, after, Settings(emit="vm")), lambda _: Place("vm.yaml"))
    review = Review(ReviewedState("main"), ReviewedState("the working tree"), "vm", (part,))
    page = formats.report("html", review, ImpactStyle())
    sums = page.partition('id="by-instancetype"')[2].partition("</section>")[0]
    opened, _, folded = sums.partition("<details><summary>")
    assert re.findall(r'scope="row">(size-\d+)', opened) == ["size-03"]
    assert "2 → <strong>4</strong>" in opened
    assert folded.startswith(f"{SIZES - 1} more without a change<")
    assert folded.count('scope="row"') == SIZES - 1


def test_of_nothing_there_are_no_sums() -> None:
    part = ReviewPart("", compare([], [], Settings()), lambda _: Place("vm.yaml"))
    review = Review(ReviewedState("main"), ReviewedState("the working tree"), "vm", (part,))
    page = formats.report("html", review, ImpactStyle())
    assert "<h1>There are no VMs</h1>" in page
    assert ">By namespace<" not in page


def test_what_was_as_broken_before_says_so() -> None:
    found = compare([vm(0)], [vm(0), instancetype(1, 2)], Settings(emit="vm"))
    part = ReviewPart("", found, lambda _: Place("vm.yaml"))
    review = Review(ReviewedState("main"), ReviewedState("the working tree"), "vm", (part,))
    assert "team-00/vm-0000<td>as before<td" in formats.report("html", review, ImpactStyle())


def test_its_rows_have_a_cell_a_column(html: str) -> None:
    assert pages.uneven(html) == []


def documented(page: Page) -> int:
    count: int = page.run("document.querySelectorAll('#fleet tbody:not([hidden])').length")
    return count


def choose(page: Page, label: str, value: str) -> None:
    """Give the control with this label a value, as a user does."""
    page.run(f"""(() => {{
        const labels = [...document.querySelectorAll("#filter label")];
        const label = labels.find((one) => one.firstChild.data.trim() === "{label}");
        label.control.value = "{value}";
        label.control.dispatchEvent(new Event("input", {{bubbles: true}}));
    }})()""")


def part(page: Page, name: str) -> None:
    """Choose a part of the bar, as a user does."""
    page.run(f"document.querySelector('label[for=part-{name}]').click()")


def visible(page: Page) -> int:
    script = "[...document.querySelectorAll('#fleet tbody')].filter((one) => one.checkVisibility()).length"
    count: int = page.run(script)
    return count


def test_the_table_is_filtered(page: Page) -> None:
    assert documented(page) == 200, "what stays as it is, is folded"
    part(page, "all")
    assert documented(page) == FLEET + 20
    part(page, "restart")
    assert visible(page) == documented(page)
    restarts = documented(page)
    assert restarts == 40
    choose(page, "Namespace", "team-01")
    assert 0 < documented(page) < restarts
    assert (
        page.run("document.getElementById('shown').textContent")
        == f"{documented(page)} of 2020 VMs"
    )
    part(page, "all")
    choose(page, "Namespace", "")
    choose(page, "Definition", "VirtualMachineClusterInstancetype size-03")
    assert documented(page) == 100
    choose(page, "Definition", "")
    choose(page, "Name", "VM-0061")
    assert documented(page) == 1


def test_what_is_unfolded_fits_a_small_screen(page: Page) -> None:
    page.reopen(width=390)
    edge = page.run("""(() => {
        const details = document.querySelector("#fleet details");
        details.open = true;
        const items = [...details.closest("tbody").querySelectorAll("li")];
        return Math.max(...items.map((one) => one.getBoundingClientRect().right));
    })()""")
    assert 200 < edge <= 390


@pytest.mark.parametrize("width", [400, 800, 1000, 1280])
def test_no_cell_of_a_vm_is_cut_or_left_out(page: Page, width: int) -> None:
    page.reopen(width=width)
    cells = "[...document.querySelectorAll('#fleet > tbody:not([hidden]) > tr:not(.more) > *')]"
    filled = f"{cells}.filter((one) => one.textContent.trim() && one.checkVisibility())"
    boxes = page.run(f"{filled}.map((one) => [one.offsetWidth, one.getBoundingClientRect().right])")
    assert len(boxes) >= 200 * 5
    assert all(wide > 0 and right <= width for wide, right in boxes)
    page.run("document.querySelectorAll('#fleet > tbody')[100].scrollIntoView()")
    head = page.run("document.querySelector('#fleet thead th button').getBoundingClientRect().top")
    assert 0 <= head < 20, "the head stays in sight"


@pytest.mark.parametrize("width", [400, 800])
def test_no_sum_and_no_head_above_it_is_cut(page: Page, width: int) -> None:
    page.reopen(width=width)
    edges = page.run("""[...document.querySelectorAll(".sums :is(th, td)")].map((one) => {
        const inside = document.createRange();
        inside.selectNodeContents(one);
        return inside.getBoundingClientRect().right;
    })""")
    assert len(edges) >= 8
    assert max(edges) <= width


def test_of_many_vms_paper_has_a_line_each(page: Page) -> None:
    page.run("document.querySelector('#fleet details').open = true")
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.querySelectorAll('#fleet details[open]').length") == 1


def test_the_table_is_sorted_by_keyboard(page: Page) -> None:
    name = "document.querySelector('#fleet tbody th').textContent"
    page.run("document.querySelector('#fleet thead th:nth-child(2) button').focus()")
    page.press("Enter", 13)
    assert (
        page.run("document.querySelector('#fleet thead th:nth-child(2)').ariaSort") == "ascending"
    )
    assert page.run(name) == "team-00/vm-0000"
    page.press("Enter", 13)
    assert (
        page.run("document.querySelector('#fleet thead th:nth-child(2)').ariaSort") == "descending"
    )
    assert page.run(name) == "team-11/vm-2015"


def test_on_a_small_screen_buttons_to_sort_by_are_no_heads_of_columns(page: Page) -> None:
    before = "getComputedStyle(document.querySelector('#fleet > thead > tr'), '::before').content"
    assert page.run(before) == "none"
    page.show(width=390)
    assert page.run(before) == '"sort by"'


def test_a_vm_is_opened_by_keyboard(page: Page) -> None:
    page.run("document.querySelector('#fleet summary').focus()")
    page.press("Enter", 13)
    assert page.run("document.querySelector('#fleet details').open")
    assert page.run(
        "document.querySelector('#fleet details').closest('tbody').querySelector('li').checkVisibility()"
    )


def test_it_is_read_without_scripts(page: Page) -> None:
    page.ask("Emulation.setScriptExecutionDisabled", value=True)
    page.ask("Page.reload")
    page.wait_for("Page.loadEventFired")
    page.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert documented(page) == FLEET + 20
    assert not page.run("document.getElementById('filter').checkVisibility()")
    assert visible(page) == 200
    part(page, "restart")
    assert visible(page) == 40


def test_no_path_leaves_a_small_screen(tab: Page, tmp_path: Path) -> None:
    """An error of a VM names fields that are longer than a telephone is wide."""
    text = vm(1, resources={"requests": {"memory": "1Gi"}})
    text["spec"]["template"]["spec"]["domain"]["devices"]["disks"] = [
        {"name": "root", "disk": {"bus": "ide"}}
    ]
    found = compare([instancetype(1, 2)], [instancetype(1, 2), text], Settings(emit="vm"))
    review = Review(ReviewedState("a"), ReviewedState("b"), "vm", (ReviewPart("", found),))
    (tmp_path / "page.html").write_text(
        formats.report("html", review, ImpactStyle()), encoding="utf-8"
    )
    tab.open(tmp_path / "page.html", width=390)
    assert tab.run("document.documentElement.scrollWidth") == 390


def test_the_address_says_what_is_chosen(page: Page) -> None:
    part(page, "restart")
    choose(page, "Namespace", "team-01")
    before = documented(page)
    assert page.run("location.hash") == "#namespace=team-01&part=restart"
    page.ask("Page.reload")
    page.wait_for("Page.loadEventFired")
    assert documented(page) == before


@pytest.mark.parametrize(("scheme", "width"), FACES)
def test_it_fits_its_window(page: Page, scheme: str, width: int) -> None:
    page.reopen(scheme=scheme, width=width)
    assert page.run("document.documentElement.scrollWidth") == width
    paper = page.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.picture().startswith(b"\x89PNG")


def test_it_is_printed_in_black_on_white(page: Page) -> None:
    page.reopen(scheme="dark", media="print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.querySelector('.restart')).color") == "rgb(0, 0, 0)"
    assert not page.run("document.getElementById('filter').checkVisibility()")
    assert page.paper().startswith(b"%PDF")


def test_of_a_vm_that_nobody_unfolded_no_fields_are_printed(tab: Page, tmp_path: Path) -> None:
    vms = "---\n".join(manifests.vm(name, memory="1Gi") for name in "ab")
    manifests.put(tmp_path / "vms.yaml", vms)
    words = [sys.executable, "-m", "render", "report", str(tmp_path / "vms.yaml")]
    out = subprocess.run(words, capture_output=True, check=True, encoding="utf-8").stdout
    (tmp_path / "page.html").write_text(out, encoding="utf-8")
    tab.open(tmp_path / "page.html", media="print")
    tab.run("document.querySelector('#fleet details').open = true")
    printed = "[...document.querySelectorAll('.fields')].map((one) => one.checkVisibility())"
    tab.run("dispatchEvent(new Event('beforeprint'))")
    assert tab.run(printed) == [True, False]
    assert tab.run("[...document.querySelectorAll('#fleet details')].every((one) => one.open)")
    tab.run("dispatchEvent(new Event('afterprint'))")
    assert tab.run("[...document.querySelectorAll('#fleet details')].map((one) => one.open)") == [
        True, False,
    ]  # fmt: skip


def test_effects_of_one_colour_have_marks_of_their_own(tab: Page, tmp_path: Path) -> None:
    parts = page_of_report.bar((effect, 1, "") for effect in RANKED)
    legend = "".join(
        f'<svg><rect class="f-{part.css}"/><rect class="mark m-{part.css}"/></svg>'
        for part in parts
    )
    style = (ROOT / "render" / "report" / "page.css").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(f"<style>{style}</style>{legend}", encoding="utf-8")
    tab.open(tmp_path / "page.html")
    fills = "[...one.children].map((rect) => getComputedStyle(rect).fill)"
    looks = tab.run(f"[...document.querySelectorAll('svg')].map((one) => {fills})")
    assert len(set(map(tuple, looks))) == len(RANKED)


def test_a_small_part_of_a_bar_is_seen() -> None:
    parts = page_of_report.bar([("refused", 1, ""), ("restart", 1, ""), ("same", 5_000, "")])
    assert all(float(part.width) > 0.4 for part in parts)
    ends = [float(part.x) + float(part.width) for part in parts]
    assert all(end < float(part.x) for end, part in zip(ends, parts[1:], strict=False))
    assert ends[-1] <= 100


@pytest.mark.parametrize(("scheme", "width"), FACES)
def test_axe_has_nothing_to_say(page: Page, scheme: str, width: int) -> None:
    page.reopen(scheme=scheme, width=width)
    part(page, "restart")
    assert page.violations() == []
