"""`make demo` tells its story in one screen, and the picture of the README shows what it says."""

from pathlib import Path

import pytest

from scripts import demo, make_picture
from scripts.bench import plot
from tests.support.tools import required


def test_the_story_fits_on_a_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    required("kustomize")
    demo.main(tmp_path / "out")
    told = capsys.readouterr().out
    assert len(told.splitlines()) <= 45
    assert "web/database.yaml:28:18: error VR301 instancetype-conflict" in told
    assert "4 VMs: 1 restart, 3 same" in told
    written = told.splitlines()[-3:]
    assert [Path(line).name for line in written] == ["review.html", "fleet.html", "manifests.yaml"]
    assert all(Path(line).stat().st_size > 1000 for line in written)


def test_the_picture_is_up_to_date() -> None:
    required("kustomize")
    written = make_picture.TARGET.read_text(encoding="utf-8")
    assert written == make_picture.picture(), "make generate"
    assert ">4 VMs: 1 restart, 3 same<" in written
    assert ">HEAD -&gt; the working tree, synced with --emit vm<" in written
    assert "…" not in written, "nothing is cut"


def test_the_plot_of_the_benchmarks_is_up_to_date() -> None:
    written = plot.TARGET.read_text(encoding="utf-8")
    assert written == plot.picture(plot.FIGURES.read_text(encoding="utf-8")), "make generate"
    assert written.count("<polyline") == len(plot.TOOLS)


@pytest.mark.parametrize("drawn", [make_picture.TARGET, plot.TARGET], ids=str)
def test_a_picture_follows_the_reader_into_the_dark(drawn: Path) -> None:
    assert "@media (prefers-color-scheme: dark)" in drawn.read_text(encoding="utf-8")
