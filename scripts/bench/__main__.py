"""``make bench``: ours beside kustomize and a Go program on generated trees, its stages, and docs/benchmarks.md.

CPU time counts: wall time depends on who else uses the machine. kustomize at 10,000 VMs takes minutes; ``--quick``
leaves that tree out, and writes no document.
"""

import argparse
import compileall
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from render.system import processors
from scripts.bench import editor, fleet, measure, pages, plot
from scripts.bench.fleet import Tree
from scripts.bench.measure import Cost

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLEETS = (Tree(1), Tree(100), Tree(1000), Tree(10_000))
SEVERAL = (Tree(1000, several=True), Tree(10_000, several=True))
ROUNDS = {1: 21, 100: 9, 1000: 7, 10_000: 3}
LARGE = 10_000
_REVIEWED = 1000
_OVERLAYS, _PAGED, _ROUNDS_WHOLE = 60, 300, 5
OURS, FULL, DIFF, KUSTOMIZE, BARE = (
    "virt-render --admission off", "virt-render", "virt-render diff", "kustomize", "python -I -c pass"
)  # fmt: skip
VMI, POD = "virt-render --emit vmi", "virt-render --emit pod"
GO_PROGRAM = "sigs.k8s.io/yaml"
_SMALL_SHARE = 0.01


class Result(NamedTuple):
    """What each tool cost on one tree."""

    tree: Tree
    costs: Mapping[str, Cost]

    @property
    def ratio(self) -> float | None:
        """Our CPU time as a share of kustomize's."""
        return self.costs[OURS].cpu / self.costs[KUSTOMIZE].cpu if KUSTOMIZE in self.costs else None


def main() -> int:
    """Measure, say so, and write the document; the exit status says whether a budget is missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the trees of 10,000 VMs")
    quick = parser.parse_args().quick
    kustomize = shutil.which("kustomize", path=os.path.join(ROOT, ".tools", "bin"))
    if kustomize is None:
        sys.exit("no kustomize: run `make tools`")
    for name in ("render", "scripts"):  # as an installed package is
        compileall.compile_dir(os.path.join(ROOT, name), quiet=1)
    go = shutil.which("go")
    if go is None:
        sys.exit("no Go: it builds the program that is measured beside ours")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    with tempfile.TemporaryDirectory(prefix="virt-render-bench-") as folder:
        bare = measure.interleaved({BARE: _bare()}, ROUNDS[1], environ)[BARE]
        go_pass = os.path.join(folder, "go_pass")
        source = os.path.join(ROOT, "scripts", "bench", "go_pass")
        subprocess.run([go, "build", "-o", go_pass, "."], cwd=source, check=True)
        peers = {KUSTOMIZE: [kustomize, "build"], GO_PROGRAM: [go_pass]}
        results = [
            _measured(folder, tree, peers, environ)
            for tree in (*FLEETS, *SEVERAL)
            if not (quick and tree.vms == LARGE)
        ]
        whole = list(_whole_repositories(folder, kustomize, environ))
        stages = _stages(os.path.join(folder, Tree(1000).name), environ)
        guests = [*_guests(folder, environ), *_rooms(folder, environ), *_factored(folder, environ)]
        print("measuring edits ...", file=sys.stderr, flush=True)
        p95 = editor.p95_of_edits(os.path.join(folder, "editor"), _REVIEWED)
        what = "an edit in the editor, 1,000 VMs open: CPU ms of its findings, 95 of 100"
        edits = Verdict(what, 120, p95)
        print("measuring pages ...", file=sys.stderr, flush=True)
        measured_pages = list(pages.figures())
    verdicts = [*_verdicts(results, bare), *whole, *guests, edits]
    text = _document(results, bare, verdicts, stages, _version(kustomize)) + pages.section(
        measured_pages
    )
    print(text)
    if not quick:
        plot.FIGURES.write_text(text, encoding="utf-8")
        plot.TARGET.write_text(plot.picture(text), encoding="utf-8")
    return 0 if all(verdict.met for verdict in verdicts) else 1


def _bare() -> list[str]:
    return [sys.executable, "-I", "-c", "pass"]


def _measured(
    folder: str, tree: Tree, peers: Mapping[str, list[str]], environ: Mapping[str, str]
) -> Result:
    path = os.path.join(folder, tree.name)
    fleet.write(path, tree)
    program = os.path.join(os.path.dirname(sys.executable), "virt-render")
    ours = [program, "build", "--kustomize", "never", path]
    commands = {OURS: [*ours, "--admission", "off"], FULL: ours}
    if tree.vms == LARGE and not tree.several:
        commands |= {VMI: [*ours, "--emit", "vmi"], POD: [*ours, "--emit", "pod"]}
    if tree.vms >= _REVIEWED and not tree.several:
        fleet.commit_edit(path)
        # A revision is one of the repository around the current folder.
        commands[DIFF] = [
            "/usr/bin/env", "-C", path, program, "diff", "HEAD~1..HEAD", "--kustomize", "never",
        ]  # fmt: skip
    commands |= {name: [*words, path] for name, words in peers.items()}
    print(f"measuring {tree.name} ...", file=sys.stderr, flush=True)
    if tree.vms < LARGE:
        commands |= {BARE: _bare()} if tree.vms == 1 else {}
        return Result(tree, measure.interleaved(commands, ROUNDS[tree.vms], environ))
    kustomize = commands.pop(KUSTOMIZE)
    costs = measure.interleaved(commands, ROUNDS[LARGE], environ)
    if not tree.several:
        costs[KUSTOMIZE] = measure.run(kustomize, environ)
    return Result(tree, costs)


def _whole_repositories(
    folder: str, kustomize: str, environ: Mapping[str, str]
) -> "Iterable[Verdict]":
    """What many kustomizations cost beside kustomize alone, and a page about a fleet beside its findings."""
    program = os.path.join(os.path.dirname(sys.executable), "virt-render")
    overlays = os.path.join(folder, "overlays")
    fleet.write_overlays(overlays, _OVERLAYS)
    jobs = processors.available()
    every = f"ls -d {overlays}/overlay-* | xargs -P {jobs} -n 1 {kustomize} build"
    check, xargs = [program, "check", "--kustomize", kustomize, overlays], ["/bin/sh", "-c", every]
    costs = measure.interleaved({"check": check, "xargs": xargs}, _ROUNDS_WHOLE, environ)
    what = f"{_OVERLAYS} kustomizations: wall time of check / `xargs -P {jobs}` of kustomize"
    yield Verdict(what, 1.25, costs["check"].wall / costs["xargs"].wall)
    page = os.path.join(folder, Tree(_PAGED).name)
    fleet.write(page, Tree(_PAGED))
    words = ["--kustomize", "never", page]
    commands = {name: [program, name, *words] for name in ("check", "report")}
    costs = measure.interleaved(commands, _ROUNDS_WHOLE, environ)
    what = f"{_PAGED} VMs: CPU time of report / check"
    yield Verdict(what, 1.5, costs["report"].cpu / costs["check"].cpu)


def _rooms(folder: str, environ: Mapping[str, str]) -> "Iterable[Verdict]":
    """What it costs to ask whether there is room, as a share of a check where nothing limits pods."""
    program = os.path.join(os.path.dirname(sys.executable), "virt-render")
    paths = {name: os.path.join(folder, "rooms", name) for name in ("check", "quotas")}
    for path in paths.values():
        fleet.write(path, Tree(1000))
    fleet.write_quotas(paths["quotas"])
    print("measuring quotas ...", file=sys.stderr, flush=True)
    commands = {
        name: [program, "check", "--kustomize", "never", path] for name, path in paths.items()
    }
    costs = measure.interleaved(commands, ROUNDS[1000], environ)
    what = "1,000 VMs in namespaces with quotas: CPU time of check / without quotas"
    yield Verdict(what, 1.3, costs["quotas"].cpu / costs["check"].cpu)


def _guests(folder: str, environ: Mapping[str, str]) -> "Iterable[Verdict]":
    """What it costs to look into what guests boot with, as a share of a check that does not."""
    program = os.path.join(os.path.dirname(sys.executable), "virt-render")
    for tree, what, budget in (
        (Tree(1000), "1,000 VMs with as many cloud-configs", 3.5),
        (Tree(1000, alike=True), "1,000 VMs with one cloud-config", 1.2),
    ):
        path = os.path.join(folder, "guests", tree.name)
        fleet.write(path, tree)
        check = [program, "check", "--kustomize", "never", path, "--guest"]
        print(f"measuring guests of {tree.name} ...", file=sys.stderr, flush=True)
        costs = measure.interleaved(
            {level: [*check, level] for level in ("off", "warning")}, ROUNDS[tree.vms], environ
        )
        ratio = costs["warning"].cpu / costs["off"].cpu
        yield Verdict(f"{what}: CPU time of check / with --guest off", budget, ratio)


def _factored(folder: str, environ: Mapping[str, str]) -> "Iterable[Verdict]":
    """What it costs to find definitions for VMs that spell everything out, beside a check of them."""
    program = os.path.join(os.path.dirname(sys.executable), "virt-render")
    source, plain = (os.path.join(folder, name) for name in ("defined", "plain"))
    fleet.write(source, Tree(1000))
    build = [program, "build", "--kustomize", "never", "--emit", "vm", "-o", f"{plain}/", source]
    subprocess.run(build, env=environ, check=True, stderr=subprocess.DEVNULL)
    for name in os.listdir(plain):  # the definitions: VMs are in the folders of their namespaces
        if os.path.isfile(os.path.join(plain, name)):
            os.unlink(os.path.join(plain, name))
    words = ["--kustomize", "never", plain]
    commands = {name: [program, name, *words] for name in ("check", "factor")}
    print("measuring factor ...", file=sys.stderr, flush=True)
    costs = measure.interleaved(commands, _ROUNDS_WHOLE, environ)
    what = "1,000 VMs against the whole catalogue: CPU time of factor / check"
    yield Verdict(what, 3, costs["factor"].cpu / costs["check"].cpu)


def _stages(path: str, environ: Mapping[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "scripts.bench.stages", path]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _version(kustomize: str) -> str:
    done = subprocess.run([kustomize, "version"], capture_output=True, check=True, encoding="utf-8")
    return done.stdout.strip()


class Verdict(NamedTuple):
    """A budget of the design, and what was measured."""

    what: str
    budget: float
    measured: float

    @property
    def met(self) -> bool:
        """Whether it is kept."""
        return self.measured <= self.budget


def _verdicts(results: Sequence[Result], bare: Cost) -> Iterable[Verdict]:
    by_size = {result.tree.vms: result for result in results if not result.tree.several}
    first, thousand, large = (
        by_size[size].costs if size in by_size else None for size in (1, 1000, LARGE)
    )
    for tool, spoken, cold, many, most in (
        (OURS, "", 5, 0.2, 1.0),
        (FULL, ", with full admission", 6, 0.28, 1.1),
    ):
        if first:
            what = f"1 VM, cold process{spoken}: CPU time / `{BARE}`"
            yield Verdict(what, cold, first[tool].cpu / first.get(BARE, bare).cpu)
        if thousand:
            what = f"1,000 VMs{spoken}: CPU time / kustomize"
            yield Verdict(what, many, thousand[tool].cpu / thousand[KUSTOMIZE].cpu)
        if large:
            what = f"10,000 VMs{spoken}: CPU time / {GO_PROGRAM}"
            yield Verdict(what, most, large[tool].cpu / large[GO_PROGRAM].cpu)
    if thousand and large:
        memory = large[FULL].memory / large[KUSTOMIZE].memory
        yield Verdict("10,000 VMs: peak memory / kustomize", 0.2, memory)
        what = "10,000 VMs, one instancetype edited: CPU time of diff / build"
        yield Verdict(what, 2.2, large[DIFF].cpu / large[FULL].cpu)
        what = "10,000 VMs: CPU time of --emit pod / --emit vmi"
        yield Verdict(what, 1.6, large[POD].cpu / large[VMI].cpu)
        growth = large[OURS].cpu / thousand[OURS].cpu
        yield Verdict("10,000 / 1,000 VMs: CPU time of ours", 11, growth)


def _document(
    results: Sequence[Result],
    bare: Cost,
    verdicts: Iterable[Verdict],
    stages: Mapping[str, float],
    version: str,
) -> str:
    rows = [
        "| tree | tool | CPU s | wall s | peak MB | CPU ratio |",
        "|---|---|---|---|---|---|",
        f"| (nothing) | `{BARE}` | {bare.cpu:.3f} | {bare.wall:.3f} | {bare.memory:.0f} | |",
    ]
    for result in results:
        for tool in (OURS, FULL, DIFF, VMI, POD, KUSTOMIZE, GO_PROGRAM):
            if tool in result.costs:
                cost = result.costs[tool]
                ratio = f"{result.ratio:.3g}" if tool == OURS and result.ratio else ""
                rows.append(
                    f"| {_tree(result.tree)} | {tool} | {cost.cpu:.3f} | {cost.wall:.3f} "
                    f"| {cost.memory:.0f} | {ratio} |"
                )
    budgets = [
        f"| {verdict.what} | <= {verdict.budget:g} | {verdict.measured:.3g} "
        f"| {'kept' if verdict.met else '**missed**'} |"
        for verdict in verdicts
    ]
    whole = sum(stages.values())
    shares = sorted(stages.items(), key=lambda item: -item[1])
    small = sum(seconds for _, seconds in shares if seconds < _SMALL_SHARE * whole)
    profile = [
        f"| {name} | {seconds * 1000:.0f} | {seconds / whole:.0%} |"
        for name, seconds in shares
        if seconds >= _SMALL_SHARE * whole
    ]
    profile.append(f"| all other stages | {small * 1000:.0f} | {small / whole:.0%} |")
    return _TEXT.format(
        machine=_machine(),
        version=version,
        rows="\n".join(rows),
        budgets="\n".join(budgets),
        profile="\n".join(profile),
    )


def _tree(tree: Tree) -> str:
    layout = "a hundred a file" if tree.several else "one file each"
    return "1 VM and its 2 resources" if tree.vms == 1 else f"{tree.vms:,} VMs, {layout}"


def _machine() -> str:
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.partition(": ")[2] for line in file if "model name" in line), model)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model.strip()}, {os.cpu_count()} cores; {python}"


_TEXT = """\
# Benchmarks

Written by `make bench`; do not edit. CPU time (user and system, children included) decides: it does not depend on who
else uses the machine. Compare the ratios, not the seconds: the tools ran in turn, in the same minutes.

Machine: {machine}.
Other tools: kustomize {version}, and a Go program that only decodes and encodes the same files with
sigs.k8s.io/yaml (`scripts/bench/go_pass`): what any Go tool of this ecosystem pays before it does anything.

`kustomize build` reads, sorts and prints the resources of a tree. Ours (`virt-render build --kustomize never`) also
checks every field and renders every VM, with 60 instancetypes and 80 preferences. The trees are generated
(`scripts/bench/fleet.py`): VMs of 2 KB with two volumes, cloud-init and two networks.
`virt-render diff` compares two revisions of such a tree, between which one of the instancetypes was edited; they are
checked out into the folder for temporary files, and what that costs is up to its file system.

## Budgets

| what | budget | measured | |
|---|---|---|---|
{budgets}

## Figures

{rows}

![CPU time of the tools over the number of VMs, logarithmic](benchmarks.svg)

Ours grows in proportion to the number of resources. So does kustomize at first; beyond about a thousand the part that
grows with their square decides. It takes minutes for 10,000 VMs, and so it builds only one of the two trees of that
size, once.

## Where the time goes

1,000 VMs, one file each; CPU time of each stage, clocks included.

| stage | ms | share |
|---|---|---|
{profile}
"""


if __name__ == "__main__":
    sys.exit(main())
