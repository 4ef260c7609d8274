"""Scored text in the layouts that other programs print.

SRILM's `ngram -ppl`: unknown words do not count; ppl = 10^(-logprob / (words - OOVs - zeroprobs + sentences)), ppl1
the same without the sentences' ends. KenLM's `query`: perplexity with unknown words (at the probability of `<unk>`)
and without. Both log10. Left out: SRILM's statistics of -debug 3 and up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from rerank_adapters.pipeline.scoring import LN10, ZERO, Scored, Totals


def srilm_layout(scored: Iterable[Scored], detail: int, name: str) -> Iterator[str]:
    """As `ngram -ppl NAME -debug DETAIL` prints: 0 summary, 1 sentences, 2 words."""
    totals = Totals()
    for sentence in scored:
        totals.add(sentence.totals)
        if detail > 0:
            yield " ".join(sentence.words[:-1]) + "\n"
        if detail > 1:
            yield from map(_srilm_word, *_word_rows(sentence))
        if detail > 0:
            yield f"{_srilm_sums(sentence.totals)}\n\n"
    yield f"file {name}: {_srilm_sums(totals)}\n"


def _word_rows(sentence: Scored) -> tuple[Iterable[Any], ...]:
    contexts = ("<s> ", *(f"{word} ..." for word in sentence.words[:-1]))
    lengths = sentence.lengths if sentence.lengths is not None else [None] * len(sentence.words)
    return sentence.words, contexts, sentence.ln_p.tolist(), sentence.unknown, lengths


def _srilm_word(word: str, context: str, ln_p: float, unknown: bool, length: int | None) -> str:
    tag = "[OOV] " if unknown else "" if length is None else f"[{length}gram] "
    zero = unknown or ln_p <= ZERO
    p, log10 = ("0", "-inf") if zero else (f"{math.exp(ln_p):g}", f"{ln_p / LN10:g}")
    return f"\tp( {word} | {context}) \t= {tag}{p} [ {log10} ]\n"


def _srilm_sums(totals: Totals) -> str:
    ppl, ppl1 = (
        "undefined" if math.isnan(value) else f"{value:g}" for value in (totals.excluding, totals.excluding_ends)
    )
    return (
        f"{totals.sentences} sentences, {totals.words} words, {totals.oovs} OOVs\n"
        f"{totals.zeroprobs} zeroprobs, logprob= {totals.logprob / LN10:g} ppl= {ppl} ppl1= {ppl1}"
    )


def kenlm_layout(scored: Iterable[Scored], detail: int) -> Iterator[str]:
    """As KenLM's `query` prints: 0 summary, 1 sentences, 2 words as `word=KNOWN length log10`.

    KNOWN is 0 for unknown words, as KenLM's word numbers are, and 1 for others; length is 0 where models have none.
    """
    totals = Totals()
    for sentence in scored:
        own = sentence.totals
        totals.add(own)
        lengths = sentence.lengths if sentence.lengths is not None else [0] * len(sentence.words)
        if detail > 1:
            values = zip(sentence.words, sentence.unknown, lengths, (sentence.ln_p / LN10).tolist(), strict=True)
            yield "".join(f"{word}={int(not oov)} {length} {log10:.6g}\t" for word, oov, length, log10 in values)
        if detail > 0:
            yield f"Total: {sentence.ln_p.sum() / LN10:.6g} OOV: {own.oovs}\n"
    yield (
        f"Perplexity including OOVs:\t{totals.including:.6g}\nPerplexity excluding OOVs:\t{totals.excluding:.6g}\n"
        f"OOVs:\t{totals.oovs}\nTokens:\t{totals.words + totals.sentences}\n"
    )


def table_layout(scored: Iterable[Scored], detail: int) -> Iterator[str]:
    """Tab-separated, natural and decimal logs: a line for each sentence (1) or word (2)."""
    yield "sentence\tword\tln\tlog10\toov\n" if detail > 1 else "sentence\twords\toovs\tln\tlog10\n"
    for number, sentence in enumerate(scored, 1):
        if detail > 1:
            rows = zip(sentence.words, sentence.ln_p.tolist(), sentence.unknown, strict=True)
            yield from (f"{number}\t{w}\t{ln:.9g}\t{ln / LN10:.9g}\t{int(oov)}\n" for w, ln, oov in rows)
        else:
            ln, own = float(sentence.ln_p.sum()), sentence.totals
            yield f"{number}\t{own.words}\t{own.oovs}\t{ln:.9g}\t{ln / LN10:.9g}\n"
