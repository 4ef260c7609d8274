"""Makes an n-best list of restored sentences of an incomplete one, with the scores of each insertion as features.

The list has the `words` best candidates for each of the `gaps` most probable gaps. Its features are ln p of the gap by
each method of location, ln p of the word in the gap, and the parts of the latter; a hypothesis's score is the first of
each together, ln p(gap) + ln p(word | gap). Lists are sorted by that score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rerank_adapters.applications.restoration.filling import Filling
from rerank_adapters.applications.restoration.incomplete import Incomplete
from rerank_adapters.applications.restoration.locating import Locating
from rerank_plugins import Hypothesis, NBestList
from rerank_plugins.core.pickling import PickledFields

DIGITS = 6  # of a feature after the point


@dataclass(frozen=True)
class Inserting(PickledFields):
    """The task for a batch of sentences: their n-best lists, `gaps` × `words` hypotheses each (0 gaps: all gaps).

    A sentence whose gap is known keeps that gap alone where `at_known_gaps` is set.
    """

    locating: Locating
    filling: Filling
    gaps: int
    words: int
    at_known_gaps: bool = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        from rerank_plugins.missing_words.model import METHODS

        methods = [self.locating.method, *(method for method in METHODS if method != self.locating.method)]
        return (*(f"location-{method}" for method in methods), "filling", *self.filling.parts)

    def __call__(self, batch: list[Incomplete]) -> list[NBestList]:
        """The list of each sentence; its id is that of the sentence."""
        from rerank_plugins.missing_words.model import METHODS

        model, method = self.locating.model, self.locating.method
        sentences = [sentence.words for sentence in batch]
        located = {name: model.locate(sentences, name) for name in METHODS}
        others = [located[name] for name in METHODS if name != method]
        chosen: list[list[int]] = []
        for sentence, ln_p in zip(batch, located[method], strict=True):
            if self.at_known_gaps and sentence.gap is not None:
                chosen.append([sentence.gap])
            else:
                chosen.append(np.argsort(-ln_p, kind="stable")[: self.gaps or None].tolist())
        owners = [number for number, gaps in enumerate(chosen) for _ in gaps]
        flat = [gap for gaps in chosen for gap in gaps]
        filled = self.filling.fill([batch[owner] for owner in owners], flat, self.words)
        hypotheses: list[list[Hypothesis]] = [[] for _ in batch]
        for owner, gap, candidates in zip(owners, flat, filled, strict=True):
            at = float(located[method][owner][gap])
            by_others = [float(ln_p[owner][gap]) for ln_p in others]
            for candidate in candidates:
                features = tuple(round(value, DIGITS) for value in (at, *by_others, candidate.ln_p, *candidate.parts))
                text = batch[owner].restored(gap, candidate.word)
                hypotheses[owner].append(Hypothesis(text, features, round(at + candidate.ln_p, DIGITS)))
        return [
            NBestList(sentence.id, tuple(sorted(insertions, key=_falling)), self.names, line=sentence.line)
            for sentence, insertions in zip(batch, hypotheses, strict=True)
        ]


def _falling(hypothesis: Hypothesis) -> float:
    return -(hypothesis.score or 0.0)
