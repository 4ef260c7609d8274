"""Writes the result of an evaluation in one sentence."""

from __future__ import annotations

from rerank_adapters.evaluation.result import Evaluation
from rerank_adapters.report import numbers

BASELINES = {"1-best": "the decoder's 1-best"}  # names of baselines in a sentence


def headline(evaluation: Evaluation, system: str | None = None) -> str:
    """As `+5.9 BLEU over the decoder's 1-best, p < .001; 65 of 100 segments changed`.

    The p-value is the larger one of the tests that were run. `system` is the last one unless it is named; a baseline
    that stands alone has its score as the result.
    """
    metric = evaluation.metrics[0]
    system = system if system in evaluation.systems else evaluation.systems[-1]
    scores = metric.of(system)
    comparison = scores.comparison
    if comparison is None:
        return f"{scores.score:.1f} {metric.name} on {len(evaluation.segments)} segments"
    baseline = BASELINES.get(evaluation.baseline, evaluation.baseline)
    old, new = evaluation.systems.index(evaluation.baseline), evaluation.systems.index(system)
    changed = sum(segment.outputs[old] != segment.outputs[new] for segment in evaluation.segments)
    changes = f"{changed} of {len(evaluation.segments)} segments changed"
    if not changed:
        return f"No output differs from {baseline}: {scores.score:.1f} {metric.name}"
    p_values = [p for p in (comparison.bootstrap_p, comparison.randomisation_p) if p is not None]
    return f"{comparison.difference:+.1f} {metric.name} over {baseline}{_p(p_values)}; {changes}"


def _p(p_values: list[float]) -> str:
    if not p_values:
        return ""
    written = numbers.p_value(max(p_values))
    return f", p {'< ' + written[1:] if written.startswith('<') else '= ' + written}"
