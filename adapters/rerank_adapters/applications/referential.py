"""`rerank lm ground`: the referents of the words of a sentence in a world, as a table, as JSON and as trees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import click

from rerank_adapters.cli.options import FILE, SummaryLine, output_option
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.kit.files.text import open_atomic, open_text
from rerank_plugins.referential.language_model import ReferentialLanguageModel
from rerank_plugins.referential.model import Grounding, Level, ReferentialModel, ground

COLUMNS = ("sentence", "position", "word", "surprisal", "referent", "levels")
MEMBERS_SHOWN = 5  # members of a referent that are shown


class GroundedLine(NamedTuple):
    """A sentence: the number of its line (from 1), ln p of its words and of its end, and its best hypothesis."""

    line: int
    ln_p: tuple[float, ...]
    grounding: Grounding


def ground_lines(model: ReferentialModel, lines: Iterable[str]) -> Iterator[GroundedLine]:
    """The best hypothesis of each line that has words."""
    for number, line in enumerate(lines, 1):
        state, ln_p = model.start(), []
        for word in line.split():
            value, state = model.advance(state, word)
            ln_p.append(value)
        if ln_p:
            yield GroundedLine(number, (*ln_p, model.finish(state)), ground(model, state))


def as_table(model: ReferentialModel, grounded: Iterable[GroundedLine]) -> Iterator[str]:
    """A tab-separated line for each word, header first, and one for `</s>` with the final referent.

    Cells are empty for a word that no hypothesis could read. The referent is that of the deepest level.
    """
    grounded = iter(grounded)
    first = list(islice(grounded, 1))  # before the header is written: if the model cannot be read, nothing is
    yield "\t".join(COLUMNS) + "\n"
    for line, ln_p, (words, _, referent, _) in chain(first, grounded):
        for position, ((word, levels), value) in enumerate(zip(words, ln_p, strict=False), 1):
            deepest = model.world.describe(levels[-1].referent, MEMBERS_SHOWN) if levels else ""
            stack = " > ".join(
                f"{level.category} {model.world.describe(level.referent, MEMBERS_SHOWN)}" for level in levels or ()
            )
            yield "\t".join((str(line), str(position), word, _bits(value), deepest, stack)) + "\n"
        final = model.world.describe(referent, MEMBERS_SHOWN)
        yield "\t".join((str(line), str(len(ln_p)), "</s>", _bits(ln_p[-1]), final, "")) + "\n"


def as_json(model: ReferentialModel, grounded: Iterable[GroundedLine]) -> Iterator[str]:
    """A JSON object for each sentence, on a line: its words with their levels, the final referent, and the tree."""

    def described(referent: int) -> dict[str, Any]:
        members = model.world.members(referent)
        return {"size": len(members), "members": members[:MEMBERS_SHOWN]}

    def level(of: Level) -> dict[str, Any]:
        return {**of._asdict(), "referent": described(of.referent)}

    for line, ln_p, (words, complete, referent, tree) in grounded:
        record = {
            "sentence": line,
            "words": [
                {"word": word, "ln_p": value, "levels": None if levels is None else [level(of) for of in levels]}
                for (word, levels), value in zip(words, ln_p, strict=False)
            ],
            "ln_p": sum(ln_p),
            "complete": complete,
            "referent": described(referent),
            "tree": tree,
        }
        yield json_line(record) + "\n"


def as_trees(model: ReferentialModel, grounded: Iterable[GroundedLine]) -> Iterator[str]:
    """A line for each sentence: its tree, a tab, and its final referent."""
    for _, _, (_, _, referent, tree) in grounded:
        yield f"{tree}\t{model.world.describe(referent, MEMBERS_SHOWN)}\n"


def _bits(ln_p: float) -> str:
    return f"{0.0 - ln_p / math.log(2):.6g}"


@click.command("ground")
@click.argument("text", default="-", type=click.Path())
@click.option("--world", type=FILE, required=True, metavar="FILE",
              help="World model: TOML, or a table of a taxonomy (CSV).")  # fmt: skip
@click.option("-g", "--grammar", type=FILE, required=True, metavar="FILE",
              help="Grammar whose expressions name relations of the world.")  # fmt: skip
@click.option("--context", metavar="NAME", help="Individual, concept or property that the sentences are about.")
@click.option("--depth", type=click.IntRange(1), default=6, show_default=True, help="Levels of a hypothesis.")
@click.option("--as", "form", type=click.Choice(["tsv", "json", "trees"]), default="tsv", show_default=True,
              help="Print a line for each word, or a JSON object for each sentence.")  # fmt: skip
@output_option("Where to write the referents.")
def command(
    text: str, world: Path, grammar: Path, context: str | None, depth: int, form: str, output: Path,
) -> None:  # fmt: skip
    """Show the referents of the words of a TEXT.

    Show, word by word, the referents of the sentences of a TEXT (tokenised, one sentence per line) in a world.

    The referents are those of the best hypothesis of the referential semantic language model: the set of individuals of
    the deepest constituent after each word, those of the constituents around it (`levels`), and in the last row,
    `</s>`, the referent of the sentence. `⊤` is the set of all individuals, `∅` the empty set, `{sports …}` a concept
    of a taxonomy with all below it. A word that cannot be read has no referent and changes none.

    \b
    rerank lm ground questions.txt --world files.toml -g files.grammar
    rerank lm ground said.txt --world acts.csv -g directives.grammar --as trees
    rerank lm ground said.txt --world people.toml -g talk.grammar --context ann
    """  # noqa: D301
    summary_line = SummaryLine()
    model = ReferentialLanguageModel(world=world, grammar=grammar, context=context, depth=depth).model
    write = {"tsv": as_table, "json": as_json, "trees": as_trees}[form]
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("sentences grounded") as bar:
        out.writelines(write(model, bar.over(ground_lines(model, lines))))
    summary_line.wrote(f"the referents of {counted(bar.done, 'sentence')}", output)
