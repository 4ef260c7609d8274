"""Writes the segments of a page: for each a row with texts, changed words and scores, the largest changes first."""

from __future__ import annotations

from html import escape

from rerank_adapters.evaluation.result import Evaluation, MetricResult
from rerank_adapters.report.run_facts import RunFacts
from rerank_adapters.report.words import word_differences

TAGS = {"kept": "{}", "deleted": "<del>{}</del>", "inserted": "<ins>{}</ins>"}
ORDERS = {
    "changed": "that changed most",
    "better": "that gained most",
    "worse": "that lost most",
    "place": "in their order",
}
KEYS = "<kbd>j</kbd> <kbd>k</kbd> or arrows: next, previous · <kbd>Enter</kbd>: details · <kbd>/</kbd>: search"


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
