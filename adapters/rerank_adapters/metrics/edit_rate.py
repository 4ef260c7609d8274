"""Edits per word or character of the reference: the base of TER, and word and character error rate.

The statistics of a hypothesis are the edits to the closest of its references and the mean length of its references
(Snover et al. 2006): S = 2. As that length does not depend on the hypothesis, its sum over segments is the same
whichever hypotheses are chosen, and the corpus score is a constant times a sum over segments. For these metrics the
best hypothesis of each segment (by `sentence_scores`) therefore gives the best corpus score.

WER and CER are the Levenshtein distance (1966) by rapidfuzz. With one reference they equal jiwer's for texts whose
white space is single spaces. With several, the distance to the closest one is divided by their mean length. Time is O(n
⌈m / 64⌉) per pair of texts.

References with alternatives and optional words, as NIST's formats have them, are networks (word_networks.py). Their
length is that of the alternatives which the hypothesis is aligned with, as in sclite. The best choice of hypotheses is
exact for such ratios of sums, too: where no exchange of one hypothesis lowers Σe / Σl = λ, each has the lowest e - λl.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rerank_adapters.metrics.alignment import COSTS, Alignment, Costs, align
from rerank_adapters.metrics.encoded_texts import Layout, lay_out
from rerank_adapters.metrics.sacrebleu_conventions import join_signature
from rerank_adapters.metrics.word_networks import NetworkAligner
from rerank_adapters.texts.transcript import Transcript
from rerank_plugins import ConfigError, FloatArray, Metric, __version__, check_texts, option
from rerank_plugins.core.arrays import LongArray

COSTS_DOC = "what alignments cost: 1 for each edit, or as sclite 4 for substitutions and 3 for others"


class EditRate(Metric):
    """A rate of edits, in percent; lower is better."""

    higher_is_better: ClassVar[bool] = False
    decomposes: ClassVar[bool] = True

    @abstractmethod
    def edits(self, layout: Layout) -> tuple[LongArray, LongArray]:
        """(distinct hypotheses) the fewest edits to any reference of the segment; (references) their lengths."""

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the edits to the closest reference, and the mean length of the references.

        Raises FormatError for a segment without a reference.
        """
        layout = lay_out(hypotheses, references)
        edits, lengths = self.edits(layout)
        first = layout.references - layout.distinct
        totals = np.concatenate([[0], np.cumsum(lengths)])
        means = (totals[first[1:]] - totals[first[:-1]]) / np.diff(first)
        distinct = np.column_stack([edits, np.repeat(means, np.diff(layout.hypotheses))])
        return distinct[layout.rows].astype(np.float64)

    def score(self, totals: FloatArray) -> FloatArray:
        """Edits per 100 words of the references: (…, 2) -> (…).

        Where all references are empty the rate is 0 without edits and 100 with any edits, as sacrebleu's TER.
        """
        totals = np.asarray(totals, np.float64)
        edits, length = totals[..., 0], totals[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(length > 0, 100 * (edits / length), np.where(edits > 0, 100.0, 0.0))

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """The rates of single hypotheses, unsmoothed; an empty reference counts as one word.

        With an empty reference too, hypotheses are thus ranked by their edits, which `score` would not distinguish.
        """
        statistics = np.asarray(statistics, np.float64)
        edits, length = statistics[..., 0], statistics[..., 1]
        return 100 * (edits / np.where(length > 0, length, 1))

    @abstractmethod
    def edit_matrix(self, hypotheses: Sequence[str]) -> tuple[LongArray, LongArray]:
        """(n, n) the edits that turn text i into text j; (n) the lengths."""

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the rate of hypothesis i with hypothesis j as its reference."""
        edits, lengths = self.edit_matrix(hypotheses)
        return self.sentence_scores(np.stack(np.broadcast_arrays(edits, lengths), axis=-1))


class LevenshteinRate(EditRate):
    """A rate of insertions, deletions and substitutions, computed on strings with one character per unit."""

    reads_alternatives: ClassVar[bool] = True
    costs: Costs = "levenshtein"

    def score(self, totals: FloatArray) -> FloatArray:
        """Edits per 100 words (CER: characters) of the references: (…, 2) -> (…).

        Where all references are empty each edit counts 100, as in jiwer 4.0.0 and in the table of kinds of errors.
        """
        return self.sentence_scores(totals)

    @abstractmethod
    def split(self, text: str) -> list[str]:
        """The units of a text: its words or its characters."""

    def units(self, texts: Sequence[str]) -> list[str]:
        """A string for each text with one character per unit; units are numbered in the order of their appearance."""
        character: dict[str, str] = {}
        return ["".join([character.setdefault(u, chr(len(character))) for u in self.split(text)]) for text in texts]

    def align(self, hypothesis: str, references: Sequence[str]) -> Alignment:
        """The alignment with the closest reference, the first of equally close ones."""
        if any(isinstance(text, Transcript) for text in (hypothesis, *references)):
            alignments = [self._aligner(reference).align(hypothesis) for reference in references]
        else:
            units = self.split(hypothesis)
            alignments = [align(units, self.split(reference), self.costs) for reference in references]
        return min(alignments, key=lambda alignment: alignment.errors)

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the edits to the closest reference, and the mean length of the references, in units.

        The length of a reference with alternatives is that of those which the hypothesis is aligned with. Raises
        FormatError for a segment without a reference.
        """
        texts = [[*some, *right] for some, right in zip(hypotheses, references, strict=False)]
        marked = [any(isinstance(text, Transcript) for text in some) for some in texts]
        if not any(marked):
            return super().statistics(hypotheses, references)
        check_texts(hypotheses, references)
        empty: list[str] = []
        plain = [empty if network else some for network, some in zip(marked, hypotheses, strict=True)]
        others = [[""] if network else right for network, right in zip(marked, references, strict=True)]
        rest = iter(super().statistics(plain, others))
        rows: list[FloatArray] = []
        for network, some, right in zip(marked, hypotheses, references, strict=True):
            rows += self._with_networks(some, right) if network else [next(rest) for _ in some]
        return np.array(rows, np.float64).reshape(-1, 2)

    def _with_networks(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[FloatArray]:
        """The edits and the mean length, for each hypothesis of a segment with marked texts."""
        aligners = [self._aligner(reference) for reference in references]
        counts = {text: np.array([aligner.counts(text) for aligner in aligners]) for text in set(hypotheses)}
        return [np.array([counts[text][:, 0].min(), counts[text][:, 1].mean()]) for text in hypotheses]

    def _aligner(self, reference: str) -> NetworkAligner:
        return NetworkAligner(reference, self.split, self.costs)

    def edits(self, layout: Layout) -> tuple[LongArray, LongArray]:
        """The fewest edits to any reference, and the lengths of the references in units."""
        fewest = np.zeros(layout.distinct, np.int64)
        lengths = np.zeros(layout.references[-1] - layout.distinct, np.int64)
        for h, h_end, r, r_end in layout.merged_jobs().tolist():
            units = self.units(layout.texts[h:h_end] + layout.texts[r:r_end])
            lengths[r - layout.distinct : r_end - layout.distinct] = [len(text) for text in units[h_end - h :]]
            fewest[h:h_end] = _distances(units[h_end - h :], units[: h_end - h], self.costs).min(axis=0)
        return fewest, lengths

    def edit_matrix(self, hypotheses: Sequence[str]) -> tuple[LongArray, LongArray]:
        """(n, n) the edits between all pairs of texts, and (n) their lengths in units."""
        units = self.units(hypotheses)
        return _distances(units, units, self.costs), np.array([len(text) for text in units], np.int64)


@dataclass
class WER(LevenshteinRate):
    """Word error rate: edits per word of the reference."""

    lowercase: bool = option(False, doc="compare lower-cased texts")
    costs: Costs = option("levenshtein", doc=COSTS_DOC)

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for unknown costs."""
        check_costs(self.costs)

    def split(self, text: str) -> list[str]:
        """The words between white space."""
        return (text.lower() if self.lowercase else text).split()

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        return join_signature(__version__, case="lc" if self.lowercase else "mixed", tok="none", **_named(self.costs))


@dataclass
class CER(LevenshteinRate):
    """Character error rate: edits per character of the reference, with single spaces between words."""

    lowercase: bool = option(False, doc="compare lower-cased texts")
    whitespace: bool = option(True, doc="count the spaces between words")
    costs: Costs = option("levenshtein", doc=COSTS_DOC)

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for unknown costs."""
        check_costs(self.costs)

    def split(self, text: str) -> list[str]:
        """The characters of the text."""
        return list((" " if self.whitespace else "").join((text.lower() if self.lowercase else text).split()))

    def units(self, texts: Sequence[str]) -> list[str]:
        """The characters of the texts."""
        return ["".join(self.split(text)) for text in texts]

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        case = "lc" if self.lowercase else "mixed"
        return join_signature(__version__, case=case, tok="char", space=self.whitespace, **_named(self.costs))

    def _aligner(self, reference: str) -> NetworkAligner:
        """Raises ConfigError where spaces count, which have no place between alternatives."""
        if self.whitespace:
            message = "the references have alternatives or optional words: spaces between them cannot be counted"
            raise ConfigError(f"{message}; give -m cer,whitespace=false, as sclite -c counts")
        return super()._aligner(reference)


def check_costs(costs: str) -> None:
    """Raise ValueError for unknown costs."""
    if costs not in COSTS:
        raise ValueError(f"costs is {costs!r}; wanted one of {', '.join(COSTS)}")


def _named(costs: Costs) -> dict[str, str]:
    """The costs, as a signature has them: nothing where each edit counts once."""
    return {} if costs == "levenshtein" else {"costs": costs}


def _weighted(rows: Sequence[str], columns: Sequence[str], costs: Costs) -> LongArray:
    """(rows, columns): the numbers of edits in the alignments that are cheapest by other costs."""
    from rerank_adapters.metrics.alignment_kernel import aligned_codes

    coded = [[np.array([ord(unit) for unit in text], np.int32) for text in texts] for texts in (rows, columns)]
    edits = [[np.count_nonzero(aligned_codes(c, r, *COSTS[costs])) for c in coded[1]] for r in coded[0]]
    return np.array(edits, np.int64).reshape(len(rows), len(columns))


def _distances(rows: Sequence[str], columns: Sequence[str], costs: Costs) -> LongArray:
    """(rows, columns): the edits between references (rows) and hypotheses."""
    if costs != "levenshtein":
        return _weighted(rows, columns, costs)
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    distances = cdist(rows, columns, scorer=Levenshtein.distance, dtype=np.int32, workers=1)
    return np.asarray(distances, np.int64)
