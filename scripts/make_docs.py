"""Write what follows from the tables of the program: documents, JSON Schemas, plugin.yaml.

Usage: make_docs.py, from anywhere. A test fails while what is written differs from what the tables say.
"""

import csv
import json
import textwrap
from pathlib import Path
from typing import Any

from render.diagnostics.codes import CODES, page
from render.diagnostics.diagnostic import Severity
from render.diagnostics.exits import Exit
from render.diagnostics.explanations import explanation
from render.diff.effects import EFFECTS
from render.frontends.argocd.commands import announcements
from render.frontends.factor.report import FORMAT_VERSION as FACTOR_VERSION
from render.frontends.request import config
from render.frontends.request.commands import COMMANDS, Command
from render.frontends.request.options import DEADLINE, HOST_OPTIONS
from render.launcher.memory import AFTER_RATIO, ROWS
from render.model.hints import choices
from render.model.provenance import Decider
from render.model.release import VERSIONS, minor
from render.pipeline.factor.answers import OUTCOMES, Home
from render.pipeline.lock_roles import TRACES
from render.pipeline.outcomes import DEFINITIONS, HOLDERS, MACHINES, OutcomeRow
from render.report.deciders import FORMAT_VERSION as EXPLAIN_VERSION
from render.report.fleet import data as fleet_data
from render.report.history import data as history_data
from render.report.impact.json import FORMAT_VERSION as IMPACT_VERSION
from render.report.impact.review import HOLDER_OUTCOMES, RANKED
from render.report.plain_json import FORMAT_VERSION
from render.settings import OPTIONS, Option, Source
from render.yaml import writer

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


def diagnostics() -> str:
    """The page that lists all codes, with links into the pages that explain them."""
    index = [
        "# Diagnostics",
        "",
        (
            "`virt-render rule CODE` explains each on the command line. An error keeps manifests from being printed."
            " A finding on one object is silenced by an annotation on it,"
            " `virt-render.dev/ignore.CODE: reason`, unless it says here that it cannot be suppressed: what those find"
            " would make the rendered VM another one than KubeVirt's."
        ),
    ]
    for digit, title in STAGES.items():
        numbers = [number for number in CODES if number[2] == digit]
        if not numbers:
            continue
        file = f"diagnostics/{page(numbers[0])}.md"
        index += [
            "",
            f"## [{title}]({file})",
            "",
            _row("Code", "Severity", "Suppressible"),
            _row(*["---"] * 3),
        ]
        for number in numbers:
            code = CODES[number]
            link = f"[{number} {code.slug}]({file}#{number.lower()})"
            index.append(_row(link, code.severity, "yes" if code.suppressible else "no"))
    return "\n".join(index) + "\n"


def options() -> str:
    """The reference of all options, their names everywhere, and the exit statuses."""
    own = {
        name: [option for option in row.options if option not in (*OPTIONS, *HOST_OPTIONS)]
        for name, row in COMMANDS.items()
    }
    printed = dict.fromkeys(option for table in own.values() for option in table)
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
                for option in printed
            ),
            "",
            "## Exit status",
            "",
            _row("Status", "Meaning"),
            _row(*["---"] * 2),
            *(_row(str(int(status)), status.meaning) for status in Exit),
            "",
        ]
    )


def usage() -> str:
    """The page on usage, with the list of commands in its place."""
    text = (ROOT / "docs/usage.md").read_text(encoding="utf-8")
    rows = [_row("Command", "What it does"), _row("---", "---"), *map(_command, COMMANDS.values())]
    return _filled(text, "commands", rows)


def _filled(text: str, name: str, rows: list[str]) -> str:
    """*text* with *rows* between the comments *name*."""
    before, begin, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->")
    return f"{before}{begin}{chr(10).join(rows)}\n{end}{after}"


def emit() -> str:
    """The page on emit modes, with what each makes of each kind of machine and of definition."""
    text = (ROOT / "docs/emit.md").read_text(encoding="utf-8")
    tables = {
        "machines": ("Machine", (*MACHINES.values(), *HOLDERS.values())),
        "definitions": ("Definition", tuple(DEFINITIONS.values())),
    }
    for name, (title, table) in tables.items():
        modes = list(table[0].outcomes)
        head = [_row(title, *(f"`{mode}`" for mode in modes)), _row(*["---"] * (len(modes) + 1))]
        body = [_row(row.title, *(_outcome(row, mode) for mode in modes)) for row in table]
        text = _filled(text, name, head + body)
    traces = [_row(f"`{mode}`", str(trace.lock), trace.stamped) for mode, trace in TRACES.items()]
    head = [_row("Mode", "The lock", "Stamped"), _row("---", "---", "---")]
    return _filled(text, "traces", head + traces)


def pod() -> str:
    """The page on the pod, with the sum of its memory overhead by release."""
    text = (ROOT / "docs/pod.md").read_text(encoding="utf-8")
    by_release = [
        {row.what: row for row in (*ROWS(release), *AFTER_RATIO(release))} for release in VERSIONS
    ]
    whole = {name: row for rows in by_release for name, row in rows.items()}
    head = [_row("For", "When", *map(minor, VERSIONS)), _row(*["---"] * (len(VERSIONS) + 2))]
    body = [
        _row(name, row.when, *(rows[name].figure if name in rows else "-" for rows in by_release))
        for name, row in whole.items()
    ]
    return _filled(text, "overhead", head + body)


def _outcome(row: OutcomeRow, mode: str) -> str:
    outcomes = [row.outcomes[mode], *([row.unused[mode]] if mode in row.unused else [])]
    return "; unused: ".join(f"*{outcome.verdict}*: {outcome.words}" for outcome in outcomes)


def _recorded_checks() -> list[dict[str, str]]:
    with (ROOT / "fixtures/admission-checks.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, dialect="excel-tab"))


def checks() -> dict[str, dict[str, str]]:
    """What ``rule CHECK`` knows: of each check the first refusal that is recorded."""
    known: dict[str, dict[str, str]] = {}
    for row in _recorded_checks():
        known.setdefault(row["check"], {"message": row["message"], "help": row["help"]})
    return known


def admission() -> str:
    """The page on admission, with the table of checks in its place."""
    rows = _recorded_checks()
    table: list[str] = []
    for number in dict.fromkeys(row["code"] for row in rows):
        link = f"diagnostics/{page(number)}.md#{number.lower()}"
        table += [
            "",
            f"### {CODES[number].slug} ([{number}]({link}))",
            "",
            explanation(number).meaning,
            "",
            _row("Check", "KubeVirt says", "Cure"),
            _row(*["---"] * 3),
            *(_check(row) for row in rows if row["code"] == number),
        ]
    text = (ROOT / "docs/admission.md").read_text(encoding="utf-8")
    return _filled(text, "checks", [*table[1:], ""])


def _check(row: dict[str, str]) -> str:
    release = "" if row["release"].startswith("v") else f" (KubeVirt {row['release']})"
    cells = (f"`{row['check']}`{release}", _code(row["message"]), row["help"].replace("*", "\\*"))
    return _row(*(cell.replace("|", "\\|") for cell in cells))


def _code(text: str) -> str:
    """*text* as code, whatever it holds."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _command(row: Command) -> str:
    words = " ".join([row.name, *(argument.metavar for argument in row.arguments)])
    summary = row.summary.partition("\n")[0].replace("*", "\\*")
    return _row(f"`virt-render {words}`".replace("|", "\\|"), summary)


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


_LAYOUT = {
    "exclude": "what is not looked at",
    "roots": "folders that are applied each by itself",
    "shared": "where what others refer to stands",
}


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
                    **{
                        key: {
                            "description": f"{words}: patterns for folders and files, as in a .gitignore; read by"
                            " check, pin and migrate in the file at the root of a repository",
                            "type": "array",
                            "items": {"type": "string", "minLength": 1},
                        }
                        for key, words in _LAYOUT.items()
                    },
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


def test_schema() -> dict[str, Any]:
    """The JSON Schema of a file with expectations."""
    name = {"type": "string", "minLength": 1}
    names = {"anyOf": [name, {"type": "array", "minItems": 1, "items": name}]}
    effects = {"enum": list(RANKED)}
    changes = {"anyOf": [effects, {"type": "array", "minItems": 1, "items": effects}]}
    subjects = {
        "vm": "what virt-render build --emit vm prints",
        "vmi": "the VirtualMachineInstance that KubeVirt starts of it",
        "pod": "its virt-launcher pod",
    }
    expectation = {
        "type": "object",
        "additionalProperties": False,
        "anyOf": [{"required": [key]} for key in (*subjects, "findings", "change")],
        "properties": {
            "name": {"description": "of the test case", "type": "string"},
            "vms": {"description": "web, prod/web, 'prod/web-*', prod/; all if left out", **names},
            **{
                key: {"description": f"fields of {words}", "type": "object"}
                for key, words in subjects.items()
            },
            "findings": {
                "description": "the codes of all errors and warnings about them; without it there is no error",
                "type": "array",
                "items": {"enum": list(CODES)},
            },
            "change": {"description": "the effects that the change may have", **changes},
        },
    }
    settings = {option.spelled(Source.FILE): _property(option) for option in OPTIONS}
    fields = {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "paths": {
                "description": "files and folders, as seen from this file; . if left out",
                **names,
            },
            "before": {
                "description": "a revision of git, of which that counts where the working tree left it; or a folder",
                **name,
            },
            "settings": {
                "description": f"as below spec of {config.NAME}",
                "type": ["object", "null"],
                "additionalProperties": False,
                "properties": settings,
            },
        },
    }
    return {
        "$schema": DIALECT,
        "title": "Test: what is expected of VMs, in *.virt-test.yaml",
        "type": "object",
        "required": ["apiVersion", "kind", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": config.API_VERSION},
            "kind": {"const": "Test"},
            "metadata": {"type": "object"},
            "spec": {
                "type": "object",
                "required": ["expect"],
                "additionalProperties": False,
                "properties": {
                    "given": fields,
                    "expect": {"type": "array", "minItems": 1, "items": expectation},
                },
            },
        },
    }


def _property(option: Option) -> dict[str, Any]:
    name = {"type": "string", "minLength": 1}
    kinds: dict[str, dict[str, Any]] = {
        "flag": {"type": "boolean"},
        "choice": {"enum": list(option.choices)},
        "label": {**name, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        "release": {"type": "string", "pattern": r"^(auto|v?\d+\.\d+(\.\d+)?)$"},
        "number": {"type": "integer", "minimum": 1},
        "many": {"anyOf": [name, {"type": "array", "minItems": 1, "items": name}]},
    }
    schema = kinds.get("many" if option.many else option.kind, name)
    default = {} if option.default == "" else {"default": option.default}
    return {"description": option.help, **schema, **default}


_FIGURES = (
    "machines", "kustomizations", "accepted", "before", "unknown", "cut", "ignoring", "fixable", "fixableUnsafely",
    "bundled", "objects", "files", "charts",
)  # fmt: skip


def _waiver() -> dict[str, Any]:
    """The JSON Schema of the fields of a waiver."""
    text = {"type": "string"}
    values = [text, {"type": "boolean"}, {"type": "array", "items": text}]
    return {
        "setting": {**text, "description": "as its author spells it"},
        "value": {"anyOf": values},
        "source": {**text, "description": "the file that sets it, or what else does"},
    }


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
    edit = {
        "file": {"type": "string"},
        "document": {"type": "integer", "minimum": 0, "description": "its number in the file"},
        "field": {"type": "string", "description": "its path in the document"},
        "action": {"enum": ["set", "rename", "remove", "move"]},
        "value": {
            "description": "the value, the new key, or the path to which it is moved; an item behind the last is added"
        },
    }
    fix = {
        "title": {"type": "string"},
        "safe": {
            "type": "boolean",
            "description": "the VMI stays the same, or there was none and only one reading is possible",
        },
        "edits": {"type": "array", "items": _closed(edit)},
    }
    finding = {
        "code": {"enum": list(CODES)},
        "slug": {"enum": [code.slug for code in CODES.values()]},
        "check": {
            "type": ["string", "null"],
            "description": "the check of KubeVirt's admission that found it",
        },
        "severity": {"enum": [str(severity) for severity in Severity]},
        "message": {"type": "string"},
        **where,
        "related": {"type": "array", "items": _closed(related)},
        "help": {"type": "string", "description": "what to do, empty where the message says it"},
        "releases": {
            "type": "array",
            "items": {"type": "string"},
            "description": "the KubeVirt releases that it holds for, where several were asked for",
        },
        "fingerprint": {
            "type": "string",
            "description": "the same for the same finding in another run, whatever its line",
        },
        "builds": {
            "type": "array",
            "description": "the folders of the kustomizations in which it is found",
            "items": {"type": "string"},
        },
        "fixes": {
            "type": "array",
            "description": "what would mend it; several are a choice",
            "items": _closed(fix),
        },
    }
    figures = (*(f"{severity}s" for severity in Severity), *_FIGURES)
    counts: dict[str, Any] = {name: {"type": "integer", "minimum": 0} for name in figures}
    counts["unseen"] = {
        "type": "object",
        "description": "what was not looked at and may start VMs, by kind",
        "additionalProperties": {"type": "integer", "minimum": 1},
    }
    counts["borrowed"] = {
        "type": "object",
        "description": "how many definitions VMs take from other folders of the repository, by folder",
        "additionalProperties": {"type": "integer", "minimum": 1},
    }
    counts["waived"] = {
        "type": "array",
        "description": "settings of the repository, or of an Application, by which less is looked at or checked",
        "items": _closed(_waiver()),
    }
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


def impact_schema() -> dict[str, Any]:
    """The JSON Schema of ``diff --format json``."""
    count = {"type": "integer", "minimum": 0}
    text = {"type": "string"}
    perhaps = {"type": ["string", "null"]}
    position = {"type": ["integer", "null"], "minimum": 1}
    names = {"type": "array", "items": text}
    resource = _closed(dict.fromkeys(("kind", "namespace", "name"), text))
    state = {
        "name": {**text, "description": "the commit or folder"},
        "kubevirt": {**perhaps, "description": "the release, where one was asked for"},
        "clusterConfig": {
            **perhaps,
            "description": "the file with the cluster's settings, likewise",
        },
        "emit": {**perhaps, "description": "how it is synced, where the other is not synced so"},
    }
    total = _closed({"machines": count, "vcpus": count, "memory": count})
    totals = _closed({"before": total, "after": total})
    size = {
        **_closed({"vcpus": count, "memory": count, "instancetype": perhaps}),
        "type": ["object", "null"],
    }
    cause = {
        "resource": resource,
        "field": text,
        "side": {"enum": ["before", "after"]},
        "file": perhaps,
        "line": position,
        "column": position,
    }
    nowhere = {**_closed(cause), "type": ["object", "null"]}
    amounts = _closed({"pods": count, "cpu": count, "memory": count})
    requests = {
        **_closed(
            {
                "kustomization": perhaps,
                "namespace": text,
                "before": amounts,
                "after": amounts,
            }
        ),
        "description": "what the pods that always run request, in thousandths of a CPU and bytes;"
        " of namespaces with quotas, or all where nodes are in the input",
    }
    quota = {
        **_closed(
            {
                **dict.fromkeys(("namespace", "quota", "resource", "hard", "needed"), text),
                "severity": {"enum": ["error", "warning"]},
                "causes": {"type": "array", "items": _closed(cause)},
            }
        ),
        "description": "a quota that begins to fail, and the edits that brought it",
    }
    change = {
        "field": {
            **text,
            "description": "a path of the VirtualMachineInstance, of the VM where none changes",
        },
        "before": {"description": "the value; null where there is none"},
        "after": {"description": "the value; null where there is none"},
        "effect": {"enum": list(EFFECTS)},
        "waits": {
            "type": "boolean",
            "description": "needs no restart itself, and waits for that of another change",
        },
        "cause": nowhere,
    }
    moved = {
        **perhaps,
        "description": "the kustomization that had it before, if it moved; an empty text for none",
    }
    machine = {
        "resource": resource,
        "kustomization": perhaps,
        "movedFrom": moved,
        "class": {"enum": list(EFFECTS), "description": "the effect by which it is counted"},
        "effects": {
            "type": "array",
            "items": {"enum": list(EFFECTS)},
            "description": "worst first",
        },
        "messages": {**names, "description": "KubeVirt's texts"},
        "unrendered": {
            "type": "array",
            "items": {"enum": ["before", "after"]},
            "description": "the states in which it cannot be rendered",
        },
        "workload": {
            "enum": ["migrate", "evict", "none", "unmigratable", None],
            "description": "what KubeVirt does with a VM that waits for a migration",
        },
        "rolloutStrategy": {
            **_closed(
                {
                    "value": text,
                    "missingGate": {
                        **perhaps,
                        "description": "the feature gate without which the setting does not count",
                    },
                    "cause": nowhere,
                }
            ),
            "type": ["object", "null"],
            "description": "vmRolloutStrategy, of a VM that waits for a restart because of it; "
            "its cause is null where it is KubeVirt's default",
        },
        "staleDataVolumes": {**names, "description": "they would be made otherwise now, and stay"},
        "madeDataVolumes": {**names, "description": "they are made at once"},
        "leftDataVolumes": {**names, "description": "they have no template any more, and stay"},
        "pins": {
            "type": "array",
            "items": {"enum": ["instancetype", "preference"]},
            "description": "what the lock decides of it in the later state",
        },
        "unpinned": {
            "type": "array",
            "items": {"enum": ["instancetype", "preference"]},
            "description": "what the lock decided of it in the earlier state alone",
        },
        "edited": {
            "type": "array",
            "items": _closed({"resource": resource, "pin": perhaps}),
            "description": "the definitions that were edited, and nothing comes of it",
        },
        "deleted": {
            "type": "array",
            "items": _closed({"resource": resource, "pin": perhaps}),
            "description": "the definitions that were deleted, and nothing comes of it",
        },
        "before": size,
        "after": size,
        "changes": {"type": "array", "items": _closed(change)},
        "source": {**nowhere, "description": "where a VM stands that comes, or stood that goes"},
        "lacking": {
            "type": "array",
            "items": _closed(cause),
            "description": "the definitions that were deleted, for want of which it is refused, fails or "
            "cannot be rendered",
        },
        "renamed": {
            "anyOf": [resource, {"type": "null"}],
            "description": "what a VM that goes is called from now on, or one that comes was called until now",
        },
        "departed": {
            "type": "array",
            "items": _closed({"source": _closed(cause), "use": _closed(cause)}),
            "description": "claims, DataVolumes, Secrets, ConfigMaps and Namespaces that left, and what names them",
        },
        "redefined": {
            "type": "array",
            "items": _closed(cause),
            "description": "the fields of edited definitions for which it is refused, fails or cannot be "
            "rendered, where no change names them",
        },
        "configured": {
            "type": "array",
            "items": _closed(cause),
            "description": "of a VM of which nothing else changes, the settings of the cluster that do",
        },
    }
    holder = {
        "resource": resource,
        "kustomization": perhaps,
        "movedFrom": moved,
        "outcome": {
            "enum": list(HOLDER_OUTCOMES),
            "description": "what becomes of what it has made: "
            + "; ".join(f"{name}: {words}" for name, (words, _) in HOLDER_OUTCOMES.items()),
        },
        "selective": {"type": "boolean", "description": "only of VMs that it selects"},
        "replicas": _closed({"before": count, "after": count}),
        "edited": {
            "type": "array",
            "items": resource,
            "description": "definitions that were edited, which only VMs that it makes later have",
        },
        "departed": {
            **machine["departed"],
            "description": "the Namespace that left, with which it goes",
        },
        "changes": {
            "type": "array",
            "items": _closed(
                {key: value for key, value in change.items() if key not in ("effect", "waits")}
            ),
            "description": "of the VM or VMI that it makes, whose fields they are",
        },
    }
    by_name = {"type": "object", "additionalProperties": totals}
    findings = {
        "description": "the diagnostics of the state, as in report.schema.json",
        **report_schema()["properties"]["diagnostics"],
    }
    return {
        "$schema": DIALECT,
        "title": "The answer of virt-render diff --format json; memory in bytes",
        **_closed(
            {
                "formatVersion": {"const": IMPACT_VERSION},
                "before": _closed(state),
                "after": _closed(state),
                "emit": text,
                "otherwise": {
                    **_closed({"emit": text, "machines": count, "state": perhaps}),
                    "type": ["object", "null"],
                    "description": "to how many VMs something else would happen, synced the other way, in one state or "
                    "both; null where --emit was given",
                },
                "uncompared": {
                    "type": "array",
                    "items": _closed(
                        {
                            "name": {**text, "description": "of the input, empty for loose files"},
                            "codes": names,
                            "before": {"type": "boolean"},
                            "after": {"type": "boolean"},
                            "changed": {
                                "type": "boolean",
                                "description": "what it reads is not the same in both states, or a definition that this"
                                " mentions",
                            },
                        }
                    ),
                    "description": "inputs that cannot be read, in which state, and why",
                },
                "locked": {
                    "enum": ["none", "some", "all"],
                    "description": "which inputs are synced rendered since they have a lock",
                },
                "unseen": {
                    "type": "object",
                    "additionalProperties": {"type": "integer"},
                    "description": "what of the second state was not looked at, by what it is",
                },
                "unseenBefore": {
                    "type": "object",
                    "additionalProperties": {"type": "integer"},
                    "description": "what of the first state was not looked at, as far as it is more",
                },
                "gitops": {
                    "type": "object",
                    "additionalProperties": {"type": "integer"},
                    "description": "the objects of Argo CD and Flux that are new, deleted or changed, by what they are",
                },
                "uninstalled": {
                    "type": "array",
                    "items": text,
                    "description": "what is deleted and takes all VMs of its cluster, or their disks, with it",
                },
                "settings": {
                    "type": "array",
                    "items": _closed(
                        {
                            "key": text,
                            **{
                                side: {"description": "null for none"}
                                for side in ("before", "after")
                            },
                            "applied": {
                                "type": "boolean",
                                "description": "false: what it turns off is checked as in the first state",
                            },
                            "adopted": {
                                "type": "boolean",
                                "description": "taken for both states, since one says nothing of it",
                            },
                        }
                    ),
                    "description": "settings of the repository itself that change",
                },
                "counts": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {key: {"type": "integer", "minimum": 1} for key in EFFECTS},
                },
                "totals": _closed({"all": totals, "namespaces": by_name, "instancetypes": by_name}),
                "requests": {"type": "array", "items": requests},
                "quotas": {"type": "array", "items": quota},
                "assumptions": {**names, "description": "what only the cluster knows"},
                "machines": {"type": "array", "items": _closed(machine)},
                "holders": {
                    "type": "array",
                    "items": _closed(holder),
                    "description": "pools, replica sets and templates, whose VMs are not among the machines",
                },
                "definitions": {
                    "type": "array",
                    "items": _closed(
                        {
                            "resource": resource,
                            "became": {"enum": ["new", "changed", "deleted"]},
                            "used": {"type": ["boolean", "null"]},
                        }
                    ),
                    "description": "instancetypes and preferences that changed; used: a VM asks for the name,"
                    " null where only what is not compared mentions it",
                },
                "errors": _closed(
                    {
                        "new": {**findings, "description": "errors of the later state alone"},
                        "remaining": {**findings, "description": "errors of both states"},
                        "gone": {**findings, "description": "errors of the earlier state alone"},
                    }
                ),
                "diagnostics": _closed({"before": findings, "after": findings}),
            }
        ),
    }


def fleet_schema() -> dict[str, Any]:
    """The JSON Schema of ``report --format json``."""
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    perhaps = {"type": ["integer", "null"], "minimum": 0}
    findings = {"type": "array", "items": report_schema()["properties"]["diagnostics"]["items"]}
    definition = {
        **_closed(dict.fromkeys(("kind", "name", "hash"), text)),
        "type": ["object", "null"],
    }
    machine = {
        **dict.fromkeys(("kind", "namespace", "name", "kustomization", "kubevirt"), text),
        "file": {"type": ["string", "null"]},
        "line": perhaps,
        "starts": {
            "type": "boolean",
            "description": "whether it can be rendered; sizes are null where not",
        },
        "vcpus": perhaps,
        "memory": {**perhaps, "description": "of the guest, in bytes"},
        "instancetype": definition,
        "preference": definition,
        "pins": {"type": "array", "items": text},
        "errors": count,
        "warnings": count,
        "findings": findings,
    }
    return {
        "$schema": DIALECT,
        "title": "A fleet, as virt-render report --format json writes it; memory in bytes",
        **_closed(
            {
                "formatVersion": {"const": fleet_data.FORMAT_VERSION},
                "repository": {**text, "description": "empty outside of git"},
                "commit": text,
                "total": _closed(dict.fromkeys(("machines", "vcpus", "memory"), count)),
                "machines": {"type": "array", "items": _closed(machine)},
                "capacity": {
                    "type": "array",
                    "items": _capacity_schema(),
                    "description": "what pods ask for against what there is, of each root that says what there is",
                },
                "findings": {**findings, "description": "about nothing that is a machine"},
            }
        ),
    }


def history_schema() -> dict[str, Any]:
    """The JSON Schema of ``history --format json``."""
    text = {"type": "string"}
    perhaps = {"type": ["string", "null"]}
    effect = {"enum": list(RANKED)}
    definition = {
        **_closed(dict.fromkeys(("kind", "name", "hash"), text)),
        "type": ["object", "null"],
    }
    change = {"field": text, "before": {}, "after": {}, "effect": text}
    impact = {
        "class": {**effect, "description": "the worst of the effects"},
        "effects": {"type": "array", "items": effect},
        "messages": {"type": "array", "items": text},
        "changes": {"type": "array", "items": _closed(change)},
    }
    commit = {"commit": text, "date": {**text, "format": "date"}, "subject": text}
    revision = {
        "number": {"type": "integer", "minimum": 1},
        **commit,
        "instancetype": definition,
        "preference": definition,
        "class": {**effect, "description": "new: the first one"},
        "fault": {**perhaps, "description": "why it cannot be rendered"},
        "impacts": {
            "type": "array",
            "items": _closed(impact),
            "description": "what became of the VM as it was before",
        },
    }
    machine = {
        "resource": _closed(dict.fromkeys(("kind", "namespace", "name"), text)),
        "lock": {**text, "description": "as seen from the top of the repository"},
        "revisions": {"type": "array", "items": _closed(revision), "description": "oldest first"},
        "removals": {
            "type": "array",
            "items": _closed(commit),
            "description": "the commits that took it out of the lock, oldest first",
        },
        "moves": {
            "type": "array",
            "items": _closed({**commit, "from": text, "to": text}),
            "description": "the commits that took it from one lock to another, oldest first",
        },
    }
    return {
        "$schema": DIALECT,
        "title": "The edit revisions of VMs, as virt-render history --format json writes them",
        **_closed(
            {
                "formatVersion": {"const": history_data.FORMAT_VERSION},
                "lock": {**perhaps, "description": "that of all machines, if it is one"},
                "since": perhaps,
                "machines": {"type": "array", "items": _closed(machine)},
            }
        ),
    }


def _capacity_schema() -> dict[str, Any]:
    """The part of ``report --format json`` that says what pods ask for."""
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    share = _closed(
        {
            "always": {**count, "description": "what always runs asks for, with its overhead"},
            "overhead": {**count, "description": "of that: beside the memory of guests"},
            "startable": {**count, "description": "what may be started beside that asks for"},
            "limit": {
                "type": ["integer", "null"],
                "minimum": 0,
                "description": "what there is of it, where something says so",
            },
        }
    )
    group = {
        "name": text,
        "pods": {**count, "description": "that always run"},
        "cpu": {**share, "description": "thousandths of a CPU"},
        "memory": {**share, "description": "bytes"},
    }
    left = {
        "type": "integer",
        "description": "once the largest node is drained; negative where there is no room",
    }
    amount = {**text, "description": "as Kubernetes writes it"}
    quota = {
        **dict.fromkeys(("namespace", "name", "resource"), text),
        **dict.fromkeys(("hard", "always", "startable"), amount),
    }
    pool = {**group, "nodes": count, "largest": text, "leftCpu": left, "leftMemory": left}
    return _closed(
        {
            "root": {**text, "description": "the folder; empty where there is one alone"},
            **{
                key: {"type": "array", "items": _closed(items)}
                for key, items in (
                    ("namespaces", group),
                    ("instancetypes", group),
                    ("quotas", quota),
                    ("nodePools", pool),
                )
            },
        }
    )


def explain_schema() -> dict[str, Any]:
    """The JSON Schema of ``explain --format json``."""
    text = {"type": "string"}
    perhaps = {"type": ["string", "null"]}
    position = {"type": ["integer", "null"], "minimum": 1}
    resource = _closed(dict.fromkeys(("kind", "namespace", "name"), text))
    source = {
        "resource": resource,
        "field": text,
        "file": {**perhaps, "description": "null for what KubeVirt deploys itself"},
        "line": position,
        "column": position,
    }
    contender = {
        "value": {"description": "of a VirtualMachineInstance; (hidden) in the place of a secret"},
        "decider": {"enum": list(choices(Decider))},
        "pinned": {
            "type": "boolean",
            "description": "whether a lock has what counts of the source",
        },
        "source": {
            **_closed(source),
            "type": ["object", "null"],
            "description": "null where KubeVirt decides",
        },
    }
    field = {
        "field": {
            **text,
            "description": "a path of the VirtualMachineInstance, items of lists by their names",
        },
        **contender,
        "losers": {
            "type": "array",
            "items": _closed(contender),
            "description": "who wanted another value, in the order in which they would have it",
        },
    }
    described = _closed(field)
    described["properties"]["sum"] = {
        **text,
        "description": "of a number of the pod: what it is the sum of",
    }
    return {
        "$schema": DIALECT,
        "title": "The answer of virt-render explain --format json",
        **_closed(
            {
                "formatVersion": {"const": EXPLAIN_VERSION},
                "resource": resource,
                "fields": {"type": "array", "items": described},
            }
        ),
    }


def factor_schema() -> dict[str, Any]:
    """The JSON Schema of ``factor --format json``."""
    text = {"type": "string"}
    perhaps = {"type": ["string", "null"]}
    position = {"type": ["integer", "null"], "minimum": 1}
    place = {"file": perhaps, "line": position, "column": position}
    resource = _closed(dict.fromkeys(("kind", "namespace", "name"), text))
    name = {
        **_closed({"kind": text, "name": text, "home": {"enum": list(choices(Home))}}),
        "type": ["object", "null"],
        "description": "null where the VM gets none",
    }
    reason = {
        "word": {"enum": ["instancetype", "preference", None]},
        "message": text,
        "field": {**perhaps, "description": "of the VM, if one is behind it"},
        **place,
    }
    change = {"field": text, "before": {}, "after": {}, "effect": text}
    nearest = {
        "instancetype": name,
        "preference": name,
        "effects": {"type": "array", "items": text, "description": "as those of diff"},
        "messages": {"type": "array", "items": text},
        "changes": {"type": "array", "items": _closed(change)},
    }
    machine = {
        "resource": resource,
        "path": {**perhaps, "description": "where the VM stands in a pool or a template"},
        "folder": text,
        **place,
        "outcome": {"enum": list(OUTCOMES)},
        "instancetype": name,
        "preference": name,
        "removed": {"type": "array", "items": text},
        "restarts": {"type": "boolean"},
        "presets": {"type": "array", "items": resource},
        "reasons": {"type": "array", "items": _closed(reason)},
        "nearest": {**_closed(nearest), "type": ["object", "null"]},
        "written": {
            "type": ["boolean", "null"],
            "description": "null where nothing was to be written",
        },
        "unwritten": {**perhaps, "description": "why it was not written"},
    }
    definition = {
        "folder": text,
        "file": {**perhaps, "description": "where it is added"},
        "manifest": {"type": "object"},
        "users": {"type": "array", "items": resource},
    }
    preset = {
        "resource": resource,
        "folder": text,
        **place,
        "users": {"type": "array", "items": resource},
        "reason": {**perhaps, "description": "why it stays; null for one that nobody needs"},
        "written": {
            "type": ["boolean", "null"],
            "description": "whether it is gone; null where nothing was to be written",
        },
        "unwritten": {**perhaps, "description": "why it is not"},
    }
    count = {"type": "integer", "minimum": 0}
    return {
        "$schema": DIALECT,
        "title": "The answer of virt-render factor --format json",
        **_closed(
            {
                "formatVersion": {"const": FACTOR_VERSION},
                "counts": _closed(dict.fromkeys(OUTCOMES, count)),
                "machines": {"type": "array", "items": _closed(machine)},
                "definitions": {"type": "array", "items": _closed(definition)},
                "presets": {"type": "array", "items": _closed(preset)},
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
        "docs/admission.md": admission(),
        "docs/usage.md": usage(),
        "docs/emit.md": emit(),
        "docs/pod.md": pod(),
        "plugin.yaml": plugin(),
        "schemas/checks.json": json.dumps(checks(), indent=1, ensure_ascii=False) + "\n",
        "schemas/renderconfig.schema.json": json.dumps(config_schema(), indent=2) + "\n",
        "schemas/test.schema.json": json.dumps(test_schema(), indent=2) + "\n",
        "schemas/explain.schema.json": json.dumps(explain_schema(), indent=2) + "\n",
        "schemas/factor.schema.json": json.dumps(factor_schema(), indent=2) + "\n",
        "schemas/impact.schema.json": json.dumps(impact_schema(), indent=2) + "\n",
        "schemas/fleet.schema.json": json.dumps(fleet_schema(), indent=2) + "\n",
        "schemas/history.schema.json": json.dumps(history_schema(), indent=2) + "\n",
        "schemas/report.schema.json": json.dumps(report_schema(), indent=2) + "\n",
    }


if __name__ == "__main__":
    for name, content in pages().items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(content, encoding="utf-8")
        print(f"wrote {name}")
