"""Explains why one hypothesis of a segment beats another: contributions of features, scores of words, trees.

    score(A) - score(B) = Σ_f w_f (x_f(A) - x_f(B))

for a weighted sum. Weights with a margin raise the total of the decoder's 1-best, which counts like a feature that the
1-best alone has. Under MBR the choice goes by expected utilities, of which this sum is the model score alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rerank_adapters.apply import rerank, weighted
from rerank_adapters.chain.job import Job
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, Parse, Parser, Rescored

NAMES = {
    "best": "new 1-best",
    "first": "decoder's 1-best",
    "second": "new second",
    "oracle": "oracle",
    "worst": "worst",
}
SHOWN_FEATURES, WIDTH = 10, 100  # of an explanation that is printed
MARGIN = "margin"  # stands for the name of a feature
CHOICES = "best, first, second, oracle, worst, a rank in the decoder's order, or the text of a hypothesis"


@dataclass(frozen=True)
class Side:
    """One of the two hypotheses that are compared.

    `name` says how it was chosen; `rank` is its place in the decoder's list, `new_rank` that after reranking, both from
    1. `score` is the total by which lists are reranked. `metrics` has its sentence score by each metric, where there
    are references.
    """

    name: str
    rank: int
    new_rank: int
    text: str
    score: float
    metrics: dict[str, float]


class Contribution(NamedTuple):
    """A feature with its weight, its values in both hypotheses, and what it adds to the first one's lead."""

    feature: str
    family: str
    weight: float
    first: float
    second: float
    lead: float


@dataclass(frozen=True)
class WordScores:
    """The scores of the words of both sentences by what the labels name; `</s>` is a word where it has a score."""

    labels: tuple[str, ...]
    first: list[tuple[str, float]]
    second: list[tuple[str, float]]


class Parses(NamedTuple):
    """The parses of both sentences by the parser of the features that `label` names."""

    label: str
    first: Parse
    second: Parse


@dataclass(frozen=True, repr=False)
class Explanation:
    """All that is known of a segment and two of its hypotheses; contributions come in order of their size."""

    segment_id: str
    source: str | None
    references: tuple[str, ...]
    decision: str
    hypotheses: int
    first: Side
    second: Side
    contributions: tuple[Contribution, ...]
    words: tuple[WordScores, ...]
    parses: tuple[Parses, ...]

    def __repr__(self) -> str:
        """The lines that `rerank explain` prints, with ten features."""
        from rerank_adapters.analysis.explanation_report import explanation_lines

        return "\n".join(explanation_lines(self, SHOWN_FEATURES, WIDTH))


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
    wanted = choice.split()
    for position, hypothesis in enumerate(nbest):
        if hypothesis.words == wanted:
            return position
    raise ConfigError(f"{where}: no hypothesis {choice!r}; wanted {CHOICES}")


def contributions(
    job: Job,
    table: FeatureTable,
    weights: FloatArray,
    first: int,
    second: int,
    raised: float = 0.0,
) -> tuple[Contribution, ...]:
    """What each feature adds to the lead of row `first` of the table over row `second`; the largest comes first.

    `raised` is what a margin adds to the total of row 0, which is a row of the result if one of the two is that row.
    Features without a weight, and sparse ones that neither row has, are left out.
    """
    family = {name: label for label, names in job.columns.items() for name in names}
    values = np.stack([_row(table, first), _row(table, second)])
    used = np.flatnonzero((weights != 0) & ((np.arange(len(weights)) < len(table.names)) | values.any(axis=0)))
    rows = [
        Contribution(
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
        rows.append(Contribution(MARGIN, MARGIN, raised, *values_of_margin, lead))
    return tuple(sorted(rows, key=lambda row: -abs(row.lead)))


def _row(table: FeatureTable, row: int) -> FloatArray:
    """(features) the values of a row, the sparse ones among them."""
    sparse = np.zeros(len(table.sparse.names))
    entries = slice(int(table.sparse.indptr[row]), int(table.sparse.indptr[row + 1]))
    sparse[table.sparse.indices[entries]] = table.sparse.data[entries]
    return np.concatenate([table.values[row], sparse])


def word_scores(job: Job, both: NBestList) -> tuple[WordScores, ...]:
    """The word scores of two hypotheses by each feature of the job that has some, then by its other language models.

    Features that give the same scores to the same words share a row.
    """
    rows: list[WordScores] = []
    for feature in job.features:
        (seen,) = feature.read([both])
        _add(rows, feature.label, [hypothesis.words for hypothesis in seen], feature.extractor.word_scores(seen))
    for name in job.config.language_model:
        sentences = [hypothesis.words for hypothesis in both]
        _add(rows, name, sentences, job.models.language_model(name).word_values(sentences))
    return tuple(rows)


def _add(
    rows: list[WordScores], label: str, sentences: Sequence[Sequence[str]], scores: list[FloatArray] | None
) -> None:
    """Add a row, or the label to a row that is the same."""
    if scores is None:
        return
    first, second = (
        list(zip((*words, "</s>"), values.tolist(), strict=False))
        for words, values in zip(sentences, scores, strict=True)
    )
    for number, row in enumerate(rows):
        if (row.first, row.second) == (first, second):
            rows[number] = WordScores((*row.labels, label), first, second)
            return
    rows.append(WordScores((label,), first, second))


def parses_of(job: Job, texts: tuple[str, str], named: Sequence[str]) -> tuple[Parses, ...]:
    """The parses of both texts by the parsers `named`, or else by those that the job's features use."""
    parsers: list[tuple[list[str], TextPipeline, Parser]] = []
    if named:
        parsers = [([spec], TextPipeline(), job.models.parser(spec)) for spec in named if spec != "none"]
    else:
        for feature in job.features:
            label, pipeline = feature.label, feature.text
            for parser in feature.extractor.parsers:
                known = next((labels for labels, text, other in parsers if (text, other) == (pipeline, parser)), None)
                if known is None:
                    parsers.append(([label], pipeline, parser))
                else:
                    known.append(label)
    return tuple(
        Parses(", ".join(labels), *parser.parse([text.split() for text in pipeline.apply(texts)]))
        for labels, pipeline, parser in parsers
    )


def explain(
    job: Job,
    weights: Weights,
    nbest: NBestList,
    references: tuple[str, ...],
    table: FeatureTable,
    choices: tuple[str, str],
    parsers: Sequence[str] = (),
) -> Explanation:
    """Explain why the first choice beats the second, or what it lacks.

    `job` is the one that the weights record, `table` the features of this list alone, and `choices` are among CHOICES.
    Raises ConfigError for a choice that the list does not have, and where weights and table have different features.
    """
    features, form = job.features, job.format
    ((_, rescored),) = rerank([(nbest, table)], weights, job.measures[0], features=features, form=form)
    in_order, vector = weighted(nbest, table, weights, features, form)
    raised = 0.0
    if weights.margin and weights.decision == "map":
        raised = float(rescored.scores[0] - in_order.scores(vector)[0])
    scores = {}
    if references:
        for measure in job.measures:
            statistics = measure.statistics([nbest.texts], [references], [nbest.source])
            scores[measure.name] = measure.metric.sentence_scores(statistics)
    measure = job.measures[0]
    merits, higher = scores.get(measure.name), measure.metric.higher_is_better
    first, second = (choose(choice, nbest, rescored, merits, higher) for choice in choices)
    new_rank = {int(position): rank for rank, position in enumerate(rescored.order, 1)}

    def side(choice: str, position: int) -> Side:
        by_metric = {name: float(values[position]) for name, values in scores.items()}
        name = NAMES.get(choice, "hypothesis")
        total = float(rescored.scores[position])
        return Side(name, position + 1, new_rank[position], nbest[position].text, total, by_metric)

    texts_of = nbest[first].text, nbest[second].text
    return Explanation(
        nbest.segment_id,
        nbest.source,
        references,
        weights.decision,
        len(nbest),
        side(choices[0], first),
        side(choices[1], second),
        contributions(job, in_order, vector, first, second, raised),
        word_scores(job, nbest.select([first, second])),
        parses_of(job, texts_of, parsers),
    )


def explanation_record(explanation: Explanation) -> dict[str, Any]:
    """The explanation in plain values for JSON: trees in brackets, dependencies as lists."""
    return {
        "segment": explanation.segment_id,
        "source": explanation.source,
        "references": list(explanation.references),
        "decision": explanation.decision,
        "a": vars(explanation.first),
        "b": vars(explanation.second),
        "contributions": [row._asdict() for row in explanation.contributions],
        "words": [
            {"models": list(row.labels), "a": _pairs(row.first), "b": _pairs(row.second)} for row in explanation.words
        ],
        "parses": [
            {"features": parses.label, "a": _parse(parses.first), "b": _parse(parses.second)}
            for parses in explanation.parses
        ],
    }


def _pairs(scores: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"word": word, "score": score} for word, score in scores]


def _parse(parse: Parse) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if parse.dependencies is not None:
        tree = parse.dependencies
        record["dependencies"] = [
            {"word": word, "head": head + 1, "relation": relation}
            for word, head, relation in zip(tree.words, tree.heads, tree.relations, strict=True)
        ]
    if parse.tree is not None:
        record["constituents"] = str(parse.tree)
        record["ln_p"] = parse.constituents[0].log_probability
    return record
