"""Contract checks for plugin authors: each raises an AssertionError that names the promise which an object breaks.

    from rerank_plugins.testing import check_feature_extractor
    def test_contract():
        check_feature_extractor(TypeTokenRatio())

Our own tests run these checks over every registered plugin. They need no test framework, and importing them loads no
more than the interfaces. The docstring of each check states the rules that it checks, and most checks take samples of
your own (n-best lists, sentences, texts), for a plugin that needs special ones.
"""

from __future__ import annotations

import dataclasses
import functools
import pickle
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, ParamSpec

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.dependency_tree import tree_fault
from rerank_plugins.core.errors import ModelError, RerankError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.guests.calls import GuestError
from rerank_plugins.core.guests.features import fault_of_components
from rerank_plugins.core.guests.registrations import fault_of_options
from rerank_plugins.core.interfaces import (
    BatchedLM,
    FeatureExtractor,
    HasUnigrams,
    IncrementalLM,
    LanguageModel,
    Parse,
    Parser,
    Sentence,
    SentenceModel,
)
from rerank_plugins.core.metrics_and_tuners import Metric, NBestFormat, Rescored, Tuner, TuningData
from rerank_plugins.core.nbest import Hypothesis, NBestList

SENTENCES = (
    "the cat sat on the mat .",
    "the cat sat on mat the .",
    "a dog , it seems , barked",
    "ünknown wörds 42 !",
    "",
    "the",
    'He said ( quietly ) : " zzyzx ! "',
    "`` Zzyzx , '' he said -LRB- quietly -RRB- [ -lsb-",
)


P = ParamSpec("P")


def _assertions(check: Callable[P, None]) -> Callable[P, None]:
    """The check, in which what the interfaces say of a value that breaks a promise is an AssertionError too."""

    @functools.wraps(check)
    def checking(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            check(*args, **kwargs)
        except GuestError as error:
            raise AssertionError(str(error)) from error

    return checking


def sample_nbest(texts: Sequence[str] = SENTENCES, segment_id: str = "0") -> NBestList:
    """A small n-best list that has features, totals, links, a source and a context.

    By default its hypotheses include an empty one, a repeated one, unknown words, capitals, and brackets and quotation
    marks in several spellings; other `texts` may be given (one or more), of which the first is repeated at the end.
    """
    hypotheses = tuple(
        Hypothesis(
            text,
            (-float(len(text.split())), 0.5 * row),
            -1.0 - row,
            {"rule_7": 1.0} if row % 2 else {},
            links="0-0" if text.split() else "",
        )
        for row, text in enumerate((*texts, texts[0]))
    )
    names, source = ("WordPenalty0", "LM0"), "die Katze saß auf der Matte ."
    return NBestList(segment_id, hypotheses, names, source, "a cat sat .", rows=range(len(hypotheses)))


@_assertions
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
    _check_options("feature", extractor)
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
        _check_equal(extractor.extract(nbest), values, "extract must agree with extract_all, each time", tolerance)
        _check_equal(again.extract(nbest), values, "a pickled copy must give the same values", tolerance)
        if extractor.scope == "text":
            first = {h.text: row for row, h in reversed(list(enumerate(nbest)))}
            same = [first[h.text] for h in nbest]
            _check_equal(values, values[same], 'scope is "text", but equal texts have different values', tolerance)
            alone = [extractor.extract(nbest.select([row]))[0] for row in range(len(nbest))]
            stacked = np.array(alone).reshape(wanted)
            _check_equal(stacked, values, 'scope is "text", but values depend on the list', max(tolerance, 1e-9))


def _check_options(kind: str, plugin: object) -> None:
    """Check that no option has the name of a key that all tables of this kind have."""
    names = [field.name for field in dataclasses.fields(plugin)] if dataclasses.is_dataclass(plugin) else []
    fault = fault_of_options(kind, names)
    assert fault is None, fault


def _check_equal(values: FloatArray, wanted: FloatArray, message: str, tolerance: float) -> None:  # 0: to the last bit
    np.testing.assert_allclose(values, wanted, tolerance, tolerance, err_msg=message)


def _check_word_scores(extractor: FeatureExtractor, nbest: NBestList) -> None:
    """Check the scores by word of an extractor, if it has any."""
    scores = extractor.word_scores(nbest)
    if scores is None:
        return
    assert len(scores) == len(nbest), f"word_scores returned {len(scores)} arrays for {len(nbest)} hypotheses"
    for words, values in zip((hypothesis.words for hypothesis in nbest), scores, strict=True):
        lengths = (len(words), len(words) + 1)
        assert len(values) in lengths, f"{words}: {len(values)} word scores, wanted {lengths[0]} or {lengths[1]}"
        assert np.isfinite(values).all(), f"{words}: word scores must be finite, found {values}"


@_assertions
def check_language_model(model: SentenceModel, sentences: Iterable[Sentence] = ()) -> None:
    """Check that a language model keeps its contract; `sentences` are samples of your own, checked beside ours.

    - `totals` are natural logs: float64, finite and not above 0 (to 1e-6), also for unknown words and no words.
    - A `LanguageModel` gives n + 1 such logs for n words, that of `</s>` last, and `totals` are their sums.
    - Scores do not depend on the order of the sentences; a pickled copy gives the same.
    - The unigram scores of a model that has them (`HasUnigrams`, without a ModelError) have the same shape and range,
      do not depend on the surrounding words, and give `</s>` the same value in every sentence.
    """
    _check_options("language_model", model)
    texts = [*sentences, *(text.split() for text in SENTENCES)]
    scores = _values(model, texts)
    for sentence, values in zip(texts, scores, strict=True):
        _check_ln(sentence, values, len(sentence) + 1 if isinstance(model, LanguageModel) else 1)
    sums = [values.sum() for values in scores]
    np.testing.assert_allclose(model.totals(texts), sums, 1e-5, 1e-4, err_msg="totals must be the sums of score")
    whole, turned = np.concatenate(scores), np.concatenate(_values(model, texts[::-1])[::-1])
    np.testing.assert_allclose(turned, whole, 1e-9, err_msg="scores must not depend on the order of sentences")
    copied = _values(pickle.loads(pickle.dumps(model)), texts)
    np.testing.assert_allclose(np.concatenate(copied), whole, 1e-9, err_msg="a pickled copy must agree")
    if isinstance(model, HasUnigrams):
        _check_unigrams(model, texts)


def _values(model: SentenceModel, texts: Sequence[Sentence]) -> list[FloatArray]:
    """Ln p of the words of each sentence, or of the sentence alone where the model has no words."""
    return model.score(texts) if isinstance(model, LanguageModel) else list(model.totals(texts)[:, None])


def _check_ln(sentence: Sentence, values: FloatArray, wanted: int) -> None:
    """Check that there are so many values, and that each is the natural log of a probability."""
    assert values.shape == (wanted,), f"{sentence}: {values.shape[0]} values, wanted {wanted}"
    assert values.dtype == np.float64, f"{sentence}: type {values.dtype}, wanted float64"
    assert np.isfinite(values).all(), f"{sentence}: ln p must be finite, found {values}"
    assert (values <= 1e-6).all(), f"{sentence}: ln p must not be above 0, found {values.max()}"


def _check_unigrams(model: HasUnigrams, texts: Sequence[Sentence]) -> None:
    try:
        whole = model.unigram_scores(texts)
    except ModelError:  # this model's file has none
        return
    turned = model.unigram_scores([[*text[:1], *text[:0:-1]] for text in texts])  # all words but the first reversed
    for sentence, values, others in zip(texts, whole, turned, strict=True):
        _check_ln(sentence, values, len(sentence) + 1)
        assert values[-1] == whole[0][-1], "the unigram ln p of </s> must be the same in all sentences"
        same = np.concatenate([others[:1], others[1:-1][::-1], others[-1:]]) if sentence else others
        np.testing.assert_array_equal(same, values, "unigram ln p must not depend on the surrounding words")


@_assertions
def check_incremental_lm(model: IncrementalLM[Any], sentences: Iterable[Sentence] = (), atol: float = 1e-4) -> None:
    """Check that an incremental language model keeps its contract; `sentences` are samples of your own.

    - States are values: advancing from a state does not change it, so advancing again gives the same ln p.
    - The ln p of a word is not above 0 (to 1e-6).
    - The values of `advance` and `finish` sum to those of `score`, within `atol`, if the model is a `LanguageModel`.
    - Steps from many states in one call, if the model is a `BatchedLM`, have the values of single steps, within `atol`.
    """
    steps: list[tuple[Any, str]] = []
    for sentence in [*sentences, *(text.split() for text in SENTENCES)]:
        state, total = model.start(), 0.0
        for word in sentence:
            first, following = model.advance(state, word)
            model.advance(state, "another")
            second, _ = model.advance(state, word)
            assert first == second, f"advance({word!r}) changed the state that it started from"
            assert first <= 1e-6, f"ln p({word!r}) must not be above 0, found {first}"
            steps.append((state, word))
            state, total = following, total + first
        total += model.finish(state)
        if isinstance(model, LanguageModel):
            whole = float(model.score([sentence])[0].sum())
            assert abs(whole - total) <= atol, f"{sentence}: steps sum to {total}, the sentence has {whole}"
    if isinstance(model, BatchedLM):
        _check_batches(model, steps, atol)


def _check_batches(model: Any, steps: Sequence[tuple[Any, str]], atol: float) -> None:
    states, words = [state for state, _ in steps], [word for _, word in steps]
    values, following = model.advance_all(states, words)
    assert len(following) == len(steps), f"advance_all: {len(following)} states after {len(steps)} steps"
    alone = [model.advance(state, word) for state, word in steps]
    np.testing.assert_allclose(values, [ln_p for ln_p, _ in alone], 0, atol, err_msg="advance_all and advance differ")
    np.testing.assert_allclose(
        model.finish_all(following), [model.finish(state) for _, state in alone], 0, atol,
        err_msg="after advance_all and after advance, the states differ",
    )  # fmt: skip
    assert len(model.advance_all([], [])[0]) == len(model.finish_all([])) == 0, "of no states there are no values"


@_assertions
def check_parser(parser: Parser, sentences: Sequence[Sentence]) -> None:
    """Check that a parser keeps its contract on `sentences` of your own, to which an empty one is added.

    - There is one parse for each sentence, and `parse([])` is an empty list.
    - A tree covers exactly the tokens of its sentence. A dependency tree has a head and a relation for each word, a tag
      for each word or no tags, and a single root, and it has no cycles.
    - The k best constituency trees are different from each other, and their ln p are finite.
    - An empty sentence has an empty parse, `Parse()`; any other sentence may have one.
    - A sentence has the same parse each time, in any order of sentences, alone, and from a pickled copy.
    """
    _check_options("parser", parser)
    texts = [*sentences, ()]
    parses = parser.parse(texts)
    assert len(parses) == len(texts), f"{len(parses)} parses for {len(texts)} sentences"
    for sentence, parse in zip(texts, parses, strict=True):
        tree = parse.dependencies
        if tree is not None:
            assert tree.words == tuple(sentence), f"the tree covers {tree.words}, the sentence is {tuple(sentence)}"
            assert len(tree.heads) == len(tree.relations) == len(tree.words), "one head and relation per word"
            assert len(tree.tags) in (0, len(tree.words)), "one tag per word, or none at all"
            fault = tree_fault(tree.heads)
            assert fault is None, f"{' '.join(sentence)}: {fault}"
        for constituents, _ in parse.constituents:
            assert constituents.words() == tuple(sentence), f"{constituents} does not cover {tuple(sentence)}"
        scores = [score for _, score in parse.constituents]
        assert all(np.isfinite(scores)), f"ln p of trees must be finite, found {scores}"
        assert len({best for best, _ in parse.constituents}) == len(scores), "the k best trees must all be different"
    assert parses[-1].is_empty, "an empty sentence must have an empty parse"
    _check_same(parser.parse(texts), parses, "parsing again must give the same parses")
    _check_same(parser.parse(texts[::-1])[::-1], parses, "parses must not depend on the order of sentences")
    alone = [parser.parse([text])[0] for text in texts[:5]]
    _check_same(alone, parses[:5], "a sentence alone must have the same parse")
    _check_same(pickle.loads(pickle.dumps(parser)).parse(texts), parses, "a pickled copy must parse the same")
    assert parser.parse([]) == [], "no sentences must give an empty list"


def _check_same(parses: Sequence[Parse], others: Sequence[Parse], message: str) -> None:
    """Check that the trees are the same, in the same order; ln p may differ by rounding."""
    assert len(parses) == len(others), message
    for parse, other in zip(parses, others, strict=True):
        assert parse.dependencies == other.dependencies, message
        assert [tree for tree, _ in parse.constituents] == [tree for tree, _ in other.constituents], message
        scores, wanted = ([score for _, score in p.constituents] for p in (parse, other))
        np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-4, err_msg=message)


@_assertions
def check_metric(metric: Metric, hypotheses: Sequence[str] = SENTENCES, reference: str = SENTENCES[0]) -> None:
    """Check that a metric keeps its contract; `hypotheses` (two or more) and `reference` may be your own.

    - `statistics` gives a float64 row for each hypothesis, segment after segment, which does not depend on the other
      hypotheses; the order of the references does not change its score.
    - A text in place of a sequence of texts is an error, not a sequence of characters (call `check_texts`).
    - `score` works over any leading axes, and is finite also for statistics that are all 0.
    - `sentence_scores` gives a finite score for each row, and no hypothesis beats the reference itself.
    - `pairwise` equals the sentence scores of the pairs (to 1e-7).
    - `signature` is not empty.
    """
    _check_options("metric", metric)
    references = [[reference, SENTENCES[1]], [SENTENCES[2]]]
    groups = [list(hypotheses), list(hypotheses[::-1])]
    rows = metric.statistics(groups, references)
    assert rows.shape[0] == sum(map(len, groups)), f"{rows.shape[0]} rows for {sum(map(len, groups))} hypotheses"
    assert rows.dtype == np.float64, f"type {rows.dtype}, wanted float64"
    flat: tuple[tuple[Any, Any], ...] = ((groups, [reference] * 2), (["a", "b"], references), ("ab", references))
    for texts, others in flat:
        try:
            metric.statistics(texts, others)
        except (TypeError, ValueError, RerankError):
            continue
        raise AssertionError(
            f"statistics took {texts!r:.60} and {others!r:.60}, a text in place of a list of texts: call check_texts"
        )
    alone = metric.statistics([[hypotheses[1]]], references[:1])
    np.testing.assert_array_equal(alone[0], rows[1], "a row must not depend on the other hypotheses")
    swapped = metric.statistics(groups[:1], [references[0][::-1]])
    better = 1.0 if metric.higher_is_better else -1.0
    np.testing.assert_allclose(
        metric.sentence_scores(swapped), metric.sentence_scores(rows[: len(hypotheses)]), 1e-9,
        err_msg="the order of references must not matter",
    )  # fmt: skip
    totals = np.stack([rows.sum(axis=0), rows[0], np.zeros(rows.shape[1])])
    scores = metric.score(totals)
    assert scores.shape == (3,), f"score of (3, S) totals has shape {scores.shape}, wanted (3,)"
    assert np.isfinite(scores).all(), f"scores must be finite, also of empty statistics: {scores}"
    np.testing.assert_allclose(metric.score(totals[0]), scores[0], err_msg="score must work row by row")
    np.testing.assert_allclose(metric.score(totals[None])[0], scores, err_msg="score must work over leading axes")
    single = metric.sentence_scores(rows)
    assert single.shape == (len(rows),), f"sentence_scores has shape {single.shape}, wanted ({len(rows)},)"
    assert np.isfinite(single).all(), f"sentence scores must be finite: {single}"
    perfect = metric.sentence_scores(metric.statistics([[reference]], [[reference]]))[0]
    others = metric.sentence_scores(metric.statistics([list(hypotheses)], [[reference]]))
    assert (better * (perfect - others) >= -1e-9).all(), f"the reference itself scores {perfect}, beaten: {others}"
    texts = [text for text in hypotheses if text]
    table = metric.pairwise(texts)
    naive = Metric.pairwise(metric, texts)
    np.testing.assert_allclose(table, naive, 1e-7, 1e-7, err_msg="pairwise must equal sentence scores of pairs")
    assert metric.signature(), "the signature must name the settings of the score"


@_assertions
def check_tuner(tuner: Tuner, metric: Metric, segments: int = 12, size: int = 15, seed: int = 0) -> None:
    """Check that a tuner keeps its contract, on random lists in which one feature counts the wrong words.

    There are `segments` lists of `size` hypotheses, drawn with `seed`, and three features: the telling one, noise, and
    one whose weight is fixed.

    - There is one finite weight for each feature, and the same seed gives the same weights.
    - Where the decision is "map": the fixed weight keeps its value, weights are within their bounds, the telling
      feature has a positive weight, and the tuned weights do not score worse than the ones that tuning started from.
    """
    _check_options("tuner", tuner)
    data = _tuning_data(metric, segments, size, np.random.default_rng(seed))
    start = np.array([0.1, 0.3, 0.2])
    result = tuner.tune(data, start.copy(), np.random.default_rng(seed))
    again = tuner.tune(data, start.copy(), np.random.default_rng(seed))
    assert result.weights.shape == start.shape, f"{result.weights.shape} weights, wanted {start.shape}"
    assert np.isfinite(result.weights).all(), f"weights must be finite: {result.weights}"
    np.testing.assert_array_equal(result.weights, again.weights, "the same seed must give the same weights")
    if result.decision == "map":
        assert result.weights[2] == start[2], f"fixed weight changed from {start[2]} to {result.weights[2]}"
        assert result.weights[0] > 0, f"the telling feature got weight {result.weights[0]}"
        assert (result.weights >= data.lower - 1e-12).all(), f"below its bound: {result.weights}"
        assert (result.weights <= data.upper + 1e-12).all(), f"above its bound: {result.weights}"
        chosen, before = (_chosen_score(data, weights) for weights in (result.weights, start))
        better = 1.0 if metric.higher_is_better else -1.0
        assert better * (chosen - before) >= -1e-9, f"tuning went from {before} to {chosen}"


def _tuning_data(metric: Metric, segments: int, size: int, rng: np.random.Generator) -> TuningData:
    vocabulary = ["the", "a", "cat", "dog", "saw", "heard", "big", "small", "man", "old", "garden", "in"]
    references = [[" ".join(rng.choice(vocabulary, 8))] for _ in range(segments)]
    lists = []
    for (reference,) in references:
        words = reference.split()
        wrong = [rng.choice(8, rng.integers(1, 8), replace=False) for _ in range(size)]
        lists.append([" ".join("xyz" if i in w else words[i] for i in range(8)) for w in wrong])
    statistics = metric.statistics(lists, references)
    errors = np.array([text.split().count("xyz") for nbest in lists for text in nbest], float)
    values = np.stack([-errors, rng.normal(size=len(errors)), rng.normal(size=len(errors))], axis=1)
    table = FeatureTable.dense(("telling", "noise", "fixed"), values, np.arange(segments + 1) * size)
    bounds = np.full(3, np.inf)
    return TuningData(table, statistics, metric, np.array([False, False, True]), -bounds, bounds, lists)


def _chosen_score(data: TuningData, weights: Any) -> float:
    scores, offsets = data.table.scores(weights), data.table.offsets
    rows = [start + int(np.argmax(scores[start:stop])) for start, stop in pairwise(offsets)]
    return float(data.metric.score(data.statistics[rows].sum(axis=0)))


@_assertions
def check_format(format: NBestFormat, text: str, *, keeps_features: bool = True) -> None:
    """Check that a format keeps its contract on `text`, the content of a sample file of your own.

    - The text has at least one list, and reading and then writing it gives the same text, character by character.
    - Rescored lists that are written to one file and read again have the new order and their segment ids, the new
      totals if the format `keeps_totals`, and the new feature if `keeps_features` is true of it (and of the argument).
    """
    _check_options("format", format)
    lines = text.splitlines(keepends=True) if "\u2028" not in text else [text]
    lists = list(format.read(iter(lines), "sample"))
    assert lists, "the sample text must hold at least one list"
    written = "".join(line for nbest in lists for line in format.write(nbest))
    assert written == text, f"reading then writing changed the text:\n{text!r}\n{written!r}"
    rescored = [_reversed_with_feature(nbest) for nbest in lists]
    file = [line for nbest, result in zip(lists, rescored, strict=True) for line in format.write(nbest, result)]
    read_again = list(format.read(iter(file), "sample"))
    assert len(read_again) == len(lists), f"{len(lists)} lists were written, but {len(read_again)} are read"
    for nbest, again, result in zip(lists, read_again, rescored, strict=True):
        order = list(result.order)
        assert again.texts == nbest.select(order).texts, "the new order was not written"
        assert again.segment_id == nbest.segment_id, f"id {nbest.segment_id!r} became {again.segment_id!r}"
        if format.keeps_totals:
            assert [h.score for h in again] == [float(row) for row in order], "the new totals were not written"
        if keeps_features and format.keeps_features:
            features = [dict(zip(again.feature_names, h.features, strict=True)) | dict(h.sparse) for h in again]
            wanted = [float(result.values[row, 0]) for row in order]
            assert [named.get("NewFeature", 0.0) for named in features] == wanted, "the new feature was not written"


def _reversed_with_feature(nbest: NBestList) -> Rescored:
    """A rescoring that turns the list round and adds a feature."""
    rows = np.arange(float(len(nbest)))
    return Rescored(("NewFeature",), rows[:, None] / 4, rows, list(range(len(nbest)))[::-1])
