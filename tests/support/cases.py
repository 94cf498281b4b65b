"""The folder cases: `fixtures/cases/AREA/BEHAVIOUR/`, described in CONTRIBUTING.md."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from render import Settings
from render.manifests.sources.loading import load
from render.manifests.sources.reading import Reading
from render.settings import OPTIONS, Source
from render.yaml.budget import Limits
from render.yaml.reader import read

ROOT = Path(__file__).parents[2]
CASES = ROOT / "fixtures" / "cases"


@dataclass(frozen=True)
class Case:
    folder: Path
    flags: dict[str, str | bool]
    fails: bool = False

    @property
    def settings(self) -> Settings:
        fields = {option.spelled(Source.FLAG): option.field for option in OPTIONS}
        return Settings(**{fields[flag]: value for flag, value in self.flags.items()})  # type: ignore[arg-type] # by name

    @property
    def argv(self) -> list[str]:
        """The flags as a shell writes them."""
        words = []
        for flag, value in self.flags.items():
            words += (
                [flag, value] if isinstance(value, str) else [flag if value else f"--no-{flag[2:]}"]
            )
        return words

    @property
    def expected(self) -> str:
        """Everything that is printed, ``""`` where nothing may be."""
        return _text(self.folder / "expected.yaml")

    @property
    def diagnostics(self) -> str:
        """The report, ``""`` where nothing is found."""
        return _text(self.folder / "diagnostics.txt")

    def bodies(self, name: str = "input") -> list[Any]:
        """The objects of the input, or of another file of the case, as the library takes them."""
        loaded = load([str(self.folder / name)], Reading(Limits()))
        return [document.body for document in loaded.documents]

    def update(self, output: str, report: str) -> None:
        """Make *output* and *report* what is expected; a failure that is new only where ``fails: true`` says so."""
        failed_before = self.diagnostics and not self.expected
        assert output or self.fails or failed_before, (
            f"{self.folder.name} fails: if that is meant, case.yaml says `fails: true`\n{report}"
        )
        for name, text in (("expected.yaml", output), ("diagnostics.txt", report)):
            if text:
                (self.folder / name).write_text(text, encoding="utf-8")
            else:
                (self.folder / name).unlink(missing_ok=True)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


@cache
def _validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((ROOT / "schemas" / "case.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def read_case(folder: Path) -> Case:
    """The case in *folder*; a case.yaml that does not fit its schema raises."""
    found = read((folder / "case.yaml").read_bytes(), "case.yaml")
    (document,) = found.documents
    _validator().validate(document.body)
    settings = {"annotations": False, **document.body.get("settings", {})}
    flags = {option.field: option.spelled(Source.FLAG) for option in OPTIONS}
    fails = document.body.get("fails", False)
    return Case(folder, {flags[name]: value for name, value in settings.items()}, fails)
