"""Names in a treebank, as Stanza's `ner_tagger` learns them; and how well capitals, or a model, find those of another.

    python -m tests.experiments.treebank_names train.conllu[.xz] -o train.json
    python -m stanza.models.ner_tagger --mode train --shorthand en_own --train_file train.json --eval_file dev.json …
    python -m tests.experiments.treebank_names dev.conllu.xz [--entities stanza,model=ner.pt,vectors=vectors.pt]

A name is a longest run of proper nouns (NNP, NNPS), with a word such as `of` or two between them, that is connected: one
word of it has its head outside. Found names count once a sentence, whole and in lower case.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from rerank_adapters.formats.compressed import open_text
from rerank_adapters.tasks.similarity_data import recogniser_of
from rerank_plugins.models.similarity.entities import named_entities

PROPER = ("NNP", "NNPS")
BETWEEN = 2  # words
LINKS = {"of", "the", "&", "de", "la", "van", "von", "'s", "-"}
Row = tuple[str, str, int]  # word, part of speech, head (from 0)


def sentences(path: Path) -> Iterator[list[Row]]:
    rows: list[Row] = []
    with open_text(path) as lines:
        for line in (each.rstrip("\n") for each in lines):
            if line and not line.startswith("#"):
                fields = line.split("\t")
                rows.append((fields[1], fields[4], int(fields[6]) - 1))
            elif not line and rows:
                yield rows
                rows = []


def names(rows: list[Row]) -> list[range]:
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


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("treebank", type=Path)
    given.add_argument("-o", "--output", type=Path)
    given.add_argument("--entities", default="capitals")
    options = given.parse_args()
    trees = list(sentences(options.treebank))
    if options.output:
        tagged = []
        for rows in trees:
            labels = ["O"] * len(rows)
            for name in names(rows):
                labels[name.start : name.stop] = ["B-NAME"] + ["I-NAME"] * (len(name) - 1)
            tagged.append([{"text": row[0], "ner": label} for row, label in zip(rows, labels, strict=True)])
        options.output.write_text(json.dumps(tagged), encoding="utf-8")
        print(f"{len(tagged)} sentences, {sum(len(names(rows)) for rows in trees)} names", file=sys.stderr)
        return
    words = [[row[0] for row in rows] for rows in trees]
    wanted = [
        {" ".join(row[i] for i in name).lower() for name in names(rows)} for rows, row in zip(trees, words, strict=True)
    ]
    recogniser = recogniser_of(options.entities)
    found = list(map(set, recogniser.entities(words) if recogniser else map(named_entities, words)))
    both = sum(len(a & b) for a, b in zip(found, wanted, strict=True))
    there, real = sum(map(len, found)), sum(map(len, wanted))
    print(f"precision {both / there:.3f}, recall {both / real:.3f}, F1 {2 * both / (there + real):.3f}")


if __name__ == "__main__":
    main()
