"""Write what follows from the tables of the program: two documents, two JSON Schemas, plugin.yaml.

Usage: make_docs.py, from anywhere. A test fails while what is written differs from what the tables say.
"""

import json
import textwrap
from pathlib import Path
from typing import Any

from render.diagnostics.codes import CODES
from render.diagnostics.diagnostic import Severity
from render.diagnostics.explanations import EXPLANATIONS
from render.frontends import config
from render.frontends.argocd_commands import announcements
from render.frontends.exits import Exit
from render.frontends.options import BY_HAND, COMMANDS, DEADLINE, HOST_OPTIONS
from render.manifests import writer
from render.report.plain_json import FORMAT_VERSION
from render.settings import OPTIONS, Option, Source

ROOT = Path(__file__).resolve().parents[1]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
STAGES = {
    "1": "Reading the input",
    "2": "What a VM refers to",
    "3": "Conflicts",
    "4": "Requirements and validity",
    "5": "Older notations",
    "6": "Pins",
    "7": "Defaults and presets",
    "8": "Settings and usage",
    "9": "virt-render itself",
}
STATUS = {
    Exit.OK: "fine; warnings and notes do not count",
    Exit.FINDINGS: "errors in the input: anything with a position or an object",
    Exit.USAGE: "usage, settings, no kustomize binary",
    Exit.UNREADABLE: "unreadable or unwritable path, failing kustomize, limits",
    Exit.INTERNAL: "a defect of virt-render",
    Exit.DEADLINE: "out of time",
    Exit.HUNG_UP: "hung up (SIGHUP, the terminal is gone)",
    Exit.INTERRUPTED: "interrupted (SIGINT, ctrl-C)",
    Exit.BROKEN_PIPE: "whoever read the output stopped reading",
    Exit.TERMINATED: "terminated (SIGTERM)",
}


def diagnostics() -> str:
    """The reference of all codes."""
    parts = [
        (
            "# Diagnostics\n\n"
            "`virt-render rule CODE` prints the same on the command line. An error keeps manifests from being printed."
            " A finding on one object is silenced by an annotation on it,"
            " `virt-render.dev/ignore.CODE: reason`, unless it says here that it cannot be suppressed: what those find"
            " would make the rendered VM another one than KubeVirt's.\n"
        )
    ]
    for digit, title in STAGES.items():
        section = [_explained(number) for number in CODES if number[2] == digit]
        parts += [f"\n## {title}\n", *section] if section else []
    return "".join(parts)


def _explained(number: str) -> str:
    code, told = CODES[number], EXPLANATIONS[number]
    fixed = "" if code.suppressible else ", cannot be suppressed"
    language, example = (
        ("console", told.example + "\n") if told.example[0] == "$" else ("yaml", told.example)
    )
    return (
        f"\n### {number} {code.slug}\n\n*{code.severity.capitalize()}{fixed}.* {told.meaning}\n\n"
        f"```{language}\n{example}```\n\nSays: `{told.message}`\n\n{told.cure}\n"
    )


def options() -> str:
    """The reference of all options, their names everywhere, and the exit statuses."""
    own = {
        name: [option for option in table if option not in (*OPTIONS, *HOST_OPTIONS)]
        for name, table in (COMMANDS | BY_HAND).items()
    }
    shown = dict.fromkeys(option for table in own.values() for option in table)
    return "\n".join(
        [
            "# Options",
            "",
            "## What is rendered",
            "",
            (
                "The strongest source decides: flag, parameter (Argo CD), environment variable, function config"
                f" (kustomize), configuration file (`{config.NAME}`, kind `{config.KIND}`, options below `spec`),"
                " default. In an Argo CD Application's `plugin.env` the variables are written as here; Argo CD puts"
                " `ARGOCD_ENV_` in front, and those win over variables of the sidecar itself. Paths in a configuration"
                " file are relative to it. Without a namespace from any source, `ARGOCD_APP_NAMESPACE` decides."
            ),
            "",
            _row("Flag", "Parameter", "Variable", "Key in files", "Default", "Meaning"),
            _row(*["---"] * 6),
            *(
                _row(
                    _flag(option),
                    f"`{option.name}`",
                    f"`{option.spelled(Source.ENVIRONMENT)}`",
                    f"`{option.spelled(Source.FILE)}`",
                    _default(option),
                    _meaning(option),
                )
                for option in OPTIONS
            ),
            "",
            f"`argocd generate` alone has one more: {_deadline()}.",
            "",
            "## How it is read",
            "",
            "Decided by whoever runs the program, never by what is in the repository: flags and variables only.",
            "",
            _row("Flag", "Variable", "Default", "Meaning"),
            _row(*["---"] * 4),
            *(
                _row(
                    _flag(option),
                    f"`{option.spelled(Source.ENVIRONMENT)}`",
                    _default(option),
                    _meaning(option),
                )
                for option in HOST_OPTIONS
            ),
            "",
            "## What a call asks for",
            "",
            _row("Flag", "Commands", "Default", "Meaning"),
            _row(*["---"] * 4),
            *(
                _row(
                    _flag(option),
                    ", ".join(f"`{name}`" for name, table in own.items() if option in table),
                    _default(option),
                    _meaning(option),
                )
                for option in shown
            ),
            "",
            "## Exit status",
            "",
            _row("Status", "Meaning"),
            _row(*["---"] * 2),
            *(_row(str(int(status)), STATUS[status]) for status in Exit),
            "",
        ]
    )


def _deadline() -> str:
    """The names of the deadline, which an Application may set beside what is rendered."""
    return (
        f"{_flag(DEADLINE)}, parameter `{DEADLINE.spelled(Source.PARAMETER)}`,"
        f" variable `{DEADLINE.spelled(Source.ENVIRONMENT)}`"
    )


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _flag(option: Option) -> str:
    value = option.metavar or "|".join(option.choices)
    if option.kind == "flag":
        return f"`--{option.name}`, `--no-{option.name}`" + _short(option)
    return f"`--{option.name} {value}`".replace("|", "\\|") + _short(option)


def _short(option: Option) -> str:
    return f", `-{option.short}`" if option.short else ""


def _default(option: Option) -> str:
    if isinstance(option.default, bool):
        return "on" if option.default else "off"
    return f"`{option.default}`" if option.default != "" else ""


def _meaning(option: Option) -> str:
    return option.help + (f" (with {option.needs[0]} {option.needs[1]})" if option.needs else "")


def config_schema() -> dict[str, Any]:
    """The JSON Schema of a RenderConfig."""
    return {
        "$schema": DIALECT,
        "title": f"{config.KIND}: settings of virt-render, in {config.NAME} or as the config of a function",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": config.API_VERSION},
            "kind": {"const": config.KIND},
            "metadata": {"type": "object"},
            "spec": {
                "type": ["object", "null"],
                "additionalProperties": False,
                "properties": {
                    **{option.spelled(Source.FILE): _property(option) for option in OPTIONS},
                    "resources": {
                        "description": "in the config of a function: files and folders that are read too, so that the"
                        " function works as a generator; not allowed in a file",
                        "type": "array",
                        "items": {"type": "string", "minLength": 1},
                    },
                },
            },
        },
    }


def _property(option: Option) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "flag": {"type": "boolean"},
        "choice": {"enum": list(option.choices)},
        "number": {"type": "integer", "minimum": 1},
    }
    schema = kinds.get(option.kind, {"type": "string", "minLength": 1})
    default = {} if option.default == "" else {"default": option.default}
    return {"description": option.help, **schema, **default}


def report_schema() -> dict[str, Any]:
    """The JSON Schema of ``--format json``."""
    where = {
        "resource": {
            "type": ["object", "null"],
            "description": "the object that is meant; null before there are objects",
            "required": ["kind", "namespace", "name"],
            "additionalProperties": False,
            "properties": {key: {"type": "string"} for key in ("kind", "namespace", "name")},
        },
        "field": {"type": "string", "description": "its field, empty for the whole of it"},
        "file": {"type": ["string", "null"]},
        "line": {"type": ["integer", "null"], "minimum": 1},
        "column": {"type": ["integer", "null"], "minimum": 1},
    }
    related = {"message": {"type": "string"}, **where}
    finding = {
        "code": {"enum": list(CODES)},
        "slug": {"enum": [code.slug for code in CODES.values()]},
        "severity": {"enum": [str(severity) for severity in Severity]},
        "message": {"type": "string"},
        **where,
        "related": {"type": "array", "items": _closed(related)},
        "help": {"type": "string", "description": "what to do, empty where the message says it"},
    }
    counts = {f"{severity}s": {"type": "integer", "minimum": 0} for severity in Severity}
    return {
        "$schema": DIALECT,
        "title": "The report of virt-render --format json",
        **_closed(
            {
                "formatVersion": {"const": FORMAT_VERSION},
                "summary": _closed(counts),
                "diagnostics": {"type": "array", "items": _closed(finding)},
            }
        ),
    }


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


PLUGIN = """\
# Argo CD config-management plugin: belongs at /home/argocd/cmp-server/config/plugin.yaml of a sidecar.
# No version: with one, every upgrade would rename the plugin and so touch every Application.
# No discovery: an Application asks for it by name (spec.source.plugin.name: virt-render).
# The parameters are written by scripts/make_docs.py.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: virt-render
spec:
  generate:
    command: [virt-render, argocd, generate]
"""


def plugin() -> str:
    """The configuration of Argo CD's plugin server, with one announcement a parameter."""
    parameters = writer.dump({"parameters": {"static": announcements()}})
    return PLUGIN + textwrap.indent(parameters, "  ")


def pages() -> dict[str, str]:
    """Everything that this script writes: path from the top of the repository -> content."""
    return {
        "docs/diagnostics.md": diagnostics(),
        "docs/options.md": options(),
        "plugin.yaml": plugin(),
        "schemas/renderconfig.schema.json": json.dumps(config_schema(), indent=2) + "\n",
        "schemas/report.schema.json": json.dumps(report_schema(), indent=2) + "\n",
    }


if __name__ == "__main__":
    for name, content in pages().items():
        (ROOT / name).write_text(content, encoding="utf-8")
        print(f"wrote {name}")
