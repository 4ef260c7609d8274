"""Count the utterances that the texts of a language model already hold (docs/results/speech.md).

UTTERANCES are files of JSON lines with the reference transcript under `ref`, as those of HyPoradise. A reference of at
least --shortest words counts as known where its --words words in the middle stand in one sentence of a text. Texts are
tokenised, with one sentence per line; they are compared in the form that recognised words have. The columns are those
of single texts, and of all together.

\b
    python -m docs.results.scripts.known_utterances librispeech_test_other.jsonl librispeech_test_clean.jsonl \\
        --text novels.txt.xz --text novels-more.txt.xz
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, experiment, say
from docs.results.scripts.spoken_text import as_spoken
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError
from rerank_plugins.kit.files.text import open_text

Phrase = tuple[str, ...]


def phrases_of(path: Path, shortest: int, words: int) -> list[Phrase]:
    """The words in the middle of each reference that is long enough. Raises RerankError for other files."""
    phrases = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                reference = str(json.loads(line)["ref"])
            except (ValueError, LookupError, TypeError):
                raise RerankError(f"{path}:{number}: no JSON object with a `ref`: {line.strip()!r:.80}") from None
            tokens = "".join(as_spoken([reference])).split()
            first = (len(tokens) - words) // 2
            if len(tokens) >= max(shortest, words):
                phrases.append(tuple(tokens[first : first + words]))
    return phrases


def known_in(lines: Iterable[str], phrases: Iterable[Phrase], words: int) -> set[Phrase]:
    """Those of the phrases that stand in one of the lines."""
    beginnings: dict[str, set[Phrase]] = {}
    for phrase in phrases:
        beginnings.setdefault(phrase[0], set()).add(phrase)
    known: set[Phrase] = set()
    for line in as_spoken(lines):
        tokens = line.split()
        for place in range(len(tokens) - words + 1):
            wanted = beginnings.get(tokens[place])
            if wanted and (phrase := tuple(tokens[place : place + words])) in wanted:
                known.add(phrase)
    return known


@experiment("known_utterances", __doc__)
@click.argument("utterances", type=FILE, nargs=-1, required=True)
@click.option("--text", "texts", type=FILE, multiple=True, required=True, help="A text. Repeatable.")
@click.option("--shortest", type=click.IntRange(1), default=10, help="Leave out references of fewer words.")
@click.option("--words", type=click.IntRange(1), default=8, help="Compare this many words.")
def main(utterances: Sequence[Path], texts: Sequence[Path], shortest: int, words: int) -> None:
    """Read the texts once and print the table."""
    sets = {path.name: phrases_of(path, shortest, words) for path in utterances}
    wanted = {phrase for phrases in sets.values() for phrase in phrases}
    known = {}
    for path in texts:
        say(f"reading {path.name}")
        with open_text(path) as lines:
            known[path.name] = known_in(lines, wanted, words)
    known["all together"] = set().union(*known.values())
    rows = [
        (name, str(len(phrases)), *(str(sum(phrase in some for phrase in phrases)) for some in known.values()))
        for name, phrases in sets.items()
    ]
    print(markdown_table(Table("known utterances", ("utterances", "references", *known), tuple(rows))))


if __name__ == "__main__":
    main()
