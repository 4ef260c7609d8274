"""Writes an evaluation as one HTML page that needs no other file: style, drawings, data and the search are in it.

It begins with the result in one sentence. Scores, differences, the facts of the tuning, and length buckets follow as
tables and drawings; then every segment with the words that changed, those that changed most first. Without JavaScript
the page still shows all of this; the details of single segments, which are drawn on demand, need it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rerank_adapters.evaluation.baselines import FIRST, HIGHEST_TOTAL
from rerank_adapters.evaluation.result import Evaluation, MetricResult, places_by_change
from rerank_adapters.report import figures, numbers, tables
from rerank_adapters.report.facts import RunFacts
from rerank_adapters.report.held_out import contribution_table, doubt, gain_text
from rerank_adapters.report.templates import packed, render
from rerank_adapters.report.words import Piece, word_differences
from rerank_adapters.tuning.held_out import HeldOutGain

BASELINES = {FIRST: "the decoder's 1-best", HIGHEST_TOTAL: "the hypotheses of the highest total"}  # in a sentence
MIN_CHANGE = 0.005  # of a sentence score; a smaller one is written as 0.00, and has no colour


class Cell(NamedTuple):
    """A number of a segment with its label; a change is of the kind "better", "worse" or "same"."""

    label: str
    written: str
    kind: str = ""


class SegmentRow(NamedTuple):
    """A segment: its place in the file, the gain that it is sorted by, its texts by label, and its scores."""

    place: int
    gain: str
    name: str
    texts: Sequence[tuple[str, Sequence[Piece]]]
    cells: Sequence[Cell]


def html_page(evaluation: Evaluation, title: str = "Evaluation", facts: RunFacts | None = None) -> str:
    """The whole page as text; write it as UTF-8. The `facts` of the job follow the scores."""
    facts = facts or RunFacts()
    metrics, first = evaluation.metrics, evaluation.metrics[0]
    compared = [tables.error_table(evaluation, metric) for metric in metrics if metric.errors]
    if len(evaluation.systems) > 1:
        compared.append(tables.segment_table(evaluation))
    values = {
        "title": title,
        "evaluation": evaluation,
        "headline": headline(evaluation, facts.system, facts.held_out),
        "particulars": _particulars(evaluation, facts),
        "scores": [tables.score_table(evaluation), *([tables.gain_table(evaluation)] if first.pairs else [])],
        "differences": list(figures.differences(evaluation)),
        "drivers": list(figures.drivers(facts, first.name)),
        "contributions": facts.contributions and contribution_table(facts.contributions, first.name),
        "comparisons": compared,
        "lengths": list(figures.lengths(evaluation)),
        "length_tables": [tables.bucket_table(evaluation, metric) for metric in metrics],
        "groups": [tables.group_table(evaluation, metric) for metric in metrics if evaluation.groups],
        "columns": _columns(evaluation),
        "segments": _segments(evaluation, first, facts.system),
        "explained": facts.explanations,
        "explanations": packed(dict(facts.explanations)),
    }
    return render("page.html.j2", values)


def headline(evaluation: Evaluation, system: str | None = None, held: HeldOutGain | None = None) -> str:
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
    if not changed:
        return f"No output differs from {baseline}: {scores.score:.1f} {metric.name}"
    p_values = [p for p in (comparison.bootstrap_p, comparison.randomisation_p) if p is not None]
    written = numbers.p_value(max(p_values)) if p_values else ""
    p = f", p {'< ' + written[1:] if written.startswith('<') else '= ' + written}" if written else ""
    unsure = "" if held is None or held.certain else f". {doubt(held)} ({gain_text(held)})"
    changes = f"{changed} of {len(evaluation.segments)} segments changed"
    return f"{comparison.difference:+.1f} {metric.name} over {baseline}{p}; {changes}{unsure}"


def _particulars(evaluation: Evaluation, facts: RunFacts) -> dict[str, str]:
    """Job, tuner, tuning score, date, size and version, as far as they are known."""
    score = None if facts.tuning_score is None else f"{numbers.score(facts.tuning_score)} {evaluation.metrics[0].name}"
    known = {
        "job": facts.job,
        "tuner": facts.tuner,
        "tuning score": score,
        "held out": facts.held_out and gain_text(facts.held_out),
        "tuned": facts.tuned_at,
        "segments": str(len(evaluation.segments)),
        "rerank-plugins": evaluation.version,
    }
    return {name: value for name, value in known.items() if value}


def _others(evaluation: Evaluation) -> list[str]:
    return [system for system in evaluation.systems if system != evaluation.baseline]


def _columns(evaluation: Evaluation) -> list[str]:
    """The heads of the table of segments."""
    changes = (f"{name} − {evaluation.baseline}" for name in _others(evaluation))
    return ["segment", "text", *evaluation.systems, *changes]


def _segments(evaluation: Evaluation, metric: MetricResult, main: str) -> Iterator[SegmentRow]:
    """All segments, those first whose sentence score the main system changes most."""
    baseline, others = evaluation.baseline, _others(evaluation)
    main = main if main in others else [baseline, *others][-1]
    scores = {system: metric.of(system).sentence_scores for system in evaluation.systems}
    old = evaluation.systems.index(baseline)
    for place in places_by_change(evaluation, metric, main):
        segment = evaluation.segments[place]
        texts = [("source", segment.source)] if segment.source is not None else []
        texts += [("reference", reference) for reference in segment.references]
        pieces = [(label, [Piece("kept", text)]) for label, text in texts]
        before = segment.outputs[old]
        for system, output in zip(evaluation.systems, segment.outputs, strict=True):
            own = [Piece("kept", output)] if system == baseline else word_differences(before, output)
            pieces.append((system, own))
        cells = [Cell(system, numbers.score(scores[system][place])) for system in evaluation.systems]
        for system in others:
            change = scores[system][place] - scores[baseline][place]
            kind = "same" if abs(change) < MIN_CHANGE else "better" if metric.gain(change) > 0 else "worse"
            cells.append(Cell(f"{system} − {baseline}", f"{change:+.2f}", kind))
        gain = metric.gain(scores[main][place] - scores[baseline][place])
        yield SegmentRow(place, f"{gain:.4g}", segment.segment_id, pieces, cells)
