"""Names that commands and options had in earlier versions: they are understood, with a note, and help hides them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import click

COMMANDS = {  # former name -> present one
    "merge": "lists merge",
    "mbr": "lists mbr",
    "score": "lm score",
    "surprisal": "lm surprisal",
    "mix": "lm mix",
    "sample": "lm sample",
    "ground": "lm ground",
    "svs": "lm",
    "parse": "trees parse",
    "surface-trees": "trees surface",
    "align": "words align",
    "substitutes": "words substitutes",
    "complete": "words complete",
    "remove-word": "words remove",
    "locate": "words locate",
    "fill": "words fill",
    "restore": "words restore",
    "text": "tools text",
    "weights": "tools weights",
    "cache": "tools cache",
    "new-plugin": "tools new-plugin",
}

OPTIONS = {  # former option -> present one, of all commands that have the present one and not the former one
    "-m": "-M",
    "--lm": "-M",
    "-a": "--alignment",
    "--layout": "--as",
    "--output-form": "--as",
    "--to": "--as",
    "-k": "--top",
    "--longest": "--max-length",
    "--each": "--max-pairs",
    "--candidates": "--max-candidates",
    "--gaps": "--max-gaps",
    "--changes": "--max-changes",
    "--queue": "--max-queue",
}
OF_COMMANDS = {  # the same for single commands; a former option with its value comes before one without
    "acceptability classify": {"-c": "--classifier"},
    "explain": {"--features": "--top"},
    "lm ground": {"-w": "--world", "--tree": "--as trees"},
    "lm sample": {"--trees": "--as trees"},
    "lm score": {"--layout table": "--as tsv"},
    "plugins": {"--markdown": "--as markdown"},
    "trees parse": {"--trees": "--as"},
    "words substitutes": {"--least": "--min-share"},
}


class Renamed(click.Option):
    """An option whose former name belongs to the plugin that has the option; "" where there is none."""

    def __init__(self, *args: Any, former: str, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.former = f"--{former.replace('_', '-')}" if former else ""


def present_command(args: list[str], known: Collection[str], note: Callable[[str], None]) -> list[str]:
    """The arguments of `rerank`, with the present name of the command in place of a former one.

    A name in `known` is no former one: a plugin may have a command of that name.
    """
    if not args or args[0] in known or args[0] not in COMMANDS:
        return args
    name, *rest = args
    note(f"`rerank {name}` is now `rerank {COMMANDS[name]}`")
    return [*COMMANDS[name].split(), *rest]


def present_options(path: str, command: click.Command, args: Sequence[str], note: Callable[[str], None]) -> list[str]:
    """The arguments of the command at `path`, such as `lm score`, with present options in place of former ones."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
    valued = {name for option in options if not (option.is_flag or option.count) for name in option.opts}
    renamed = {old: new for old, new in OPTIONS.items() if old not in known and new in known}
    renamed |= {option.former: option.opts[-1] for option in options if isinstance(option, Renamed) and option.former}
    renamed |= OF_COMMANDS.get(path, {})
    result: list[str] = []
    left = list(args)
    while left:
        token = left.pop(0)
        if token == "--":
            return [*result, token, *left]
        if not token.startswith("-") or token == "-":
            result.append(token)
            continue
        name, _, value = token.partition("=") if token.startswith("--") else (token[:2], "", token[2:])
        following = value or (left[0] if left else "")
        if present := renamed.get(f"{name} {following}"):
            note(f"`rerank {path} {name} {following}` is now `{present}`")
            del left[: not value]
            result += present.split()
            continue
        present = renamed.get(name, name)
        if present != name:
            note(f"`{name}` of `rerank {path}` is now `{present}`")
        if value:
            result.append(f"{present}{'=' if present.startswith('--') else ''}{value}")
        else:
            result += [*present.split(), *left[: present in valued]]
            del left[: present in valued]
    return result
