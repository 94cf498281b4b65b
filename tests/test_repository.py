"""The files around the code say what is true of the code."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

import grimp
import pytest

import render
from render.model.release import RELEASES, minor, tag
from render.yaml.reader import read
from tests.support import names

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("fixtures/**/*.md"))
)
#: How many lines the modules of a folder of the package may have, those of its folders apart.
LARGEST_ROOM = 3500
#: How many lines a function may have, from its name to its last statement.
LONGEST_FUNCTION = 40
# Written in pieces, so that this file does not contain them.
FORBIDDEN = re.compile(
    "|".join(
        ("/" + "work/", "/" + "tmp/", "/" + "root/", "pypi" + r"\.org", "pythonhosted" + r"\.org")
    )
)


def tracked() -> list[Path]:
    """Everything that is or would be committed."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8")
    return [path for name in names.stdout.split("\0") if name and (path := ROOT / name).is_file()]


class Looked(NamedTuple):
    """What several tests look at in a module, each with its line: all trees would take 270 MB, as long as tests run."""

    functions: tuple[tuple[int, str, int], ...]
    """With how many lines."""
    attributes: tuple[tuple[int, str], ...]
    comparisons: tuple[tuple[int, tuple[str, ...]], ...]
    """By order, with the words of both sides."""
    names: tuple[tuple[int, str], ...]
    """Those that it brings itself."""
    circles: tuple[tuple[int, str], ...]
    """Functions inside of others that refer to themselves."""


@cache
def looked(path: Path) -> Looked:
    """What there is to look at in the module at *path*."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    return Looked(
        tuple(
            (node.lineno, node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        tuple((node.lineno, node.attr) for node in nodes if isinstance(node, ast.Attribute)),
        tuple(
            (node.lineno, tuple(ordered_words(node)))
            for node in nodes
            if isinstance(node, ast.Compare)
            and any(isinstance(each, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for each in node.ops)
        ),
        tuple((getattr(node, "lineno", 0), name) for node in nodes for name in defined_names(node)),
        tuple(circle for node in nodes for circle in circles_in(node)),
    )


def circles_in(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The functions right inside of *node*, a function, that refer to themselves and are not deleted there."""
    inside = node.body if isinstance(node, ast.FunctionDef) else []
    deleted = {
        ast.unparse(each) for it in inside if isinstance(it, ast.Delete) for each in it.targets
    }
    for each in ast.walk(ast.Module(inside, [])):
        if isinstance(each, ast.FunctionDef) and each.name not in deleted:
            read_names = {inner.id for inner in ast.walk(each) if isinstance(inner, ast.Name)}
            if each.name in read_names:
                yield each.lineno, each.name


def ordered_words(node: ast.Compare) -> Iterator[str]:
    """The identifiers of what *node* compares, a dot being between two."""
    for side in (node.left, *node.comparators):
        yield from ast.unparse(side).split(".")


def defined_names(node: ast.AST) -> set[str]:
    """The identifiers that *node* itself brings: what it binds, not what it reads of others."""
    if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Store):
        return set()
    keys: tuple[str, ...] = ("id", "attr", "name", "rest", "asname")
    if isinstance(node, ast.alias):
        keys = ("asname",)
    elif isinstance(node, ast.arg):
        keys = ("arg",)
    return {name for key in keys if isinstance(name := getattr(node, key, None), str)}


def yaml_objects(name: str) -> list[Any]:
    found = read((ROOT / name).read_bytes(), name)
    assert not found.diagnostics
    return [document.body for document in found.documents]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "render", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)


def test_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == render.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(render.__version__)}\b", changelog, re.MULTILINE)
    assert render.__version__ in run("--version").stdout


def test_changelog_names_what_is_new_and_what_is_gone() -> None:
    """Since `tests.support.names` was written, as it is with each version."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.split(r"^## ", changelog, flags=re.MULTILINE)[1]
    for text, some in (("new", names.added()), ("gone", names.removed())):
        for resource in some:
            assert re.search(resource.pattern, newest), (
                f"{resource.kind} {resource.name} is {text}: a line of CHANGELOG.md names it"
            )


def test_each_release_of_kubevirt_is_on_its_page() -> None:
    page = (ROOT / "docs/releases.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for release in RELEASES:
        assert tag(release.version) in page, f"docs/releases.md names no {tag(release.version)}"
    for release in RELEASES[1:]:
        assert f"\n| {minor(release.version)} |" in page, (
            f"docs/releases.md, What differs: no row of {minor(release.version)}"
        )
    span = f"{minor(RELEASES[0].version)} to {minor(RELEASES[-1].version)}"
    assert f"renders for KubeVirt {span}" in page, f"docs/releases.md: KubeVirt {span}"
    assert set(re.findall(r"\b1\.\d+ to 1\.\d+\b", readme)) == {span}, f"README.md: KubeVirt {span}"


def test_what_is_private_to_a_module_is_used_there() -> None:
    """A check, a rule or a stage without its row is such a function."""
    for path in (ROOT / "render").rglob("*.py"):
        words = Counter(re.findall(r"\w+", text := path.read_text(encoding="utf-8")))
        # What a named tuple has is public, for all its underscores.
        private = set(re.findall(r"^\s*def (_[a-z]\w*)", text, re.MULTILINE))
        for name in private - {"_make", "_replace", "_asdict"}:
            assert words[name] > 1, (
                f"{path.relative_to(ROOT)}: {name} is used nowhere: is its row missing?"
            )


def test_entry_points_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"]
    for target in project["scripts"].values():
        module, _, function = target.partition(":")
        assert callable(getattr(__import__(module, fromlist=[function]), function))


def test_pinned_requirements_hold_every_dependency() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = settings["project"]["dependencies"] + settings["dependency-groups"]["dev"]
    names = {re.split(r"[^A-Za-z0-9._-]", line)[0].lower() for line in wanted}
    lines = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines if "==" in line}
    assert names <= pinned


def test_argocd_plugin_names_a_command_that_exists() -> None:
    (plugin,) = yaml_objects("plugin.yaml")
    assert plugin["kind"] == "ConfigManagementPlugin"
    assert plugin["metadata"]["name"] == "virt-render"
    assert "version" not in plugin["spec"], "every upgrade would rename the plugin"
    assert "discover" not in plugin["spec"], "an Application asks for it by name"
    program, *command = plugin["spec"]["generate"]["command"]
    assert program == "virt-render"
    answer = run(*command, "--help")
    assert answer.returncode == 0, answer.stderr


def test_pre_commit_hooks_name_commands_that_exist() -> None:
    # The file is a list, which is no Kubernetes object: read it as the value of a mapping.
    text = "hooks:\n" + (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (document,) = read(text.encode(), "hooks").documents
    hooks = document.body["hooks"]
    assert len({hook["id"] for hook in hooks}) == len(hooks) > 0
    for hook in hooks:
        assert hook["language"] == "python"
        program, command, *rest = hook["entry"].split()
        assert program == "virt-render"
        answer = run(command, "--help")
        assert answer.returncode == 0, answer.stderr
        assert hook.get("pass_filenames", True) == (hook.get("args") == ["--"])
        assert "--" not in rest, "what users give as args would be taken for files"


HOMES = {
    "click": "frontends",
    "jsonschema": "guest",
    "ruamel": "yaml",
    "_ruamel_yaml": "yaml",
}


@pytest.mark.parametrize("library", HOMES)
def test_library_has_one_home(library: str) -> None:
    """What import-linter cannot see: libraries that are imported by name or not at all yet."""
    wanted = re.compile(
        rf"""^\s*(?:import|from) {library}\b|import_module\(["']{library}\b""", re.MULTILINE
    )
    users = {
        path.relative_to(ROOT / "render").parts[0].removesuffix(".py")
        for path in (ROOT / "render").rglob("*.py")
        if wanted.search(path.read_text(encoding="utf-8"))
    }
    assert users <= {HOMES[library]}


#: Who prints, saves or ends the process: what delivers answers, and the hosts, each in the protocol of its own.
DELIVERERS = {
    "frontends/dispatch.py", "frontends/execute.py", "frontends/reporting.py", "frontends/waived.py",
    "frontends/argocd/generate.py", "frontends/editor/command.py", "frontends/kustomize/function.py",
    "manifests/output.py",
}  # fmt: skip


def test_nobody_prints_or_saves_but_who_delivers_answers() -> None:
    wanted = re.compile(
        r"streams import .*\bemit|\bprint\(|\bsys\.exit\(|\bos\.write\(|writing import .*\bwrite_|\bwriting\.write_"
    )
    found = {
        name
        for path in (ROOT / "render").rglob("*.py")
        if not (name := str(path.relative_to(ROOT / "render"))).startswith("system/")
        and wanted.search(path.read_text(encoding="utf-8"))
    }
    assert found == DELIVERERS, "a command answers an Answer; render.frontends.execute delivers it"


def test_nothing_local_is_written_down() -> None:
    found = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data and FORBIDDEN.search(data.decode()):
            found.append(str(path.relative_to(ROOT)))
    assert not found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"(`+) ?[^\n]*?\1", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            name, _, anchor = target.partition("#")
            linked = (document.parent / name) if name else document
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), target


def anchors(document: Path) -> set[str]:
    """The names that a forge gives to the headings of *document*, and those that it has itself."""
    text = document.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    return named.union(re.findall(r'<a id="([^"]+)">', text))


#: The pages that show one thing, from its beginning to its end.
HOW_TOS = ("flux", "policies", "pytest", "rendered-branches", "testing", "waves", "windows")


@pytest.mark.parametrize("name", HOW_TOS)
def test_a_how_to_is_one_screen(name: str) -> None:
    """Without the comments, which no reader sees; what is reference has pages of its own."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert len(re.sub(r"<!--.*?-->\n", "", text, flags=re.DOTALL).splitlines()) <= 60


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs and items of lists of *text*, in Markdown, without blocks, tables and comments."""
    text = re.sub(
        r"^ *(```+|~~~+).*?^ *\1|<!--.*?-->|^ *[|#].*?$", "\n", text, flags=re.DOTALL | re.MULTILINE
    )
    yield from re.split(r"\n\s*\n|\n(?= *(?:[-*]|\d+\.) )", text)


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").glob("**/*.md")), ids=lambda path: path.stem
)
def test_paragraphs_are_short(page: Path) -> None:
    """Ninety words; longer ones are read by nobody."""
    text = page.read_text(encoding="utf-8")
    assert not [each for each in paragraphs(text) if len(each.split()) > 90]


def test_commands_in_the_documents_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
        assert named <= targets, document.name


def test_every_make_target_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert set(phony.split()) == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))


def test_ci_runs_what_the_readme_names() -> None:
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").endswith("exec make test\n")


def test_rooms_are_small_enough_to_look_around_in() -> None:
    sizes = {
        str(folder.relative_to(ROOT)): sum(
            len(module.read_text(encoding="utf-8").splitlines()) for module in folder.glob("*.py")
        )
        for folder in (ROOT / "render", *(ROOT / "render").rglob("*/"))
    }
    assert {room: size for room, size in sizes.items() if size > LARGEST_ROOM} == {}


def test_functions_fit_on_a_screen() -> None:
    sizes = {
        f"{path.relative_to(ROOT)}:{line} {name}": lines
        for path in (ROOT / "render").rglob("*.py")
        for line, name, lines in looked(path).functions
        if lines > LONGEST_FUNCTION
    }
    assert sizes == {}


#: Functions that refer to themselves for as long as the process lives, and how often they are made.
LASTING = {"advance": "with the programs that are waited for together"}


def test_no_function_keeps_what_it_has_seen() -> None:
    """One inside of another that refers to itself is never freed, nor what it sees: the collector is off."""
    lasting = {
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in (ROOT / "render").rglob("*.py")
        for line, name in looked(path).circles
        if name not in LASTING
    }
    assert lasting == set()


#: Words that say nothing of what they name.
EMPTY_WORDS = {"asked", "given", "mine", "one", "said", "shown", "theirs", "there"}


def test_gates_are_looked_up_in_one_place() -> None:
    """Whether a gate counts as on follows from its state in the release too: `has_gate`, else `lists_gate`."""
    home = ROOT / "render" / "model" / "cluster_config.py"
    found = [
        f"{file.relative_to(ROOT)}:{line}: ask `has_gate` of ClusterConfig, or `lists_gate`"
        for file in sorted((ROOT / "render").rglob("*.py"))
        if file != home
        for line, attribute in looked(file).attributes
        if attribute in ("feature_gates", "disabled_gates")
    ]
    assert not found


#: What reads windows, its own or those of the data.
READERS_OF_WINDOWS = {"model/release.py", "model/types.py", "convert/hyperconverged/crd.py"}


def test_nobody_compares_releases() -> None:
    """What only some releases do is a window around a row; what has no row asks `holds`."""
    found = [
        f"render/{path}:{line}: a window (`since`, `until`), or `holds`"
        for file in sorted((ROOT / "render").rglob("*.py"))
        if (path := file.relative_to(ROOT / "render").as_posix()) not in READERS_OF_WINDOWS
        for line, words in looked(file).comparisons
        if "release" in words
    ]
    assert not found


def test_docstrings_begin_with_no_number_of_a_list() -> None:
    """As ``E4: `` does: whoever reads it has the repository alone, and no list of what was found when."""
    found = [
        f"{path.relative_to(ROOT)}: {match[1]}"
        for path in tracked()
        if path.suffix == ".py"
        for match in re.finditer(r'"""([A-Z]\d+)\b[:, ]', path.read_text(encoding="utf-8"))
    ]
    assert not found


@pytest.mark.parametrize("folder", ["render", "scripts", "tests"])
def test_names_say_what_they_hold(folder: str) -> None:
    """With underscores around them, too."""
    empty = [
        f"{file.relative_to(ROOT)}:{line}: {name} says nothing of what it names"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, name in looked(file).names
        if name.strip("_").casefold() in EMPTY_WORDS
    ]
    assert not empty, "\n".join(empty)


def test_no_module_imports_what_imports_it() -> None:
    """Not even in a function or for its types alone, where Python would not mind."""
    graph = grimp.build_graph("render", cache_dir=None)
    modules = graph.modules - {"render"}  # the names that it hands out
    TopologicalSorter(
        {name: graph.find_modules_directly_imported_by(name) & modules for name in modules}
    ).prepare()


def test_a_class_shares_its_name_with_no_other() -> None:
    """A leading underscore makes no other name of it."""
    homes: dict[str, list[str]] = {}
    for path in (ROOT / "render").rglob("*.py"):
        for name in re.findall(
            r"^\s*class _*(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            homes.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_no_change_is_told_twice() -> None:
    """As after a merge in which one side has moved what the other has edited."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    begun = Counter(line for line in lines if line.startswith("- "))
    assert [line for line, count in begun.items() if count > 1] == []
