"""The command line through click: help, usage errors, completion, and the forms that no machine writes.

Everything comes from the table of `render.frontends.request.commands`. Values are judged there and not by click, so
that a wrong one reads the same from a flag, a variable or a file.
"""

import os
from collections.abc import Callable, Sequence
from inspect import cleandoc

import click

import render
from render.diagnostics import codes
from render.diagnostics.codes import status
from render.diagnostics.diagnostic import Diagnostic, Location
from render.diagnostics.exits import Exit
from render.frontends.execute import execute
from render.frontends.request.commands import (
    COMMANDS,
    DASHES,
    GROUPS,
    SECTIONS,
    Argument,
    Call,
    Command,
)
from render.model.hints import TYPE_CHECKING, Any
from render.model.nearest import nearest
from render.report import text
from render.report.findings import find, groups
from render.report.places import Sources
from render.settings import Option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_PROGRAM = "virt-render"
_COMPLETION = "_VIRT_RENDER_COMPLETE"
_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_PATHS = ("path", "paths")
_COMPLETED = ("vm", "code", "name", "upgrade")
_HELP_ALL = "help_all"
_SECTIONS = {option.field: title for title, options in SECTIONS for option in options}


@click.group(
    context_settings=_CONTEXT,
    epilog=f"Exit status: {', '.join(f'{status} {status.brief}' for status in Exit if status.brief)}."
    " Settings may also stand in .virt-render.yaml and in VIRT_RENDER_ variables.",
)
@click.version_option(render.__version__, prog_name=_PROGRAM, message="%(prog)s %(version)s")
def main() -> None:
    """Render KubeVirt virtual machines from the YAML in a repository, as KubeVirt would run them."""


class _SectionedCommand(click.Command):
    """The command of a *row*: of many options its help lists the usual ones; ``--help-all``: all."""

    def __init__(self, *, row: Command, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._row = row

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse *args*. Click drops the ``--`` that ends the options: it is doubled for a command that is to see it."""
        end = args.index(DASHES) if self._row.dashed and DASHES in args else len(args)
        return super().parse_args(ctx, [*args[:end], *args[end : end + 1], *args[end:]])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usual options, or all in sections, those of the command's own first."""
        usual = {option.field for option in self._row.usual} | {
            "_click_default_help",
            "help",
            _HELP_ALL,
        }
        shows_all = bool(ctx.params.get(_HELP_ALL))
        candidates = [
            (parameter.name, parameter.get_help_record(ctx))
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (shows_all or parameter.name in usual)
        ]
        records = [(name, record) for name, record in candidates if record]
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for name, record in records:
            section = _SECTIONS.get(name or "", "Options") if shows_all else "Options"
            sections.setdefault(section, []).append(record)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _command(row: Command) -> click.Command:
    """What click knows of a *row* of the table."""

    def callback(**values: Any) -> Exit:
        present = {name: value for name, value in values.items() if value not in (None, ())}
        names = {argument.name for argument in row.arguments}
        paths = next((values[name] for name in _PATHS if name in names), ())
        call = Call(
            row.name,
            (paths,) if isinstance(paths, str) else tuple(paths),
            {f"--{name.replace('_', '-')}": v for name, v in present.items() if name not in names},
            tuple((name, values[name]) for name in names.difference(_PATHS)),
        )
        return execute(call, os.environ)

    summary = cleandoc(row.summary)
    return _SectionedCommand(
        row=row,
        name=row.name.rpartition(" ")[2],
        callback=callback,
        params=[
            *map(_argument, row.arguments),
            *(_option(option, row.default(option)) for option in row.options),
            *_help_all(row),
        ],
        help=summary,
        short_help=summary.partition("\n")[0].rstrip("."),
    )


def _argument(argument: Argument) -> click.Argument:
    many: dict[str, Any] = {"nargs": -1} if argument.many else {"default": argument.default}
    if argument.required:
        many = {}
    # Whether it can be read is said by who reads it, in the same words for every command.
    shape = click.Path(readable=False) if argument.name in _PATHS else None
    return click.Argument(
        [argument.name],
        metavar=argument.metavar,
        type=shape,
        required=argument.required,
        shell_complete=_completing_machine_first()
        if argument.metavar.startswith("[VM]")
        else _completing(argument.name),
        **many,
    )


def _completing(name: str) -> Callable[..., list[str]] | None:
    """What completes the word *name* of a command, None where click does so by itself."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        from render.frontends import completion

        return completion.words(name, context.params, incomplete)

    return complete if name in _COMPLETED else None


def _completing_machine_first() -> Callable[..., list["CompletionItem"]]:
    """What completes words of which the first is a VM, and the others are paths."""

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        from render.frontends import completion

        if context.params.get(parameter.name or ""):
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(word) for word in completion.words("vm", {}, incomplete)]

    return complete


def _help_all(row: Command) -> list[click.Option]:
    """The option that shows the help of *row* with all options, if it does not anyway."""
    if len(row.usual) == len(row.options):
        return []

    def show(context: click.Context, option: click.Parameter, value: Any) -> None:
        if value and not context.resilient_parsing:
            context.params[str(option.name)] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return [
        click.Option(
            ["--help-all", _HELP_ALL], is_flag=True, is_eager=True, expose_value=False, callback=show,
            help=f"Show all {len(row.options)} options and exit.",
        )
    ]  # fmt: skip


def _option(option: Option, default: object) -> click.Option:
    names = [f"--{option.name}", option.field]
    if option.kind == "flag":
        names = [f"--{option.name}/--no-{option.name}", option.field]
    if option.short:
        names.append(f"-{option.short}")
    default_text = (
        ""
        if default in ("", False, 0)
        else f"  [default: {option.name if default is True else default}]"
    )
    return click.Option(
        names,
        default=None,
        metavar=option.metavar or "|".join(option.choices) or None,
        multiple=option.many,
        shell_complete=_completing(option.field),
        help=f"{option.help}{default_text}",
    )


def _add_commands() -> None:
    groups = {
        row.name: click.Group(row.name, help=row.summary, short_help=row.summary.rstrip("."))
        for row in GROUPS
    }
    for group in groups.values():
        main.add_command(group)
    for row in COMMANDS.values():
        first, _, second = row.name.partition(" ")
        (groups[first] if second else main).add_command(_command(row))


_add_commands()


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


#: How kubectl and helm are told what to read.
_OF_KUBECTL = frozenset(
    {"-f", "--file", "--filename", "-k", "--kustomize-dir", "-R", "--recursive", "--path"}
)


def _message(error: click.ClickException) -> str:
    """Click's words as ours: no capital, no full stop, and what may be meant is for the help."""
    is_unknown = bool(getattr(error, "possibilities", None))
    words = (error.message if is_unknown else error.format_message()).rstrip(".")
    return words[:1].lower() + words[1:]


def _help(error: click.ClickException) -> str:
    """The name that was probably meant by an unknown one; else what lists those that there are."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else _PROGRAM
    listed = "commands" if command == _PROGRAM else "options"
    otherwise = f"'{command} --help' lists the {listed}"
    word = getattr(error, "option_name", None) or getattr(error, "command_name", None) or ""
    if word in _OF_KUBECTL and context and context.command_path != _PROGRAM:
        return f"files and folders stand without an option: {_usage(context)}"
    if isinstance(error, click.MissingParameter) and context:
        return f"{_usage(context)}; {otherwise}"
    # Without their dashes, which all have alike: --no-such is not near --no-quiet.
    names = {name.lstrip("-"): name for name in getattr(error, "possibilities", None) or ()}
    near = names.get(nearest(word.lstrip("-"), names), "")
    if command == _PROGRAM and getattr(error, "command_name", None):
        near = _CALLED_OTHERWISE.get(word.lower()) or near
        if os.path.exists(word) and not near:
            near = f"check {word}"
    return f"did you mean {near}? {otherwise}" if near else otherwise


#: What others call what a command does, or a user may.
_CALLED_OTHERWISE = {
    "render": "build", "template": "build", "expand": "build", "generate": "build", "apply": "build",
    "validate": "check", "lint": "check", "scan": "check",
    "fix": "check --fix", "format": "check --fix",
    "list": "report", "ls": "report", "inventory": "report", "status": "report",
    "plan": "diff", "compare": "diff", "review": "diff",
    "log": "history", "get": "show", "cat": "show", "print": "show", "describe": "explain", "why": "explain",
    "lock": "pin", "upgrade": "pin --upgrade", "help": "--help", "version": "--version",
}  # fmt: skip


def _usage(context: click.Context) -> str:
    """The words of a command, without options."""
    _, *words = context.command.collect_usage_pieces(context)
    return " ".join([context.command_path, *words])


def _refuse(fault: Diagnostic) -> Exit:
    click.echo(text.report(groups(find([fault], Sources()))), err=True, nl=False)
    return status([fault])
