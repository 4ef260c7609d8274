"""`rerank lm score`: the probabilities of a text, in the layouts of other programs and as a table.

SRILM's `ngram -ppl` leaves unknown words out of its sums: ppl = 10^(-logprob / (words - OOVs - zeroprobs + sentences)),
and ppl1 is the same without the ends of sentences in the divisor. KenLM's `query` prints a perplexity with unknown
words, at the probability that the model gives them, and one without them. Both use log10. SRILM's statistics of -debug
3 and above are not implemented.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.applications.language_models.scoring import (
    LN_ZERO,
    Scored,
    Total,
    Totals,
    score_lines,
    total_lines,
)
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.job.models import load_language_model, load_word_model
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


def srilm_layout(scored: Iterable[Scored], detail: int, name: str) -> Iterator[str]:
    """The output of `ngram -ppl NAME -debug DETAIL`: with 0 a summary, with 1 sentences too, with 2 words too."""
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
    zero = unknown or ln_p <= LN_ZERO
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
    """The output of KenLM's `query`: with detail 0 a summary, with 1 sentences too, with 2 words too.

    A word is `word=KNOWN length log10`. KNOWN is 0 for an unknown word, like KenLM's word number of it, and 1 for any
    other; the length of the matched n-gram is 0 for a model that does not tell it.
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


def word_table(scored: Iterable[Scored]) -> Iterator[str]:
    """A tab-separated line for each word, header first, with natural and decimal logs."""
    yield "sentence\tword\tln\tlog10\toov\n"
    for number, sentence in enumerate(scored, 1):
        rows = zip(sentence.words, sentence.ln_p.tolist(), sentence.unknown, strict=True)
        yield from (f"{number}\t{w}\t{ln:.9g}\t{ln / LN10:.9g}\t{int(oov)}\n" for w, ln, oov in rows)


def sentence_table(totals: Iterable[Total]) -> Iterator[str]:
    """A tab-separated line for each sentence, header first, with natural and decimal logs."""
    yield "sentence\twords\toovs\tln\tlog10\n"
    for number, (words, oovs, ln) in enumerate(totals, 1):
        yield f"{number}\t{words}\t{oovs}\t{ln:.9g}\t{ln / LN10:.9g}\n"


@click.command("score")
@click.argument("text", default="-", type=click.Path())
@options.language_model_option()
@click.option("--as", "form", type=click.Choice(["srilm", "kenlm", "tsv"]), default="srilm", show_default=True,
              help="Print as SRILM's `ngram -ppl` or KenLM's `query` do, or tab-separated.")  # fmt: skip
@click.option("-d", "--detail", type=click.IntRange(0, 2),
              help="Print a summary (0), each sentence (1) or each word (2).",
              show_default="0 (tsv: 1)")  # fmt: skip
@options.text_option
@options.output_option("Where to write the scores.")
@options.job_options("config")
def command(
    job: Job, text: str, model: str | Path, form: str, detail: int | None, steps: tuple[str, ...], output: Path
) -> None:
    """Score sentences: log probabilities and perplexity.

    Print the log probabilities, unknown words and perplexity of a TEXT (one sentence per line).

    `--detail` corresponds to SRILM's -debug. SRILM's perplexities leave unknown words out; KenLM prints one with and
    one without them. Of a model that gives no probabilities to single words, such as `treelet-lm`, `--as tsv`
    prints the sentences.

    \b
    rerank lm score dev.en -M lm.ngram
    rerank lm score dev.en -M unigram --detail 2
    rerank lm score dev.en -M lm.arpa --as tsv > scores.tsv
    """  # noqa: D301
    summary_line = SummaryLine()
    pipeline = TextPipeline(options.text_steps(steps))
    detail = detail if detail is not None else int(form == "tsv")
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("sentences scored") as bar:
        if form == "tsv" and detail < 2:
            totals = total_lines(load_language_model(model, job.names), lines, pipeline)
            out.writelines(sentence_table(bar.over(totals)))
        else:
            scored = score_lines(load_word_model(model, job.names), lines, pipeline, lengths=detail > 1)
            scored = bar.over(scored)
            if form == "srilm":
                out.writelines(srilm_layout(scored, detail, display_name(text)))
            else:
                out.writelines(kenlm_layout(scored, detail) if form == "kenlm" else word_table(scored))
    summary_line.wrote(f"the scores of {counted(bar.done, 'sentence')}", output)
