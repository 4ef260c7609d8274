"""`rerank train word-alignment`: trains word alignment models on sentence pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output
from rerank_plugins import FormatError

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.links_text import GoldLinks
    from rerank_plugins.translation.alignment.model import WordAlignmentModel
    from rerank_plugins.translation.alignment.training import Iteration, Settings


@click.command("word-alignment")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@model_output()
@click.option("--model", type=click.Choice(["ibm1", "diagonal", "hmm"]), default="hmm", show_default=True,
              help="IBM model 1, model 2 with fast_align's diagonal prior, or the HMM.")  # fmt: skip
@click.option("--iterations", type=click.IntRange(1), default=5, show_default=True,
              help="Iterations of EM; for the HMM, as many of model 1 precede them.")  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0), default=0.01, show_default=True,
              help="Dirichlet prior of translation probabilities (variational Bayes); 0 for maximum "
                   "likelihood.")  # fmt: skip
@click.option("--null", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.08, show_default=True,
              help="Probability that a word is aligned to no word. Model 1 has 1 / (words + 1).")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Do not convert the text to lower case.")
@click.option("--longest", type=click.IntRange(1), default=100, show_default=True, metavar="N",
              help="Leave out pairs with more than N words on a side.")  # fmt: skip
@click.option("--least", type=click.FloatRange(0, 1), default=1e-5, show_default=True, metavar="P",
              help="Leave pairs of words out of the file whose probability is below P both ways.")  # fmt: skip
@click.option("--held-out", multiple=True, metavar="FILE",
              help="Report the log-likelihood of these sentence pairs: one file, or the option twice.")  # fmt: skip
@click.option("--gold", metavar="FILE",
              help="Report the error rate of the links of the first pairs against these: 0-0 (sure), 1?2 "
                   "(possible).")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), help="Number of threads. Default: all cores.")
def command(
    texts: tuple[str, ...], output: Path, model: str, iterations: int, alpha: float, null: float, keep_case: bool,
    longest: int, least: float, held_out: tuple[str, ...], gold: str | None,
    jobs: int | None,
) -> None:  # fmt: skip
    """Train a word alignment model on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. Both directions are trained by EM, and one file holds both. The feature `word-translation` and `rerank
    align` read it. The log-likelihood (with variational Bayes, its lower bound) is printed after each iteration; it
    never falls, except from one model to the next.

    \b
    rerank train word-alignment train.de train.en -o de-en.align
    rerank train word-alignment train.de-en.xz --model diagonal -o de-en.align
    """  # noqa: D301
    from rerank_adapters.formats.gold_links import read_gold
    from rerank_plugins.core.threads import cores
    from rerank_plugins.translation.alignment.training import Settings

    closing = Closing()
    right = [] if gold is None else read_gold(gold)
    settings = Settings(model, iterations, alpha, null, not keep_case, longest, least)  # type: ignore[arg-type]
    trained, size = train_word_alignment(texts, output, settings, jobs=jobs or cores())
    numbers = trained.settings
    left_out = f"{numbers['empty']:,} with an empty side, {numbers['too_long']:,} with more than {longest} words"
    say(
        f"{counted(numbers['pairs'], 'sentence pair')}, {numbers['source_words']:,} source and "
        f"{numbers['target_words']:,} target words (left out: {left_out})"
    )
    say(f"{len(trained.lexicon.targets):,} pairs of words")
    if held_out:
        say(held_out_line(trained, held_out))
    for line in error_lines(trained, texts, right):
        say(line)
    closing.wrote(f"the model ({size_text(size)})", output)


def train_word_alignment(
    texts: Sequence[str], output: Path, settings: Settings, *, jobs: int = 1
) -> tuple[WordAlignmentModel, int]:
    """Train a model on files and write it; return it with the size of its file in bytes.

    Raises FormatError for files that cannot be read or do not fit together, ModelError if no pair is left.
    """
    from rerank_adapters.formats.sentence_pairs import read_pairs
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins import __version__
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.translation.alignment.model_file import write_model
    from rerank_plugins.translation.alignment.training import train

    with StatusLine() as stages:
        model, _ = train(read_pairs(texts), settings, jobs=jobs, report=_say_iteration, progress=stages)
        source = {"texts": [display_name(text) for text in texts], "version": __version__}
        model = replace(model, settings={**model.settings, **source})
        stages("writing")
        return model, write_model(model, output)


def held_out_line(model: WordAlignmentModel, texts: Sequence[str]) -> str:
    """What the model says of held-out sentence pairs. Raises FormatError, as `read_pairs` does."""
    from rerank_adapters.formats.sentence_pairs import read_pairs

    sums, words, pairs = [0.0, 0.0], [0, 0], 0
    for source, target in read_pairs(texts):
        sentences = model.words_of(source), model.words_of(target)
        if all(sentences):
            ln_p = model.align(sentences[0], [sentences[1]], forward=False, backward=False).ln_p[0]
            sums = [total + value for total, value in zip(sums, ln_p.tolist(), strict=True)]
            words = [words[0] + len(sentences[1]), words[1] + len(sentences[0])]
            pairs += 1
    forward, backward = (total / max(number, 1) for total, number in zip(sums, words, strict=True))
    return f"held out: {counted(pairs, 'pair')}, ln p {forward:.4f} per target word, {backward:.4f} per source word"


def error_lines(model: WordAlignmentModel, texts: Sequence[str], gold: Sequence[GoldLinks]) -> Iterator[str]:
    """Yield a line for each kind of links of the first pairs, as many as `gold` has. Raises FormatError for fewer."""
    from rerank_adapters.formats.sentence_pairs import read_pairs
    from rerank_plugins.translation.alignment.error_rate import alignment_errors

    if not gold:
        return
    pairs = [
        (model.words_of(source), model.words_of(target)) for source, target in islice(read_pairs(texts), len(gold))
    ]
    if len(pairs) < len(gold):
        raise FormatError(f"--gold has links of {len(gold):,} sentence pairs, expected at most {len(pairs):,}")
    for method, errors in alignment_errors(model, pairs, gold).items():
        yield f"{method}: {errors}"


def _say_iteration(step: Iteration) -> None:
    say(
        f"{step.direction}, {step.model}, iteration {step.number}: ln p {step.bound:,.1f}, "
        f"{step.bound / step.words:.4f} per word"
    )
