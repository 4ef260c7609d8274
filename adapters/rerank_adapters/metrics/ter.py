"""Translation edit rate (Snover et al. 2006), equal to sacrebleu's (Post 2018). See `ter_kernels.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.metrics.edit_rate import EditRate
from rerank_adapters.metrics.encoded_texts import Layout, Sequences, encode_words, lay_out
from rerank_adapters.metrics.sacrebleu_conventions import join_signature, sacrebleu_version, tercom_tokenizer
from rerank_plugins import FloatArray, option
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.threads import over_ranges

MIN_CELLS = 1e5  # cells of distance matrices, n × m summed over pairs: about 10 ms; less is not worth a thread


@dataclass
class TER(EditRate):
    """Translation edit rate: insertions, deletions, substitutions and shifts of blocks (Snover et al. 2006)."""

    normalized: bool = option(False, doc="tokenise as Tercom does")
    no_punct: bool = option(False, doc="remove punctuation")
    asian_support: bool = option(False, doc="apply normalized and no_punct to Asian characters too")
    case_sensitive: bool = option(False, doc="do not lower-case")

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the edits to the closest reference, and the mean length of the references.

        Raises FormatError for a segment without a reference.
        """
        layout = lay_out(hypotheses, references)
        edits, lengths = self._edits(layout)
        first = layout.references - layout.distinct
        totals = np.concatenate([[0], np.cumsum(lengths)])
        means = (totals[first[1:]] - totals[first[:-1]]) / np.diff(first)
        distinct = np.column_stack([edits, np.repeat(means, np.diff(layout.hypotheses))])
        return distinct[layout.rows].astype(np.float64)

    def _edits(self, layout: Layout) -> tuple[LongArray, LongArray]:
        """(distinct hypotheses) the fewest edits to any reference of the segment; (references) their lengths."""
        sequences = self._encode(layout.texts)
        counts = np.diff(layout.references)
        segment = np.repeat(np.arange(len(counts)), np.diff(layout.hypotheses))
        per_hypothesis = counts[segment]
        first_pair = np.cumsum(per_hypothesis) - per_hypothesis
        within = np.arange(per_hypothesis.sum()) - np.repeat(first_pair, per_hypothesis)
        hypothesis = np.repeat(np.arange(layout.distinct), per_hypothesis)
        pairs = np.column_stack([hypothesis, layout.references[segment[hypothesis]] + within])
        edits = _edits(sequences, pairs)
        fewest = np.minimum.reduceat(edits, first_pair) if len(edits) else edits
        return fewest, sequences.lengths[layout.distinct :]

    def pair_statistics(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n, 2): the edits that turn text i into text j, and the length of text j in words."""
        n = len(hypotheses)
        sequences = self._encode(hypotheses)
        pairs = np.column_stack([np.repeat(np.arange(n), n), np.tile(np.arange(n), n)])
        edits = _edits(sequences, pairs).reshape(n, n)
        return np.stack(np.broadcast_arrays(edits, sequences.lengths), axis=-1).astype(np.float64)

    def signature(self) -> str:
        """The signature in sacrebleu's form, without the number of references."""
        return join_signature(
            sacrebleu_version(),
            case="mixed" if self.case_sensitive else "lc",
            tok="tercom",
            norm=self.normalized,
            punct=not self.no_punct,
            asian=self.asian_support,
        )

    def _encode(self, texts: Sequence[str]) -> Sequences:
        tokenizer = tercom_tokenizer(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )
        return encode_words([tokenizer(text.rstrip()) for text in texts])[0]


def _edits(sequences: Sequences, pairs: LongArray) -> LongArray:
    """(len(pairs)): the edits that turn sequence `pairs[k, 0]` into sequence `pairs[k, 1]`."""
    from rerank_adapters.metrics.ter_kernels import count_edits

    edits = np.zeros(len(pairs), np.int64)

    def work(start: int, end: int) -> None:
        count_edits(*sequences, pairs[start:end], edits[start:end])

    over_ranges(work, sequences.lengths[pairs].prod(axis=1), MIN_CELLS)
    return edits
