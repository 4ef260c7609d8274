"""Turns an explanation into a record for programs and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rerank_adapters.chain.explanation import Explanation
from rerank_plugins import Parse


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
