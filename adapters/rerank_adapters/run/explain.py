"""Explains why one hypothesis of a segment beats another: contributions of features, scores of words, trees.

    score(A) - score(B) = Σ_f w_f (x_f(A) - x_f(B))

for a weighted sum. Weights with a margin raise the total of the decoder's 1-best, which counts like a feature that the
1-best alone has. Under MBR the choice goes by expected utilities, of which this sum is the model score alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rerank_adapters.apply import weighted
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.feature import Feature
from rerank_adapters.report.explanation import Explanation, FeatureLead, Parses, Side, WordScores
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    NBestFormat,
    NBestList,
    Parser,
    Rescored,
    SentenceModel,
)
from rerank_plugins.core.contracts import checked_word_scores
from rerank_plugins.core.words import model_words, split_words

NAMES = {
    "best": "new 1-best",
    "first": "decoder's 1-best",
    "second": "new second",
    "oracle": "oracle",
    "worst": "worst",
}
MARGIN = "margin"  # stands for the name of a feature
CHOICES = "best, first, second, oracle, worst, a rank in the decoder's order, or the text of a hypothesis"


def explain(
    nbest: NBestList,
    table: FeatureTable,
    rescored: Rescored,
    references: Sequence[str],
    choices: tuple[str, str],
    *,
    weights: Weights,
    features: Sequence[Feature],
    measures: Sequence[Measure],
    form: NBestFormat,
    models: Mapping[str, SentenceModel],
    parsers: Mapping[str, Parser] | None = None,
) -> Explanation:
    """Explain why the first choice of a list beats the second, or what it lacks.

    `table` has the features of this list alone, and `rescored` its new order by the weights; `choices` are among
    CHOICES, and the first of the `measures` decides which hypothesis is the oracle. `models` score words besides those
    of the features; `parsers` are None for those that the features use. Raises ConfigError for a choice that the list
    does not have, and where weights and table have different features.
    """
    in_order, vector = weighted(nbest, table, weights, form)
    raised = 0.0
    if weights.margin and weights.decision == "map":
        raised = float(rescored.scores[0] - in_order.scores(vector)[0])
    scores = {}
    if references:
        for measure in measures:
            statistics = measure.statistics([nbest.texts], [references], [nbest.source])
            scores[measure.name] = measure.metric.sentence_scores(statistics)
    merits, higher = scores.get(measures[0].name), measures[0].metric.higher_is_better
    first, second = (choose(choice, nbest, rescored, merits, higher) for choice in choices)
    new_rank = {int(position): rank for rank, position in enumerate(rescored.order, 1)}

    def side(choice: str, position: int) -> Side:
        by_metric = {name: float(values[position]) for name, values in scores.items()}
        total = float(rescored.scores[position])
        text = nbest[position].text
        return Side(NAMES.get(choice, "hypothesis"), position + 1, new_rank[position], text, total, by_metric)

    return Explanation(
        nbest.segment_id,
        nbest.source,
        tuple(references),
        weights.decision,
        len(nbest),
        side(choices[0], first),
        side(choices[1], second),
        feature_leads(in_order, vector, features, first, second, raised),
        word_scores(nbest.select([first, second]), features, models),
        parses_of((nbest[first].text, nbest[second].text), features, parsers),
    )


def choose(
    choice: str, nbest: NBestList, rescored: Rescored, sentence_scores: FloatArray | None, higher_is_better: bool
) -> int:
    """The position in the list of the hypothesis that is chosen by CHOICES.

    `sentence_scores` (n) are those of the first metric, None without references. Raises ConfigError for a choice that
    the list does not have.
    """
    where = f"segment {nbest.segment_id}"
    if choice == "best":
        return int(rescored.order[0])
    if choice == "first":
        return 0
    if choice == "second":
        return int(rescored.order[min(1, len(nbest) - 1)])
    if choice in ("oracle", "worst"):
        if sentence_scores is None:
            raise ConfigError(f"{where}: there is no reference, by which the {choice} hypothesis would be chosen")
        merits = sentence_scores if higher_is_better == (choice == "oracle") else -sentence_scores
        return int(np.argmax(merits))
    if choice.isdecimal() and choice not in nbest.texts:
        if not 1 <= int(choice) <= len(nbest):
            raise ConfigError(f"{where}: no rank {choice}; the list has the ranks 1 to {len(nbest)}")
        return int(choice) - 1
    wanted = split_words(choice)
    for position, hypothesis in enumerate(nbest):
        if hypothesis.words == wanted:
            return position
    raise ConfigError(f"{where}: no hypothesis {choice!r}; wanted {CHOICES}")


def feature_leads(
    table: FeatureTable,
    weights: FloatArray,
    features: Sequence[Feature],
    first: int,
    second: int,
    raised: float = 0.0,
) -> tuple[FeatureLead, ...]:
    """What each column adds to the lead of row `first` of the table over row `second`; the largest comes first.

    `raised` is what a margin adds to the total of row 0, which is a row of the result if one of the two is that row.
    Columns without a weight, and sparse ones that neither row has, are left out.
    """
    family = {name: feature.label for feature in features for name in feature.names}
    values = np.stack([_row(table, first), _row(table, second)])
    used = np.flatnonzero((weights != 0) & ((np.arange(len(weights)) < len(table.names)) | values.any(axis=0)))
    rows = [
        FeatureLead(
            table.all_names[i],
            family.get(table.all_names[i], "decoder"),
            float(weights[i]),
            float(values[0, i]),
            float(values[1, i]),
            float(weights[i] * (values[0, i] - values[1, i])),
        )
        for i in used.tolist()
    ]
    if raised and (first == 0) != (second == 0):
        values_of_margin = float(first == 0), float(second == 0)
        lead = raised if first == 0 else -raised
        rows.append(FeatureLead(MARGIN, MARGIN, raised, *values_of_margin, lead))
    return tuple(sorted(rows, key=lambda row: -abs(row.lead)))


def _row(table: FeatureTable, row: int) -> FloatArray:
    """(features) the values of a row, the sparse ones among them."""
    sparse = np.zeros(len(table.sparse.names))
    entries = slice(int(table.sparse.indptr[row]), int(table.sparse.indptr[row + 1]))
    sparse[table.sparse.indices[entries]] = table.sparse.data[entries]
    return np.concatenate([table.values[row], sparse])


def word_scores(
    both: NBestList, features: Sequence[Feature], models: Mapping[str, SentenceModel]
) -> tuple[WordScores, ...]:
    """The word scores of two hypotheses by each feature that has some, then by the language models.

    Features and models that give the same scores to the same words share a row.
    """
    scored: list[tuple[str, Sequence[Sequence[str]], list[FloatArray] | None]] = []
    for feature in features:
        (seen,) = feature.read([both])
        sentences_seen = list(map(model_words, seen.texts))
        scores = checked_word_scores(feature.extractor, sentences_seen, feature.extractor.word_scores(seen))
        scored.append((feature.label, sentences_seen, scores))
    sentences = list(map(model_words, both.texts))
    scored += [(name, sentences, model.word_values(sentences)) for name, model in models.items()]
    rows: list[WordScores] = []
    for label, words, scores in scored:
        if scores is None:
            continue
        first, second = (
            list(zip((*own, "</s>"), values.tolist(), strict=False)) for own, values in zip(words, scores, strict=True)
        )
        same = next((n for n, row in enumerate(rows) if (row.first, row.second) == (first, second)), None)
        if same is None:
            rows.append(WordScores((label,), first, second))
        else:
            rows[same] = replace(rows[same], labels=(*rows[same].labels, label))
    return tuple(rows)


def parses_of(
    texts: tuple[str, str], features: Sequence[Feature], named: Mapping[str, Parser] | None
) -> tuple[Parses, ...]:
    """The parses of both texts by the parsers `named`, or by those that the features use where it is None."""
    if named is not None:
        parsers = [([name], TextPipeline(), parser) for name, parser in named.items()]
    else:
        parsers = []
        for label, text, parser in ((f.label, f.text, parser) for f in features for parser in f.extractor.parsers):
            known = next((labels for labels, *same in parsers if same == [text, parser]), None)
            if known is None:
                parsers.append(([label], text, parser))
            else:
                known.append(label)
    return tuple(
        Parses(", ".join(labels), *parser.parse(list(map(model_words, text.apply(texts)))))
        for labels, text, parser in parsers
    )
