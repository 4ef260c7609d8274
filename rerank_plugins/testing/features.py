"""The contract of feature extractors."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.contracts import checked_word_scores, fault_of_components
from rerank_plugins.core.interfaces import FeatureExtractor
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.testing.samples import assertions, check_equal, check_options, sample_nbest


@assertions
def check_feature_extractor(
    extractor: FeatureExtractor, nbests: Sequence[NBestList] = (), tolerance: float = 0.0
) -> None:
    """Check that a feature extractor keeps its contract; `nbests` are samples of your own, checked beside ours.

    Values that shall be equal may differ by `tolerance`, relative and absolute, for an extractor by matrix products,
    whose rounding depends on the size of the batch.

    - The values of a list are a finite float64 array of shape (hypotheses, components), also for empty hypotheses.
    - An empty list has values of shape (0, components). It may come without a source and a context, as ours does: an
      extractor that needs one of them must not complain about its absence where there is no hypothesis.
    - The names of the components are distinct, there is at least one, and none has spaces or `=`.
    - No option has the name of a key that all tables of features have (`text`, `label`, …), as in the other checks.
    - `extract_all` gives one array for each list, equal to that of `extract`: no list depends on another.
    - Calling `extract` again gives the same values, and so does a pickled copy of the extractor.
    - Where `scope` is "text", equal texts of a list have equal values, and a hypothesis has the same values alone as
      among the others (to 1e-9).
    - `word_scores`, where it is not None, has a finite value for each word of a sentence, or one more for `</s>`.
    """
    check_options("feature", extractor)
    lists = [*nbests, sample_nbest(), sample_nbest(["one word"], "1"), NBestList("2", ())]
    names = extractor.components
    fault = fault_of_components(names)
    assert fault is None, fault
    assert extractor.scope in ("text", "list"), f"scope must be 'text' or 'list', found {extractor.scope!r}"
    together = extractor.extract_all(lists)
    assert len(together) == len(lists), f"extract_all returned {len(together)} arrays for {len(lists)} lists"
    again = pickle.loads(pickle.dumps(extractor))
    for nbest, values in zip(lists, together, strict=True):
        _check_word_scores(extractor, nbest)
        where = f"list {nbest.segment_id}"
        wanted = (len(nbest), len(names))
        assert values.shape == wanted, f"{where}: shape {values.shape}, wanted {wanted} (hypotheses, components)"
        assert values.dtype == np.float64, f"{where}: type {values.dtype}, wanted float64"
        assert np.isfinite(values).all(), f"{where}: values must be finite, also for empty hypotheses: {values}"
        check_equal(extractor.extract(nbest), values, "extract must agree with extract_all, each time", tolerance)
        check_equal(again.extract(nbest), values, "a pickled copy must give the same values", tolerance)
        if extractor.scope == "text":
            first = {h.text: row for row, h in reversed(list(enumerate(nbest)))}
            same = [first[h.text] for h in nbest]
            check_equal(values, values[same], 'scope is "text", but equal texts have different values', tolerance)
            alone = [extractor.extract(nbest.select([row]))[0] for row in range(len(nbest))]
            stacked = np.array(alone).reshape(wanted)
            check_equal(stacked, values, 'scope is "text", but values depend on the list', max(tolerance, 1e-9))


def _check_word_scores(extractor: FeatureExtractor, nbest: NBestList) -> None:
    """Check the scores by word of an extractor, if it has any."""
    sentences = [hypothesis.words for hypothesis in nbest]
    scores = checked_word_scores(extractor, sentences, extractor.word_scores(nbest))
    if scores is None:
        return
    assert len(scores) == len(nbest), f"word_scores returned {len(scores)} arrays for {len(nbest)} hypotheses"
    for words, values in zip((hypothesis.words for hypothesis in nbest), scores, strict=True):
        lengths = (len(words), len(words) + 1)
        assert len(values) in lengths, f"{words}: {len(values)} word scores, wanted {lengths[0]} or {lengths[1]}"
        assert np.isfinite(values).all(), f"{words}: word scores must be finite, found {values}"
