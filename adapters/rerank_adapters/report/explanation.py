"""Why one hypothesis of a segment beats another: the facts of both, as values and as a record in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rerank_plugins import Parse

SHOWN_FEATURES, WIDTH = 10, 100  # of an explanation that is printed


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


class FeatureLead(NamedTuple):
    """A feature with its weight, its values in both hypotheses, and its part of the first one's lead."""

    feature: str
    family: str
    weight: float
    first: float
    second: float
    lead: float


@dataclass(frozen=True)
class WordScores:
    """The scores of the words of both sentences by the models of the labels; `</s>` is a word where it has one."""

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
    contributions: tuple[FeatureLead, ...]
    words: tuple[WordScores, ...]
    parses: tuple[Parses, ...]

    def __repr__(self) -> str:
        """The lines that `rerank explain` prints, with ten features."""
        from rerank_adapters.report.explanation_lines import explanation_lines

        return "\n".join(explanation_lines(self, SHOWN_FEATURES, WIDTH))


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
