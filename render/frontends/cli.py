"""The command line through click: help, usage errors, and the commands that no machine calls.

Options come from the tables of `render.settings` and `render.frontends.options`. Values are judged there and not by
click, so that a wrong one reads the same from a flag, a variable or a file.
"""

import os
from collections.abc import Sequence
from typing import Any

import click

import render
from render.diagnostics import codes
from render.diagnostics.diagnostic import Diagnostic, Location
from render.frontends import argocd_commands, catalog_commands, kustomize_init, pin_cli
from render.frontends.exits import Exit, status
from render.frontends.options import COMMANDS, Call
from render.report import text
from render.report.findings import find
from render.report.places import Sources
from render.settings import Option

_PROGRAM = "virt-render"
_COMPLETION = "_VIRT_RENDER_COMPLETE"
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(
    context_settings=_CONTEXT,
    epilog="Exit status: 0 fine, 1 findings, 2 usage or settings, 3 unreadable input, 4 our own fault, 5 deadline."
    " Settings may also stand in .virt-render.yaml and in VIRT_RENDER_ variables.",
)
@click.version_option(render.__version__, prog_name=_PROGRAM, message="%(prog)s %(version)s")
def main() -> None:
    """Render KubeVirt virtual machines from the YAML in a repository, as KubeVirt would run them."""


def _rendering(command: str, summary: str, group: click.Group = main) -> None:
    """Add a command that renders to *group*, with the options of its table."""

    def callback(paths: tuple[str, ...], **values: Any) -> Exit:
        from render.frontends.run import execute

        flags = {f"--{name.replace('_', '-')}": v for name, v in values.items() if v is not None}
        return execute(Call(command, paths, flags), os.environ)

    params: list[click.Parameter] = [
        click.Argument(["paths"], nargs=-1, metavar="[PATH...|-]", type=click.Path())
    ]
    params += [_option(option) for option in COMMANDS[command]]
    short = summary.partition("\n")[0].rstrip(".")
    name = command.rpartition(" ")[2]
    group.add_command(
        click.Command(name, callback=callback, params=params, help=summary, short_help=short)
    )


def _option(option: Option) -> click.Option:
    names = [f"--{option.name}"]
    if option.kind == "flag":
        names = [f"--{option.name}/--no-{option.name}"]
    if option.short:
        names.append(f"-{option.short}")
    shown = "" if option.default in ("", False) else f"  [default: {_default(option)}]"
    return click.Option(
        names,
        default=None,
        metavar=option.metavar or "|".join(option.choices) or None,
        help=f"{option.help}{shown}",
    )


def _default(option: Option) -> str:
    return option.name if option.default is True else str(option.default)


_rendering(
    "build",
    """Print resources with every VirtualMachine rendered, or say why not.

    PATH is a folder (built with kustomize if it holds a kustomization), a file, or - for standard input; without one
    the current folder. Findings go to standard error; with an error among them nothing is printed.
    """,
)
_rendering(
    "check",
    """Say what is wrong in PATH, and print no manifests.

    Each kustomization below PATH is checked by itself. Single files are checked together with what they refer to
    elsewhere in the repository.
    """,
)
_rendering(
    "krm",
    """Render as a function of kustomize: a ResourceList on standard input, another one on standard output.

    Also the bare command virt-render-krm. As a legacy exec plugin the program finds out by itself. The function config
    is a RenderConfig; see docs/kustomize.md.
    """,
)
_rendering(
    "argocd generate",
    """Print the manifests of the application in the current folder: what a config-management plugin runs.

    As build does, with the parameters and variables of the Application, a deadline, and a report that fits into the
    error of an Application.
    """,
    argocd_commands.argocd,
)
main.add_command(argocd_commands.with_options(_option))
main.add_command(kustomize_init.kustomize)
main.add_command(catalog_commands.catalog)
for command in pin_cli.commands(_option):
    main.add_command(command)


@main.command()
@click.argument("code", required=False)
@click.option("--list", "listed", is_flag=True, help="list all codes")
def rule(code: str | None, *, listed: bool) -> Exit:
    """Explain a diagnostic: meaning, example, cure."""
    from render.diagnostics.explanations import EXPLANATIONS

    if listed or code is None:
        for entry in codes.CODES.values():
            click.echo(f"{entry.number}  {entry.severity:<7}  {entry.slug}")
        return Exit.OK
    found = next(
        (e for e in codes.CODES.values() if code.lower() in (e.number.lower(), e.slug)), None
    )
    if found is None:
        from render.model.nearest import nearest

        names = [*codes.CODES, *(entry.slug for entry in codes.CODES.values())]
        near = nearest(code, names)
        raise click.UsageError(
            f"no diagnostic {code}"
            + (f"; did you mean {near}?" if near else "; see 'virt-render rule --list'")
        )
    click.echo(_explained(found, *EXPLANATIONS[found.number]), nl=False)
    return Exit.OK


def _explained(code: codes.Code, meaning: str, example: str, message: str, cure: str) -> str:
    import textwrap

    source = example if example.startswith("$") else f"$ virt-render build - <<EOF\n{example}EOF"
    return (
        f"{code.number} {code.slug} ({code.severity}"
        + ("" if code.suppressible else ", cannot be suppressed")
        + f")\n\n{textwrap.fill(meaning, 100)}\n\n{textwrap.indent(source.rstrip(), '    ')}\n\n"
        + f"says: {message}\n\n{textwrap.fill(cure, 100)}\n"
    )


def invoke(argv: Sequence[str]) -> Exit:
    """Run *argv* through click; its usage errors are diagnostics like all others.

    Not through click's own `main`, which makes a closed pipe an exit status of its own, except where a shell asks it
    for completions.
    """
    if _COMPLETION in os.environ:
        main.main(prog_name=_PROGRAM)
    try:
        with main.make_context(_PROGRAM, list(argv)) as context:
            outcome = main.invoke(context)
    except click.exceptions.NoArgsIsHelpError as usage:
        click.echo(usage.format_message(), err=True)
        return Exit.USAGE
    except click.ClickException as error:
        fault = codes.USAGE.at(Location(), _message(error), help=_help(error))
        return _refuse(fault)
    except click.exceptions.Exit as early:
        return Exit(early.exit_code)
    except click.Abort:
        return Exit.INTERRUPTED
    return outcome if isinstance(outcome, Exit) else Exit.OK


def _message(error: click.ClickException) -> str:
    """Click's words as ours: no capital, no full stop."""
    words = error.format_message().rstrip(".").replace(". Did you mean", "; did you mean")
    return words[:1].lower() + words[1:]


def _help(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else _PROGRAM
    return f"'{command} --help' lists the options"


def _refuse(fault: Diagnostic) -> Exit:
    click.echo(text.report(find([fault], Sources())), err=True, nl=False)
    return status([fault])
