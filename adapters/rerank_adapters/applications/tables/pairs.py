"""Writes pairs of a hypothesis and a reference, or of two hypotheses, as lines to be scored elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rerank_adapters.chain.job import through
from rerank_adapters.formats.pairs import plain_text
from rerank_adapters.text import TextPipeline
from rerank_plugins import NBestList


def pair_lines(
    nbests: Sequence[NBestList], references: Sequence[Sequence[str]], text: TextPipeline, *, mbr: bool = False
) -> Iterator[str]:
    """The lines `hypothesis TAB reference`, or `hypothesis TAB reference TAB source` for lists with a source.

    Texts go through the pipeline, sources do not. With `mbr`, each hypothesis of a list is also paired with each as its
    reference. No line comes twice.
    """
    seen: set[str] = set()
    hypotheses, right = through(text, [nbest.texts for nbest in nbests]), through(text, references)
    for nbest, texts, of_segment in zip(nbests, hypotheses, right, strict=True):
        distinct = list(dict.fromkeys(map(plain_text, texts)))
        source = "" if nbest.source is None else f"\t{plain_text(nbest.source)}"
        for other in dict.fromkeys([*map(plain_text, of_segment), *(distinct if mbr else ())]):
            for one in distinct:
                line = f"{one}\t{other}{source}\n"
                if line not in seen:
                    seen.add(line)
                    yield line
