"""Writes an evaluation as one HTML page that needs no other file: style, drawings, data and the search are in it.

It begins with the result in one sentence. Scores, differences, what is known of the tuning, and length buckets follow
as tables and drawings; then every segment with the words that changed, those that changed most first. Without
JavaScript the page still shows all of this; the details of single segments, which are drawn on demand, need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_adapters.report import numbers
from rerank_adapters.report.errors import error_table, group_table
from rerank_adapters.report.html_facts import facts_parts
from rerank_adapters.report.html_segments import segments_part
from rerank_adapters.report.page import figure, packed, page, table_part
from rerank_adapters.report.run_facts import RunFacts
from rerank_adapters.report.svg import Row, grouped_bars, interval_rows
from rerank_adapters.report.tables import Table, bucket_table, gain_table, score_table, segment_table

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


def html_page(
    evaluation: Evaluation, title: str = "Evaluation", tables: Sequence[Table] = (), facts: RunFacts | None = None
) -> str:
    """The whole page as text; write it as UTF-8. Other `tables` of the same job, and its `facts`, follow the scores."""
    facts = facts or RunFacts()
    return page(title, _body(evaluation, title, tables, facts), "page.js")


def _body(evaluation: Evaluation, title: str, tables: Sequence[Table], facts: RunFacts) -> Iterable[str]:
    metrics = evaluation.metrics
    yield f'<header><p class="kicker">{escape(title)}</p>'
    yield f"<h1>{escape(headline(evaluation, facts.system))}</h1>{_particulars(evaluation, facts)}</header>"
    yield f'<div class="row"><section>{table_part(score_table(evaluation))}</section>'
    if metrics[0].pairs:
        yield f"<section>{table_part(gain_table(evaluation))}</section>"
    yield "</div>"
    if drawings := list(_differences(evaluation)):
        yield f'<h2>Differences to {escape(evaluation.baseline)}</h2><div class="plots">'
        yield from drawings
        yield "</div>"
    yield from map(table_part, tables)
    yield from facts_parts(facts, metrics[0].name)
    for metric in metrics:
        if metric.errors:
            yield table_part(error_table(evaluation, metric))
    if len(evaluation.systems) > 1:
        yield table_part(segment_table(evaluation))
    yield from _lengths(evaluation)
    if evaluation.groups:
        yield from (table_part(group_table(evaluation, metric)) for metric in metrics)
    yield segments_part(evaluation, facts)
    if facts.explanations:
        yield packed(dict(facts.explanations), "explanations")


def _particulars(evaluation: Evaluation, facts: RunFacts) -> str:
    """Job, tuner, tuning score, date, size and version, as far as they are known."""
    first = evaluation.metrics[0]
    score = "" if facts.tuning_score is None else f"{numbers.score(facts.tuning_score)} {first.name}"
    known = {
        "job": facts.job,
        "tuner": facts.tuner,
        "tuning score": score,
        "tuned": facts.tuned_at,
        "segments": str(len(evaluation.segments)),
        "rerank-plugins": evaluation.version,
    }
    cells = (f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in known.items() if value)
    return f"<dl>{''.join(cells)}</dl>"


def _differences(evaluation: Evaluation) -> Iterable[str]:
    """For each metric a drawing with a row per system: the difference to the baseline with its interval."""
    for metric in evaluation.metrics:
        rows = [
            Row(
                scores.system,
                scores.comparison.difference,
                scores.comparison.interval,
                numbers.difference(scores.comparison),
                _kind(metric, scores.comparison.difference) if scores.comparison.stars else "s0",
            )
            for scores in metric.systems
            if scores.comparison is not None
        ]
        if rows:
            better = "right" if metric.higher_is_better else "left"
            caption = f"Lines are 95 % intervals; better is to the {better}." if evaluation.bootstrap else ""
            yield figure(interval_rows(rows, f"difference in {metric.name}"), caption, metric.name)


def _kind(metric: MetricResult, difference: float) -> str:
    return "good" if metric.gain(difference) > 0 else "bad"


def _lengths(evaluation: Evaluation) -> Iterable[str]:
    yield '<h2>By length</h2><div class="plots">'
    labels = [bucket.label for bucket in evaluation.buckets]
    for metric in evaluation.metrics:
        series = {scores.system: scores.bucket_scores for scores in metric.systems}
        yield figure(grouped_bars(labels, series, "words of the reference", metric.name), "", metric.name)
    yield "</div><details><summary>The same as tables</summary>"
    yield from (table_part(bucket_table(evaluation, metric)) for metric in evaluation.metrics)
    yield "</details>"
