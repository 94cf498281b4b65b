"""The commands for people as click reads them: those around pins, and ``migrate``."""

import os
from collections.abc import Callable
from typing import Any

import click

from render.frontends.exits import Exit
from render.frontends.options import BY_HAND, Call, Request, request
from render.frontends.progress import Work
from render.settings import Option

_PATH = click.Argument(["path"], required=False, metavar="[PATH]", type=click.Path())
_PATHS = click.Argument(["paths"], nargs=-1, metavar="[PATH...|-]", type=click.Path())
_VM = click.Argument(["vm"], metavar="VM")


def commands(option: Callable[[Option], click.Option]) -> list[click.Command]:
    """The commands; *option* makes a click option of a row of the table."""

    def command(
        name: str, callback: Callable[..., Exit], *params: click.Parameter
    ) -> click.Command:
        rows = [option(row) for row in BY_HAND[name]]
        return click.Command(
            name, callback=callback, params=[*params, *rows], help=callback.__doc__
        )

    return [
        command(
            "pin",
            pin,
            _PATHS,
            click.Option(
                ["--upgrade"], multiple=True, metavar="VM",
                help="let this VM have what its instancetype and preference hold now; may be repeated",
            ),
            click.Option(["--upgrade-all"], is_flag=True, help="the same for every VM"),
            click.Option(["--check"], is_flag=True, help="write nothing; fail if the lock would change"),
            click.Option(
                ["--resolve"], is_flag=True, help="merge the two sides of a conflict in git by VM"
            ),
            click.Option(
                ["--from", "dump"], default="", metavar="FILE", type=click.Path(),
                help="pin VMs to what they run in a cluster: its VMs and ControllerRevisions, as kubectl prints them",
            ),
        ),
        command(
            "verify",
            verify,
            _PATHS,
            click.Option(
                ["--allow-matchers"], is_flag=True, help="VMs that keep their matchers are meant to"
            ),
        ),
        command(
            "migrate",
            migrate,
            click.Argument(["paths"], nargs=-1, metavar="[PATH...]", type=click.Path()),
            click.Option(["--diff"], is_flag=True, help="show what would change, and write nothing"),
            click.Option(
                ["--check"], is_flag=True, help="write nothing; fail if there is something to do"
            ),
        ),
        command("history", history, _VM, _PATH),
        command(
            "show",
            show,
            _VM,
            _PATH,
            click.Option(
                ["--revision"], type=click.IntRange(min=1), metavar="N", help="as it was at this edit revision"
            ),
            click.Option(["--at"], metavar="GIT-REV", help="as it was at this commit"),
        ),
    ]  # fmt: skip


def _request(name: str, paths: tuple[str, ...], values: dict[str, Any]) -> Request:
    flags = {f"--{key.replace('_', '-')}": v for key, v in values.items() if v is not None}
    return request(Call(name, paths, flags), os.environ)


def _done(
    name: str,
    paths: tuple[str, ...],
    values: dict[str, Any],
    command: Callable[[Request, Work], Exit],
) -> Exit:
    """What *command* makes of the settings; nothing, if something is wrong with those."""
    from render.frontends.exits import status
    from render.frontends.reporting import tell
    from render.frontends.run import timed
    from render.report.findings import find, merge

    with Work() as work:
        asked = _request(name, paths, values)
        if not asked.diagnostics:
            return timed(command(asked, work), asked, work)
        tell(merge(find(asked.diagnostics, asked.sources)), asked)
        return status(asked.diagnostics)


def pin(paths: tuple[str, ...], **values: Any) -> Exit:
    """Write the revision lock of PATH: each VM keeps what its instancetype and preference hold now.

    VMs that are pinned stay as they are, whatever becomes of the objects, until they are upgraded. A table of what
    moved goes to standard output.
    """
    from render.frontends import pin_commands

    wanted = pin_commands.Wanted(
        **{name: values.pop(name) for name in pin_commands.Wanted.__annotations__}
    )
    if wanted.check and wanted.resolve:
        raise click.UsageError("--check and --resolve exclude each other")
    if wanted.upgrade and wanted.upgrade_all:
        raise click.UsageError("--upgrade and --upgrade-all exclude each other")
    return _done("pin", paths, values, lambda asked, work: pin_commands.pin(asked, wanted, work))


def verify(paths: tuple[str, ...], *, allow_matchers: bool, **values: Any) -> Exit:
    """Fail on a VM in rendered manifests that was not rendered, or edited since.

    It has a matcher, or its spec does not fit the hash that it was stamped with.
    """
    from render.frontends import verify_command

    def command(asked: Request, work: Work) -> Exit:
        return verify_command.verify(asked, work, allow_matchers=allow_matchers)

    return _done("verify", paths, values, command)


def migrate(paths: tuple[str, ...], *, diff: bool, check: bool, **values: Any) -> Exit:
    """Rewrite the files below PATH: older API versions and deprecated fields give way to their successors.

    Comments and order are kept. What each VM becomes is compared before and after, and no change is made by which one
    would differ.
    """
    from render.frontends.migrate import migrate as rewrite

    def command(asked: Request, work: Work) -> Exit:
        return rewrite(asked, work, diff=diff, check=check)

    return _done("migrate", paths, values, command)


def history(vm: str, path: str | None, **values: Any) -> Exit:
    """List the edit revisions of VM: number, commit, date, what changed, and whether it applies live or at restart.

    They are read from the lock of PATH as git has it; the work tree is not touched.
    """
    from render.frontends import history_commands

    with Work() as work:
        work.begin("read", f"reading the history of {vm}")
        return history_commands.history(
            vm, path or ".", lambda paths: _request("history", paths, values)
        )


def show(vm: str, path: str | None, revision: int | None, at: str | None, **values: Any) -> Exit:
    """Print VM as it is rendered now, or as it was at an edit revision or a commit."""
    from render.frontends import history_commands

    if revision is not None and at is not None:
        raise click.UsageError("--revision and --at exclude each other")
    if at == "":
        raise click.UsageError("--at needs a commit, and was given nothing")

    def ask(paths: tuple[str, ...]) -> Request:
        return _request("show", paths, values)

    with Work() as work:
        work.begin("render", f"rendering {vm}")
        return history_commands.show(vm, path or ".", ask, revision=revision, at=at)
