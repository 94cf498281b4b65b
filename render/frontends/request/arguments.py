"""The command lines that machines write, understood without click, whose import costs more than a small rendering.

Only the forms that are not in doubt: anything else (help, an unknown option, a value that looks like an option) is
left to `render.frontends.cli`, which is made from the same tables and answers the same where both do.
"""

from collections.abc import Sequence

from render.frontends.request.commands import COMMANDS, Call
from render.settings import Option


def parse(argv: Sequence[str]) -> Call | None:
    """The call that *argv* (without the program's name) means, or None where click has to look at it."""
    command = next(
        (row.name for row in COMMANDS.values() if row.by_machine and _begins(argv, row.name)), ""
    )
    if not command:
        return None
    known = _spellings(COMMANDS[command].options)
    paths: list[str] = []
    flags: dict[str, str | bool | tuple[str, ...]] = {}
    words = iter(argv[1 + command.count(" ") :])
    for word in words:
        if word == "--":
            return Call(command, (*paths, *words), flags)
        if word == "-" or not word.startswith("-"):
            paths.append(word)
            continue
        spelling, equals, value = word.partition("=")
        if spelling not in known:
            return None
        option, meaning = known[spelling]
        if option.kind == "flag":
            if equals:
                return None
            flags[f"--{option.name}"] = meaning
            continue
        if not equals:
            value = next(words, "")
        if not value or (value.startswith("-") and value != "-"):
            return None
        previous = flags.get(f"--{option.name}")
        earlier = previous if isinstance(previous, tuple) else ()
        flags[f"--{option.name}"] = (*earlier, value) if option.many else value
    return Call(command, tuple(paths), flags)


def _begins(argv: Sequence[str], command: str) -> bool:
    words = command.split()
    return list(argv[: len(words)]) == words


def _spellings(options: Sequence[Option]) -> dict[str, tuple[Option, bool]]:
    """Every word by which *options* may be called, and what it means for one that is on or off."""
    known = {}
    for option in options:
        known[f"--{option.name}"] = option, True
        if option.kind == "flag":
            known[f"--no-{option.name}"] = option, False
        if option.short:
            known[f"-{option.short}"] = option, True
    return known
