"""Text as recognisers write it: lower case, no punctuation, clitics joined to their words; and frequencies of words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from rerank_adapters.text.steps import characters
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.ngram.training import NgramSettings, train

CLITIC = re.compile(r"(?<=[a-z]) (n't|'(?:s|m|d|ll|re|ve))\b")
NAMED_BRACKET = re.compile(r"-[lr][rscb]b-")
OUTSIDE_WORDS = re.compile(r"[^\w\s']|_|(?<!\w)'|'(?!\w)")
LINES = 10_000  # that are normalised at once


def as_spoken(lines: Iterable[str]) -> Iterator[str]:
    """Normalise text of Penn-style tokens, one sentence per line: `` `` I do n't ! `` becomes `i don't`."""
    remaining = iter(lines)
    while some := list(islice(remaining, LINES)):
        text = CLITIC.sub(r"\1", "".join(some).lower())
        text = OUTSIDE_WORDS.sub(" ", NAMED_BRACKET.sub(" ", text))
        yield from (" ".join(line.split()) for line in text.split("\n") if line.strip())


def train_on_spoken(texts: Iterable[Path], settings: NgramSettings, model: Path, *, spelt: bool = False) -> None:
    """Train an n-gram model on normalised texts, of words or (`spelt`) of characters, and write it to a file."""

    def lines(path: Path) -> Iterator[str]:
        with open_text(path) as opened:
            normalised = as_spoken(opened)
            yield from map(characters, normalised) if spelt else normalised

    train([(path.name, lines(path)) for path in texts], settings, jobs=2).ngrams.save(model)


def write_frequencies(model: Path) -> None:
    """Write the frequencies of English words in the package wordfreq as the 1-grams of an ARPA file.

    They are rounded to 0.01 in log10 and not below 1e-8; an unknown word has 1e-9. The only 2-gram is there because
    KenLM wants one.
    """
    from wordfreq import get_frequency_dict

    words = [(word, p) for word, p in get_frequency_dict("en", wordlist="large").items() if word.split() == [word]]
    with open(model, "w", encoding="utf-8") as lines:
        lines.write(f"\\data\\\nngram 1={len(words) + 3}\nngram 2=1\n\n\\1-grams:\n")
        lines.write("-99\t<s>\t0\n-1\t</s>\t0\n-9\t<unk>\t0\n")
        lines.writelines(f"{math.log10(p):.2f}\t{word}\t0\n" for word, p in words)
        lines.write("\n\\2-grams:\n-1\t<s> </s>\n\n\\end\\\n")
