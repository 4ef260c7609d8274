"""Edits per word or character of the reference: the base of TER, and word and character error rate.

The statistics of a hypothesis are the edits to the closest of its references and the mean length of its references
(Snover et al. 2006): S = 2. As that length does not depend on the hypothesis, its sum over segments is the same
whichever hypotheses are chosen, and the corpus score is a constant times a sum over segments. For these metrics the
best hypothesis of each segment (by `sentence_scores`) therefore gives the best corpus score.

WER and CER are the Levenshtein distance (1966) by rapidfuzz. With one reference they equal those of jiwer, whose words
and characters they count, or with sclite's costs those of sclite. With several, the distance to the closest one is
divided by their mean length. Time is O(n ⌈m / 64⌉) per pair of texts, with sclite's costs O(n m).

References with alternatives and optional words, as NIST's formats have them, are networks (word_networks.py). Their
length is that of the alternatives which the hypothesis is aligned with, as in sclite. The best choice of hypotheses is
exact for such ratios of sums, too: where no exchange of one hypothesis lowers Σe / Σl = λ, each has the lowest e - λl.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rerank_adapters.metrics.alignment import COSTS, Alignment, Costs
from rerank_adapters.metrics.sacrebleu_conventions import join_signature
from rerank_adapters.metrics.word_networks import Network, NetworkAligner
from rerank_adapters.texts.transcript import Transcript
from rerank_plugins import ConfigError, FloatArray, Metric, __version__, check_texts, option
from rerank_plugins.core.words import split_words

COSTS_DOC = "what alignments cost: 1 for each edit, or as sclite 4 for substitutions and 3 for others"
RUN = re.compile(r"\s\s+")  # of white space, also that of other scripts, which jiwer takes for one space


class EditRate(Metric):
    """A rate of edits, in percent; lower is better."""

    higher_is_better: ClassVar[bool] = False
    decomposes: ClassVar[bool] = True

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

    def pair_scores(self, statistics: FloatArray) -> FloatArray:
        """The rates where the reference is another hypothesis: at most 100 if that one is empty, as in sacrebleu."""
        return EditRate.score(self, statistics)

    @abstractmethod
    def pair_statistics(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n, 2): the edits that turn text i into text j, and the length of text j."""

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the rate of hypothesis i with hypothesis j as its reference."""
        return self.pair_scores(self.pair_statistics(hypotheses))


class LevenshteinRate(EditRate):
    """A rate of insertions, deletions and substitutions of units, which are words or characters."""

    reads_alternatives: ClassVar[bool] = True
    costs: Costs = "levenshtein"

    def score(self, totals: FloatArray) -> FloatArray:
        """Edits per 100 words (CER: characters) of the references: (…, 2) -> (…).

        Where all references are empty each edit counts 100, as in jiwer 4.0.0 and in the table of kinds of errors.
        """
        return self.sentence_scores(totals)

    @abstractmethod
    def split(self, text: str) -> Sequence[str]:
        """The units of a text: its words or its characters."""

    def align(self, hypothesis: str, references: Sequence[str]) -> Alignment:
        """The alignment with the closest reference, the first of equally close ones."""
        own, *others = self._networks([hypothesis, *references])
        alignments = [NetworkAligner(other, self.costs).align(own) for other in others]
        return min(alignments, key=lambda alignment: alignment.errors)

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the edits to the closest reference, and the mean length of the references, in units.

        The length of a reference with alternatives is that of those which the hypothesis is aligned with. Raises
        FormatError for a segment without a reference.
        """
        check_texts(hypotheses, references)
        rows: list[tuple[float, float]] = []
        for texts, targets in zip(hypotheses, references, strict=True):
            distinct = dict.fromkeys(texts)
            counted = self._distances if self._has_distances((*distinct, *targets)) else self._alignments
            of_text = counted(distinct, targets)
            rows += [of_text[text] for text in texts]
        return np.array(rows, np.float64).reshape(-1, 2)

    def _has_distances(self, texts: Iterable[str]) -> bool:
        """Whether the edits of all these texts are their Levenshtein distances, which need no alignment."""
        return self.costs == "levenshtein" and not any(isinstance(text, Transcript) for text in texts)

    def _distances(self, texts: Iterable[str], references: Sequence[str]) -> dict[str, tuple[float, float]]:
        """The edits and the mean length of the references, by text."""
        from rapidfuzz.distance import Levenshtein

        targets = [self.split(reference) for reference in references]
        length = sum(map(len, targets)) / len(targets)
        distance = Levenshtein.distance
        units = {text: self.split(text) for text in texts}
        return {text: (min([distance(own, target) for target in targets]), length) for text, own in units.items()}

    def _alignments(self, texts: Iterable[str], references: Sequence[str]) -> dict[str, tuple[float, float]]:
        """The same by aligning the texts, as other costs and alternatives want it."""
        aligners = [NetworkAligner(network, self.costs) for network in self._networks(references)]
        networks = zip(texts, self._networks(texts), strict=True)
        counts = {text: np.array([aligner.counts(network) for aligner in aligners]) for text, network in networks}
        return {text: (float(each[:, 0].min()), float(each[:, 1].mean())) for text, each in counts.items()}

    def _networks(self, texts: Iterable[str]) -> list[Network]:
        """The units of each text, as the aligner takes them."""
        return [Network.of(text, self.split) for text in texts]

    def pair_statistics(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n, 2): the edits that turn text i into text j, and the length of text j, in units."""
        if not self._has_distances(hypotheses):
            networks = self._networks(hypotheses)
            aligners = [NetworkAligner(network, self.costs) for network in networks]
            pairs = [[aligner.counts(network) for aligner in aligners] for network in networks]
            return np.array(pairs, np.float64).reshape(len(hypotheses), len(hypotheses), 2)
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        # A string for each text, with a character for each distinct unit.
        character: dict[str, str] = {}
        units = [
            "".join([character.setdefault(unit, chr(len(character))) for unit in self.split(text)])
            for text in hypotheses
        ]
        edits = cdist(units, units, scorer=Levenshtein.distance, dtype=np.int32, workers=1)
        return np.stack(np.broadcast_arrays(edits, [len(each) for each in units]), axis=-1).astype(np.float64)


@dataclass
class WER(LevenshteinRate):
    """Word error rate: edits per word of the reference."""

    lowercase: bool = option(False, doc="compare lower-cased texts")
    costs: Costs = option("levenshtein", doc=COSTS_DOC)

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for unknown costs."""
        check_costs(self.costs)

    def split(self, text: str) -> list[str]:
        """The words between spaces as jiwer separates them, or with sclite's costs as sclite does."""
        return words_of(text.lower() if self.lowercase else text, self.costs)

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        return join_signature(__version__, case="lc" if self.lowercase else "mixed", tok="none", **_named(self.costs))


@dataclass
class CER(LevenshteinRate):
    """Character error rate: edits per character of the reference, spaces between words included."""

    lowercase: bool = option(False, doc="compare lower-cased texts")
    whitespace: bool = option(True, doc="count the spaces between words")
    costs: Costs = option("levenshtein", doc=COSTS_DOC)

    def __post_init__(self) -> None:
        """Check the options. Raises ValueError for unknown costs."""
        check_costs(self.costs)

    def split(self, text: str) -> str:
        """The characters of the text, without white space at its ends; without spaces, those of `sclite -c`."""
        text = text.lower() if self.lowercase else text
        if self.whitespace and self.costs == "levenshtein":
            return text.strip()
        return (" " if self.whitespace else "").join(split_words(text))

    def signature(self) -> str:
        """The signature in sacrebleu's form."""
        case = "lc" if self.lowercase else "mixed"
        return join_signature(__version__, case=case, tok="char", space=self.whitespace, **_named(self.costs))

    def _networks(self, texts: Iterable[str]) -> list[Network]:
        """Raises ConfigError where spaces count, which have no place between alternatives."""
        texts = list(texts)
        if self.whitespace and any(isinstance(text, Transcript) for text in texts):
            message = "the references have alternatives or optional words: spaces between them cannot be counted"
            raise ConfigError(f"{message}; give -m cer,whitespace=false, as sclite -c counts")
        return super()._networks(texts)


def words_of(text: str, costs: Costs = "levenshtein") -> list[str]:
    r"""The words of a text as jiwer 4.0.0 separates them, or with sclite's costs as sclite 2.4.10 does.

    jiwer splits at spaces, once a run of any white space is one; sclite at the white space of ASCII.

    >>> words_of("10\u00a0000 euros"), words_of("10 \u00a0000\teuros"), words_of("10\u00a0000\teuros", "sclite")
    (['10\xa0000', 'euros'], ['10', '000\teuros'], ['10\xa0000', 'euros'])
    """
    if costs == "sclite":
        return split_words(text)
    if text.isprintable():  # then all white space is that between words
        return text.split()
    return [word for word in RUN.sub(" ", text).strip().split(" ") if word]


def check_costs(costs: str) -> None:
    """Raise ValueError for unknown costs."""
    if costs not in COSTS:
        raise ValueError(f"costs is {costs!r}; wanted one of {', '.join(COSTS)}")


def _named(costs: Costs) -> dict[str, str]:
    """The costs, as a signature has them: nothing where each edit counts once."""
    return {} if costs == "levenshtein" else {"costs": costs}
