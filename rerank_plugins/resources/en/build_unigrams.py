"""Builds `unigrams.tsv.xz`, the word frequencies of tokenised English text.

    python -m rerank_plugins.resources.en.build_unigrams novels.txt.xz presidential.txt.xz textbooks.txt.xz

The texts have one sentence per line, with tokens separated by spaces. Brackets are counted in their normal form
(core/brackets_and_quotes.py). Words that occur once are left out (see kit/vocabulary/unigrams.py). The count of `</s>`
is the number of sentences; neither it nor another mark of the model may be a word of the text. The same texts give the
same file.
"""

from __future__ import annotations

import lzma
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.vocabulary.unigrams import MARKS


def count_words(paths: Sequence[Path]) -> Counter[str]:
    """The counts of each word and of `</s>` in the files (plain or .xz).

    Raises FormatError naming the line that has a mark of the model (`<s>`, `</s>`, `<unk>`) for a word.
    """
    counts: Counter[str] = Counter()
    for path in paths:
        opener = lzma.open if path.suffix == ".xz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if words := normal_text(line).split():
                    if not MARKS.isdisjoint(words):
                        (mark, *_) = MARKS.intersection(words)
                        raise FormatError(f"{mark} may not be a word of the text", path=str(path), line=number)
                    counts.update(words)
                    counts["</s>"] += 1
    return counts


def table(counts: Counter[str]) -> str:
    """The content of the file: a header, then `word<tab>count` for words that occur twice or more, by falling count."""
    kept = sorted(((word, n) for word, n in counts.items() if n > 1), key=lambda entry: (-entry[1], entry[0]))
    header = f"# tokens {counts.total()} types {len(counts)} kept {len(kept)}\n"
    return header + "".join(f"{word}\t{n}\n" for word, n in kept)


def main(paths: Sequence[str]) -> None:
    """Count the files and write the table beside this module."""
    text = table(count_words([Path(path) for path in paths]))
    target = Path(__file__).with_name("unigrams.tsv.xz")
    temporary = target.with_suffix(".tmp")
    temporary.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    os.replace(temporary, target)
    print(f"{target.name}: {text.splitlines()[0][2:]}, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
