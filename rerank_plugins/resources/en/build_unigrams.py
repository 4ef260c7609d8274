"""Makes `unigrams.tsv.xz`: word frequencies of tokenised English text.

    python -m rerank_plugins.resources.en.build_unigrams novels.txt.xz presidential.txt.xz textbooks.txt.xz

One sentence per line, tokens separated by spaces. Words seen once are left out (see models/unigram_model.py for what
that means); `</s>` has the number of sentences. The same texts give the same file.
"""

from __future__ import annotations

import lzma
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path


def count_words(paths: Sequence[Path]) -> Counter[str]:
    """How often each word and `</s>` occur in the files (plain or .xz)."""
    counts: Counter[str] = Counter()
    for path in paths:
        opener = lzma.open if path.suffix == ".xz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                if words := line.split():
                    counts.update(words)
                    counts["</s>"] += 1
    return counts


def table(counts: Counter[str]) -> str:
    """The file's text: a header, then `word<tab>count` for words seen twice or more, frequent words first."""
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
