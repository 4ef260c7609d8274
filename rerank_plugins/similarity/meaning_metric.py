"""The meaning that hypotheses share with their references as a metric, and so as a utility of minimum Bayes risk.

The statistics (S = 2) are the meaning that a hypothesis shares with the closest reference (meaning.py), and the number
of segments (1). Texts are read as words between spaces. Each distinct sentence is parsed once, and the concepts of its
words are inferred once; a pair of sentences then takes some microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerank_plugins import FloatArray, Parser, PickledFields, __version__, check_texts, option
from rerank_plugins.core.metrics_and_tuners import SegmentAverage
from rerank_plugins.similarity import meaning
from rerank_plugins.similarity.meaning import Meaning

if TYPE_CHECKING:
    from rerank_plugins.similarity.sentence_meanings import SentenceMeanings


@dataclass(frozen=True, kw_only=True)
class MeaningMetric(SegmentAverage, PickledFields):
    """The meaning that hypotheses share with their references, in per cent: words aligned by concepts and roles.

    Raises ModelError for a model that is missing, cut short, of another version or kind.
    """

    unit: ClassVar[float] = 100.0

    concepts: Path | None = option(
        None, doc="model of `rerank train svs-concepts` or `svs`; default: the embedded English concepts"
    )
    parser: Parser | None = option(None, doc="a parser of constituents, by name; default: that of `treelet-lm`")
    longest: int = option(80, doc="words in the longest sentence that is parsed")

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser of the texts."""
        return (self._sentences.trees,)

    @cached_property
    def _sentences(self) -> SentenceMeanings:
        from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
        from rerank_plugins.svs.parser import parser_of_concepts

        trees = parser_of_concepts(self.concepts, self.parser)
        return SentenceMeanings(trees, read_concepts(self.concepts), self.longest)

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the meaning shared with the closest reference, 0 to 1, and 1. Raises as `check_texts` does."""
        check_texts(hypotheses, references)
        known = self._of([text for texts in (*hypotheses, *references) for text in texts])
        values = [
            meaning.between([known[text] for text in texts], [known[text] for text in right]).max(axis=1)
            for texts, right in zip(hypotheses, references, strict=True)
            if len(texts)
        ]
        shared = np.concatenate([np.zeros(0), *values])
        return np.column_stack([shared, np.ones(len(shared))])

    def _of(self, texts: Sequence[str]) -> dict[str, Meaning]:
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self._sentences.of([text.split() for text in distinct]), strict=True))

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the meaning that the hypotheses share with each other, in per cent; symmetric."""
        known = self._of(hypotheses)
        each = [known[text] for text in hypotheses]
        return self.unit * meaning.between(each, each)

    def signature(self) -> str:
        """The concepts, and the version of the program, in sacrebleu's form."""
        return f"concepts:{self.concepts.name if self.concepts else 'en'}|version:{__version__}"
