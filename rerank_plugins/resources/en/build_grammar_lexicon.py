"""Builds `grammar-lexicon.tsv.xz`, the verbs and nouns of parsed text with their forms and counts.

    python -m rerank_plugins.resources.en.build_grammar_lexicon ewt-train.conllu gum-train.conllu novels.conllu …

The files are CoNLL-U, with UPOS tags and Universal Dependencies. They are read twice: for the forms of words, then for
what verbs and nouns do (english/frame_counts.py). Nouns and names that occur fewer than three times are left
out. The same files give the same table.
"""

from __future__ import annotations

import lzma
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.english.frame_counts import NOUN_COUNTS, VERB_COUNTS, Counts
from rerank_plugins.english.word_forms import noun_numbers, verb_paradigms

RARE = 3


def tagged_words(paths: Sequence[Path]) -> Counter[tuple[str, str]]:
    """The counts of words, in lower case, with their UPOS tags."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            pairs = (columns for line in lines if len(columns := line.split("\t", 4)) == 5)
            counts.update((columns[1].lower(), columns[3]) for columns in pairs)
    return counts


def table(paths: Sequence[Path]) -> str:
    """The content of the file: a row for each verb, then one for each noun or name."""
    tagged = tagged_words(paths)
    verbs = verb_paradigms(tagged)
    bases = {form: verb.base for verb in reversed(verbs) for form in verb}
    counts = Counts(bases.get)
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            counts.add(read_conllu(lines, str(path)))
    animate = counts.finish()
    rows = [("verb", *verb, *(str(counts.verbs[verb.base][key]) for key in VERB_COUNTS)) for verb in verbs]
    nouns = [*noun_numbers(tagged), *((word, "-", "") for word in counts.nouns if word[:1].isupper())]
    for noun, number, other in sorted(nouns):
        numbers = counts.nouns[noun]
        if numbers["bare"] + numbers["determined"] >= RARE:
            kind = "name" if noun[:1].isupper() else "noun"
            living = "-" if noun not in animate else "a" if animate[noun] else "i"
            rows.append((kind, noun, number, other, living, *(str(numbers[key]) for key in NOUN_COUNTS)))
    return "".join("\t".join(row) + "\n" for row in rows)


def main(paths: Sequence[str]) -> None:
    """Count the files and write the table beside this module."""
    text = table([Path(path) for path in paths])
    target = Path(__file__).with_name("grammar-lexicon.tsv.xz")
    temporary = target.with_suffix(".tmp")
    temporary.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    os.replace(temporary, target)
    print(f"{target.name}: {len(text.splitlines())} rows, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
