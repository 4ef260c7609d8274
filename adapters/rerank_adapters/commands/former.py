"""Names that commands and options had in earlier versions: they are understood, with a note, and help hides them."""

from __future__ import annotations

from collections.abc import Callable, Collection

COMMANDS = {  # former name -> present one
    "merge": "lists merge",
    "mbr": "lists mbr",
    "consensus": "lists consensus",
    "rover": "lists rover",
    "sweep": "lists sweep",
    "score": "lm score",
    "surprisal": "lm surprisal",
    "mix": "lm mix",
    "sample": "lm sample",
    "ground": "lm ground",
    "svs": "lm",
    "parse": "trees parse",
    "project-trees": "trees project",
    "surface-trees": "trees surface",
    "align": "words align",
    "substitutes": "words substitutes",
    "complete": "words complete",
    "remove-word": "words remove",
    "locate": "words locate",
    "fill": "words fill",
    "restore": "words restore",
    "edit-distance": "words edit-distance",
    "text": "tools text",
    "weights": "tools weights",
    "cache": "tools cache",
    "new-plugin": "tools new-plugin",
}


def present_command(args: list[str], known: Collection[str], note: Callable[[str], None]) -> list[str]:
    """The arguments of `rerank`, with the present name of the command in place of a former one.

    A name in `known` is no former one: a plugin may have a command of that name.
    """
    if not args or args[0] in known or args[0] not in COMMANDS:
        return args
    name, *rest = args
    note(f"`rerank {name}` is now `rerank {COMMANDS[name]}`")
    return [*COMMANDS[name].split(), *rest]
