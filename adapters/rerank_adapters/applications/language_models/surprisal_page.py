"""Writes an HTML page of a text whose words are coloured by surprisal, in the style of the other reports."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from rerank_adapters.applications.language_models.surprisal import Measured
from rerank_adapters.report.page import page

DARKEST = 0.95  # quantile of all surprisals from which words have the full colour: outliers take no range from others


def surprisal_page(measured: Sequence[Measured], title: str) -> str:
    """The whole page; write it as UTF-8. The tooltip of a word has all measures that the model defines."""
    values = np.concatenate([np.zeros(0), *(sentence.measures.surprisal for sentence in measured)])
    finite = values[np.isfinite(values)]
    darkest = max(float(np.quantile(finite, DARKEST)), 1.0) if len(finite) else 1.0
    words = sum(len(sentence.words) for sentence in measured)
    head = f"{words:,} words, {finite.sum() / max(1, len(finite)):.2f} bits a word"
    if len(finite) < len(values):
        head += f", and {len(values) - len(finite):,} of probability 0"
    return page(title, _body(measured, title, head, darkest))


def _body(measured: Sequence[Measured], title: str, head: str, darkest: float) -> Iterator[str]:
    yield f'<header><p class="kicker">Surprisal · {escape(title)}</p><h1>{head}</h1></header>'
    yield f'<p class="legend">0 bits <span class="ramp"></span> {darkest:.1f} bits and more</p>'
    yield (
        '<p class="notes">The surprisal of a word is −log₂ p(word | the words before it); ⏎ is the end of a sentence, '
        "which the bits a word count as one. A dotted line marks a word that the model does not know. On the right is "
        "the sum of each sentence in bits.</p>"
    )
    for sentence in measured:
        spans = " ".join(_word(word, values, darkest) for word, values in sentence.rows())
        total = f"{float(np.sum(sentence.measures.surprisal)):.1f}"
        line = f'<span>{sentence.line}</span><p class="words">{spans}</p><span>{total}</span>'
        yield f'<div class="sentence">{line}</div>'


def _word(word: str, values: dict[str, float], darkest: float) -> str:
    surprisal, is_unknown = values["surprisal"], bool(values["oov"])
    heat = min(1.0, max(0.0, surprisal / darkest)) if math.isfinite(surprisal) else 1.0
    known = [f"{name.replace('_', ' ')} {value:.2f}" for name, value in values.items() if not math.isnan(value)][:-1]
    shown, title = "⏎" if word == "</s>" else escape(word), escape(", ".join([*known, *["unknown word"] * is_unknown]))
    style = ' class="unknown"' * is_unknown + f' style="--h:{heat:.2f}"'
    return f'<span{style} title="{title}">{shown}<sub>{surprisal:.1f}</sub></span>'
