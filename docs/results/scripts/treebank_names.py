"""Write the names in a treebank as training data of Stanza's `ner_tagger`, or print how well a recogniser finds them.

A name is a longest run of proper nouns (NNP, NNPS), with up to two words such as `of` between them, that is connected,
which means that exactly one of its words has its head outside. A name that a recogniser finds is compared as a whole,
in lower case, and counts once per sentence.

TREEBANK is a file in CoNLL-U. With -o the names are written as JSON. Without it, precision, recall and F1 of the
recogniser of --entities are printed; the default is that by capital letters.

\b
    python -m docs.results.scripts.treebank_names train.conllu.xz -o train.json
    python -m stanza.models.ner_tagger --mode train --shorthand en_own --train_file train.json --eval_file dev.json …
    python -m docs.results.scripts.treebank_names dev.conllu.xz --entities stanza,model=ner.pt,vectors=vectors.pt
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, experiment, say
from rerank_adapters.applications.similarity.measure_data import recogniser_of
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import open_atomic, open_text
from rerank_plugins.similarity.measures.sentence_parts import named_entities

PROPER = ("NNP", "NNPS")
BETWEEN = 2  # words
LINKS = {"of", "the", "&", "de", "la", "van", "von", "'s", "-"}
Row = tuple[str, str, int]  # word, part of speech, head (from 0)


def sentences(path: Path) -> Iterator[list[Row]]:
    """Yield the words, fine tags and heads of each sentence. Raises FormatError for a line that is not CoNLL-U."""
    rows: list[Row] = []
    with open_text(path) as lines:
        for number, line in enumerate((text.rstrip("\n") for text in lines), 1):
            if line and not line.startswith("#"):
                fields = line.split("\t")
                if len(fields) != 10 or not fields[6].isdigit():
                    raise FormatError(
                        "expected ten fields of CoNLL-U, with a head in the seventh", path=str(path), line=number
                    )
                rows.append((fields[1], fields[4], int(fields[6]) - 1))
            elif not line and rows:
                yield rows
                rows = []
    if rows:
        yield rows


def names(rows: list[Row]) -> list[range]:
    """The ranges of the names in a sentence."""
    ranges, start = [], 0
    while start < len(rows):
        end = start + 1
        if rows[start][1] in PROPER:
            while (longer := _longer(rows, start, end)) > end:
                end = longer
            ranges.append(range(start, end))
        start = end
    return ranges


def _longer(rows: list[Row], start: int, end: int) -> int:
    """The end of the run with one more proper noun, or `end` where no connected one follows."""
    at = end
    while at < len(rows) and at - end < BETWEEN and rows[at][1] not in PROPER and rows[at][0].lower() in LINKS:
        at += 1
    if at == len(rows) or rows[at][1] not in PROPER:
        return end
    outside = sum(not start <= head <= at for _, _, head in rows[start : at + 1])
    return at + 1 if outside == 1 else end


def tagged(rows: list[Row]) -> list[dict[str, str]]:
    """A sentence in the form of Stanza's training data."""
    labels = ["O"] * len(rows)
    for name in names(rows):
        labels[name.start : name.stop] = ["B-NAME"] + ["I-NAME"] * (len(name) - 1)
    return [{"text": row[0], "ner": label} for row, label in zip(rows, labels, strict=True)]


@experiment("treebank_names", __doc__)
@click.argument("treebank", type=FILE)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the names to this file, as JSON.")
@click.option("--entities", default="capitals", help="The recogniser of names, as for `rerank similarity`.")
def main(treebank: Path, output: Path | None, entities: str) -> None:
    """Write the names, or print how well the recogniser finds them."""
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
    recognised = list(map(set, recogniser.entities(words) if recogniser else map(named_entities, words)))
    correct = sum(len(a & b) for a, b in zip(recognised, wanted, strict=True))
    predicted, actual = sum(map(len, recognised)), sum(map(len, wanted))
    f1 = 2 * correct / max(1, predicted + actual)
    print(f"precision {correct / max(1, predicted):.3f}, recall {correct / max(1, actual):.3f}, F1 {f1:.3f}")


if __name__ == "__main__":
    main()
