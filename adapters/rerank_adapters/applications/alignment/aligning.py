"""Writes the links of sentence pairs as lines of text, and their error rates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rerank_plugins import FormatError
from rerank_plugins.translation.alignment.links import GoldLinks, Method, alignment_errors, links_text
from rerank_plugins.translation.alignment.model import WordAlignmentModel

Pairs = Iterable[tuple[str, str]]


def aligned_lines(model: WordAlignmentModel, pairs: Pairs, method: Method) -> Iterator[str]:
    """Yield the line of links of each pair of lines (source, target)."""
    for source, target in pairs:
        yield links_text(model.links(model.words_of(source), model.words_of(target), method)) + "\n"


def error_lines(model: WordAlignmentModel, pairs: Pairs, gold: Sequence[GoldLinks], path: str) -> Iterator[str]:
    """Yield the table of the errors of all kinds of links against those of the file `path`.

    Raises FormatError for a different number of pairs.
    """
    sentences = [(model.words_of(source), model.words_of(target)) for source, target in pairs]
    if len(sentences) != len(gold):
        raise FormatError(f"the links of {len(gold):,} sentence pairs, expected those of {len(sentences):,}", path=path)
    yield "links\tAER\tprecision\trecall\n"
    for method, errors in alignment_errors(model, sentences, gold).items():
        yield f"{method}\t{errors.error_rate:.4f}\t{errors.precision:.4f}\t{errors.recall:.4f}\n"
