"""Writes an evaluation as one HTML page that needs no other file: style, drawings, data and the search are in it.

It begins with the result in one sentence. Scores, differences, what is known of the tuning, and length buckets follow
as tables and drawings; then every segment with the words that changed, those that changed most first. Without
JavaScript the page still shows all of this; the details of single segments, which are drawn on demand, need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.report import numbers
from rerank_adapters.report.held_out_gain import gain_text, no_gain
from rerank_adapters.report.page import figure, packed, page, table_part
from rerank_adapters.report.run_facts import HeldOut, RunFacts
from rerank_adapters.report.svg import Row, grouped_bars, interval_rows, lines
from rerank_adapters.report.tables import (
    bucket_table,
    contribution_table,
    error_table,
    gain_table,
    group_table,
    noise,
    score_table,
    segment_table,
)
from rerank_adapters.report.words import word_differences

TAGS = {"kept": "{}", "deleted": "<del>{}</del>", "inserted": "<ins>{}</ins>"}
ORDERS = {
    "changed": "that changed most",
    "better": "that gained most",
    "worse": "that lost most",
    "place": "in their order",
}
KEYS = "<kbd>j</kbd> <kbd>k</kbd> or arrows: next, previous · <kbd>Enter</kbd>: details · <kbd>/</kbd>: search"
WEIGHTS = 20  # features that are drawn; the largest parts come first
BASELINES = {"1-best": "the decoder's 1-best"}  # names of baselines in a sentence


def segments_part(evaluation: Evaluation, facts: RunFacts) -> str:
    """The heading, the tools and the table of all segments."""
    first = evaluation.metrics[0]
    others = [system for system in evaluation.systems if system != evaluation.baseline]
    main = facts.system if facts.system in others else others[-1] if others else evaluation.baseline
    before = first.of(evaluation.baseline).sentence_scores
    gains = [first.gain(new - old) for new, old in zip(first.of(main).sentence_scores, before, strict=True)]
    new, old = (evaluation.systems.index(name) for name in (main, evaluation.baseline))
    same = [segment.outputs[old] == segment.outputs[new] for segment in evaluation.segments]
    order = sorted(range(len(gains)), key=lambda place: (-abs(gains[place]), same[place]))
    headings = ["segment", "text", *evaluation.systems, *(f"{name} − {evaluation.baseline}" for name in others)]
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in headings)
    options = "".join(f'<option value="{key}">{label}</option>' for key, label in ORDERS.items())
    rows = "\n".join(_segment(evaluation, first, place, gains[place], facts) for place in order)
    return (
        '<h2 id="all">Segments</h2><p class="tools"><input id="search" type="search" aria-label="search segments" '
        f'placeholder="search segments"> <label>first those <select id="order">{options}</select></label> '
        f'<span id="shown" role="status"></span></p><p class="notes">Scores are sentence {escape(first.name)}; deleted '
        f'and inserted words are against {escape(evaluation.baseline)}. <span class="keys">{KEYS}</span></p>\n'
        f'<table id="segments"><thead><tr>{head}</tr></thead>\n{rows}\n</table>'
    )


def _segment(evaluation: Evaluation, metric: MetricResult, place: int, gain: float, facts: RunFacts) -> str:
    segment = evaluation.segments[place]
    old = evaluation.systems.index(evaluation.baseline)
    lines = [] if segment.source is None else [_line("source", escape(segment.source))]
    lines += [_line("reference", escape(reference)) for reference in segment.references]
    for i, system in enumerate(evaluation.systems):
        output = segment.outputs[i]
        lines.append(_line(system, escape(output) if i == old else _differing(segment.outputs[old], output)))
    scores = [metric.of(system).sentence_scores[place] for system in evaluation.systems]
    cells = [
        f'<td data-label="{escape(name)}">{score:.2f}</td>'
        for name, score in zip(evaluation.systems, scores, strict=True)
    ]
    cells += [
        _change(metric, scores[i] - scores[old], f"{name} − {evaluation.baseline}")
        for i, name in enumerate(evaluation.systems)
        if i != old
    ]
    number = f'<td data-label="segment">{escape(segment.segment_id)}</td>'
    data = f'data-place="{place}" data-gain="{gain:.4g}"'
    row = f"<tr>{number}<td>{''.join(lines)}</td>{''.join(cells)}</tr>"
    return f'<tbody tabindex="-1" {data}>{row}{_details(segment.segment_id, 2 + len(cells), facts)}</tbody>'


def _details(segment: str, columns: int, facts: RunFacts) -> str:
    """A row across all columns, which trees need; none where nothing is known."""
    if segment not in facts.explanations:
        return ""
    details = f'<details class="why" data-segment="{escape(segment)}"><summary>Why</summary></details>'
    return f'<tr><td colspan="{columns}">{details}</td></tr>'


def _line(label: str, text: str) -> str:
    return f"<div><b>{escape(label)}</b> {text}</div>"


def _differing(before: str, after: str) -> str:
    return " ".join(TAGS[piece.kind].format(escape(piece.text)) for piece in word_differences(before, after))


def _change(metric: MetricResult, change: float, label: str) -> str:
    kind = "same" if abs(change) < 0.005 else "better" if metric.gain(change) > 0 else "worse"
    return f'<td class="{kind}" data-label="{escape(label)}">{change:+.2f}</td>'


def facts_parts(facts: RunFacts, metric: str) -> Iterator[str]:
    """The parts for all that is known; none of an evaluation without a run."""
    drawings = [*_contributions(facts, metric), *_weights(facts), *_list_lengths(facts, metric), *_curve(facts, metric)]
    if drawings:
        yield '<h2>How it came about</h2><div class="flow">'
        yield from drawings
        yield "</div>"
    if facts.contributions is not None:
        table = table_part(contribution_table(facts.contributions, metric), heading=False)
        yield f"<details><summary>Contribution of each family, as a table</summary>{table}</details>"


def _contributions(facts: RunFacts, metric: str) -> Iterator[str]:
    if facts.contributions is not None:
        rows = [
            Row(
                row.family,
                row.loss,
                Interval(row.loss - row.half_width, row.loss + row.half_width),
                f"{row.loss:+.2f}",
                ("good" if row.loss > 0 else "bad") if row.certain else "s5",
            )
            for row in sorted(facts.contributions.rows, key=lambda row: -row.loss)
        ]
        folds = facts.contributions.folds
        caption = (
            f"How much worse choices on {folds} held-out folds of the tuning lists are without each family, or without"
            f" several that stand in for each other. Lines are 95 % intervals. {noise(facts.contributions)}"
        )
        yield figure(interval_rows(rows, f"{metric} lost without it"), caption, "Contribution of each family")


def _weights(facts: RunFacts) -> Iterator[str]:
    shown = sorted(facts.weights, key=lambda weight: -abs(weight.part))[:WEIGHTS]
    if shown:
        rows = [Row(weight.feature, weight.part, weight.interval, f"{weight.weight:.4g}") for weight in shown]
        caption = "Right of each name is its raw weight; the dot is weight × deviation within lists."
        if facts.samples:
            caption += f" Lines are 95 % intervals from {facts.samples} resampled tuning sets."
        if len(shown) < len(facts.weights):
            caption += f" The {len(facts.weights) - len(shown)} other features have smaller parts."
        yield figure(interval_rows(rows, "deviations of the whole score"), caption, "Feature weights")


def _list_lengths(facts: RunFacts, metric: str) -> Iterator[str]:
    lists = facts.lists
    if lists is not None and len(lists.lengths) > 1:
        series = {"oracle": list(zip(lists.lengths, lists.oracle, strict=True))}
        if lists.reranked:
            series["reranked"] = list(zip(lists.lengths, lists.reranked, strict=True))
        caption = "The best choice from the first n hypotheses of each list, and the choice by the tuned weights."
        drawn = lines(series, "first n hypotheses (log scale)", metric, logarithmic=True)
        yield figure(drawn, caption, "Score against n")


def _curve(facts: RunFacts, metric: str) -> Iterator[str]:
    runs = [scores for scores in facts.curve if len(scores) > 1]
    if runs:
        names = [f"restart {number}" for number in range(1, len(runs) + 1)] if len(runs) > 1 else ["tuning"]
        series = {
            name: [(float(i), score) for i, score in enumerate(scores, 1)]
            for name, scores in zip(names, runs, strict=True)
        }
        score = "" if facts.tuning_score is None else f" It ends with {numbers.score(facts.tuning_score)}."
        yield figure(lines(series, "iteration", metric), f"{metric} on the tuning set.{score}", "Tuning curve")


def headline(evaluation: Evaluation, system: str | None = None, held: HeldOut | None = None) -> str:
    """As `+5.9 BLEU over the decoder's 1-best, p < .001; 65 of 100 segments changed`.

    The p-value is the larger one of the tests that were run. A sentence follows where the gain on held-out lists,
    `held`, is not shown. `system` is the last one unless it is named; a baseline that stands alone has its score as the
    result.
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
    unsure = "" if held is None or held.certain else f". {no_gain(held)} ({gain_text(held)})"
    return f"{comparison.difference:+.1f} {metric.name} over {baseline}{_p(p_values)}; {changes}{unsure}"


def _p(p_values: list[float]) -> str:
    if not p_values:
        return ""
    written = numbers.p_value(max(p_values))
    return f", p {'< ' + written[1:] if written.startswith('<') else '= ' + written}"


def html_page(evaluation: Evaluation, title: str = "Evaluation", facts: RunFacts | None = None) -> str:
    """The whole page as text; write it as UTF-8. The `facts` of the job follow the scores."""
    facts = facts or RunFacts()
    return page(title, _body(evaluation, title, facts), "page.js")


def _body(evaluation: Evaluation, title: str, facts: RunFacts) -> Iterable[str]:
    metrics = evaluation.metrics
    yield f'<header><p class="kicker">{escape(title)}</p>'
    yield f"<h1>{escape(headline(evaluation, facts.system, facts.held_out))}</h1>"
    yield f"{_particulars(evaluation, facts)}</header>"
    yield f'<div class="row"><section>{table_part(score_table(evaluation))}</section>'
    if metrics[0].pairs:
        yield f"<section>{table_part(gain_table(evaluation))}</section>"
    yield "</div>"
    if drawings := list(_differences(evaluation)):
        yield f'<h2>Differences to {escape(evaluation.baseline)}</h2><div class="plots">'
        yield from drawings
        yield "</div>"
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
        "held out": "" if facts.held_out is None else gain_text(facts.held_out),
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
                (
                    "s0"
                    if not scores.comparison.stars
                    else "good"
                    if metric.gain(scores.comparison.difference) > 0
                    else "bad"
                ),
            )
            for scores in metric.systems
            if scores.comparison is not None
        ]
        if rows:
            better = "right" if metric.higher_is_better else "left"
            caption = f"Lines are 95 % intervals; better is to the {better}." if evaluation.bootstrap else ""
            yield figure(interval_rows(rows, f"difference in {metric.name}"), caption, metric.name)


def _lengths(evaluation: Evaluation) -> Iterable[str]:
    yield '<h2>By length</h2><div class="plots">'
    labels = [bucket.label for bucket in evaluation.buckets]
    for metric in evaluation.metrics:
        series = {scores.system: scores.bucket_scores for scores in metric.systems}
        yield figure(grouped_bars(labels, series, "words of the reference", metric.name), "", metric.name)
    yield "</div><details><summary>The same as tables</summary>"
    yield from (table_part(bucket_table(evaluation, metric)) for metric in evaluation.metrics)
    yield "</details>"
