"""Write the names in a treebank as Stanza's `ner_tagger` learns them, or say how well a recogniser finds them.

A name is a longest run of proper nouns (NNP, NNPS), with a word such as `of` or two between them, that is connected: one
word of it has its head outside. Names that a recogniser gives count once a sentence, whole and in lower case.

TREEBANK is a file in CoNLL-U. With -o the names are written as JSON; without, precision, recall and F1 of the rules by
capitals, or of the recogniser of --entities, are printed.

\b
    python -m tests.experiments.treebank_names train.conllu.xz -o train.json
    python -m stanza.models.ner_tagger --mode train --shorthand en_own --train_file train.json --eval_file dev.json …
    python -m tests.experiments.treebank_names dev.conllu.xz --entities stanza,model=ner.pt,vectors=vectors.pt
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from rerank_adapters.applications.similarity.measures_data import recogniser_of
from rerank_adapters.formats.compressed import open_atomic, open_text
from rerank_plugins.errors import FormatError
from rerank_plugins.models.similarity.capitals import named_entities
from tests.experiments.experiment import FILE, experiment, say

PROPER = ("NNP", "NNPS")
BETWEEN = 2  # words
LINKS = {"of", "the", "&", "de", "la", "van", "von", "'s", "-"}
Row = tuple[str, str, int]  # word, part of speech, head (from 0)


def sentences(path: Path) -> Iterator[list[Row]]:
    """Words, fine tags and heads. Raises FormatError for a line that is none of CoNLL-U."""
    rows: list[Row] = []
    with open_text(path) as lines:
        for number, line in enumerate((each.rstrip("\n") for each in lines), 1):
            if line and not line.startswith("#"):
                fields = line.split("\t")
                if len(fields) != 10 or not fields[6].isdigit():
                    raise FormatError("expected ten fields of CoNLL-U, the seventh a head", path=str(path), line=number)
                rows.append((fields[1], fields[4], int(fields[6]) - 1))
            elif not line and rows:
                yield rows
                rows = []
    if rows:
        yield rows


def names(rows: list[Row]) -> list[range]:
    """The places of the names of a sentence."""
    found, start = [], 0
    while start < len(rows):
        end = start + 1
        if rows[start][1] in PROPER:
            while (longer := _longer(rows, start, end)) > end:
                end = longer
            found.append(range(start, end))
        start = end
    return found


def _longer(rows: list[Row], start: int, end: int) -> int:
    """The end of the run with one more proper noun, or the same where there is none that is connected."""
    at = end
    while at < len(rows) and at - end < BETWEEN and rows[at][1] not in PROPER and rows[at][0].lower() in LINKS:
        at += 1
    if at == len(rows) or rows[at][1] not in PROPER:
        return end
    outside = sum(not start <= head <= at for _, _, head in rows[start : at + 1])
    return at + 1 if outside == 1 else end


def tagged(rows: list[Row]) -> list[dict[str, str]]:
    """A sentence as Stanza's training takes it."""
    labels = ["O"] * len(rows)
    for name in names(rows):
        labels[name.start : name.stop] = ["B-NAME"] + ["I-NAME"] * (len(name) - 1)
    return [{"text": row[0], "ner": label} for row, label in zip(rows, labels, strict=True)]


@experiment("treebank_names", __doc__)
@click.argument("treebank", type=FILE)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where the names are written, as JSON.")
@click.option("--entities", default="capitals", help="What finds names, as for `rerank similarity`.")
def main(treebank: Path, output: Path | None, entities: str) -> None:
    """Write the names, or print how well they are found."""
    trees = list(sentences(treebank))
    if output:
        with open_atomic(output) as stream:
            json.dump(list(map(tagged, trees)), stream)
        say(f"{len(trees)} sentences, {sum(len(names(rows)) for rows in trees)} names")
        return
    words = [[row[0] for row in rows] for rows in trees]
    wanted = [
        {" ".join(row[0] for row in rows[name.start : name.stop]).lower() for name in names(rows)} for rows in trees
    ]
    recogniser = recogniser_of(entities)
    found = list(map(set, recogniser.entities(words) if recogniser else map(named_entities, words)))
    both = sum(len(a & b) for a, b in zip(found, wanted, strict=True))
    there, real = sum(map(len, found)), sum(map(len, wanted))
    f1 = 2 * both / max(1, there + real)
    print(f"precision {both / max(1, there):.3f}, recall {both / max(1, real):.3f}, F1 {f1:.3f}")


if __name__ == "__main__":
    main()
