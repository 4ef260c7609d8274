"""Makes pseudo-negative examples: pairs of an acceptable sentence and an unacceptable one.

errors     one error inserted into each sentence (Foster et al. 2008)
phenomena  a rule of English grammar broken, after the sentence's dependency tree (after Warstadt et al. 2020)
treebank   agreement, case or word order of any language broken, as a treebank shows them
samples    sentences drawn from an n-gram model, as long as those of a text (Okanohara & Tsujii 2007)
nbest      1-bests of a decoder, paired with references (Och et al. 2004; Cherry & Quirk 2008)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
import numpy as np

from rerank_adapters.commands import options
from rerank_adapters.commands.lazy_group import LazyGroup
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.pairs import Pair, pair_lines
from rerank_adapters.runtime.progress import CountingBar, StatusLine, counted
from rerank_adapters.text import unknown_rate
from rerank_plugins import ConfigError
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job
    from rerank_adapters.formats.pairing import Unpaired
    from rerank_adapters.formats.references import ReferenceForm
    from rerank_plugins import NBestList
    from rerank_plugins.core.dependency_tree import DependencyTree
    from rerank_plugins.english.inserted_errors import ErrorInserter
    from rerank_plugins.english.minimal_pairs import PairMaker
    from rerank_plugins.english.minimal_pairs.clauses import MinimalPair

Tree = TypeVar("Tree")  # what a maker of pairs makes them of
ERROR_COLUMNS = ("kind", "position", "before", "after")
PHENOMENON_COLUMNS = ("phenomenon", "rule")
SAMPLE = 500  # sentences by which the language of a text is told
FOREIGN = 0.3  # proportion of unknown words
ROUNDS = 200  # the maximum number of batches drawn; lengths still missing after them get no sample

parser_option = click.option(
    "--parser", default="english", show_default=True, metavar="PARSER", shell_complete=plugin_names("parser"),
    help="The parser whose dependency trees show subjects, verbs and forms.",
)  # fmt: skip


@click.group("negatives", cls=LazyGroup, modules={"treebank": f"{__package__}.treebank"})
def command() -> None:
    """Make unacceptable sentences from good text.

    They are pseudo-negative examples, to train and test models of acceptability.

    \b
    errors     insert one error: a missing, extra, misspelt or wrong word …
    phenomena  break a rule of English grammar: agreement, binding, islands …
    treebank   break a rule that a treebank of any language shows: case, order …
    samples    sentences of the same lengths, drawn from an n-gram model
    nbest      1-best translations of a decoder, paired with references

    All write pairs, good<TAB>bad and details of the change, in a format that `rerank acceptability` reads.

    \b
    rerank negatives errors novel.txt --seed 7 > made.tsv
    rerank acceptability pairs made.tsv -M lm.arpa --by kind
    """  # noqa: D301


def check_english(job: Job, parser: str, sentences: Sequence[Sequence[str]], what: str) -> None:
    """Raise ConfigError for a parser of another language, and for text that is not in English.

    The rules of `what` are English. A text is not if the embedded English parser does not know FOREIGN of its words.
    """
    advice = "`rerank negatives treebank` makes pairs in any language"
    if parser != "none" and not (trained_on := job.models.parser(parser).trained_on).may_be_english:
        raise ConfigError(f"{what} has rules for English alone, and the parser reads {trained_on.language!r}; {advice}")
    vocabulary = job.models.parser("english").vocabulary
    assert vocabulary is not None  # the embedded parser knows its words
    unknown = unknown_rate(vocabulary, [" ".join(words) for words in sentences[:SAMPLE]])
    if unknown > FOREIGN:
        raise ConfigError(f"{what} has rules for English alone, and knows {1 - unknown:.0%} of the words; {advice}")


def with_trees(
    sentences: Sequence[Sequence[str]], job: Job, parser: str
) -> Iterator[tuple[Sequence[str], DependencyTree | None]]:
    """The sentences with the dependency trees by a parser; with the parser `none`, without trees."""
    from rerank_adapters.chain.parse_pool import ParseCounts, parse_in_order

    if parser == "none":
        yield from zip(sentences, repeat(None))
        return
    for words, parse in parse_in_order(
        job.models.parser(parser), map(tuple, sentences), job.config.jobs, ParseCounts()
    ):
        yield words, parse.dependencies


def write_pairs(pairs: Iterator[Pair], sentences: int, columns: Sequence[str], output: Path) -> int:
    """Write pairs with these columns of groups, whose lines count the `sentences`; return the number of pairs."""
    written = 0

    def shown() -> Iterator[Pair]:
        nonlocal written
        for pair in pairs:
            bar.add(pair.line - bar.done)
            written += 1
            yield pair

    with open_atomic(output) as out, CountingBar("sentences", sentences) as bar:
        out.writelines(pair_lines(shown(), columns))
    return written


def parse_kinds(arguments: Sequence[str]) -> dict[str, float]:
    """The proportions of kinds of errors from `KIND` or `KIND=SHARE`. Raises ConfigError for what is not a number."""
    proportions: dict[str, float] = {}
    for argument in arguments:
        kind, equals, proportion = argument.partition("=")
        try:
            proportions[kind] = float(proportion) if equals else 1.0
        except ValueError:
            raise ConfigError(f"--kind {argument!r}: wanted KIND or KIND=SHARE, such as missing=0.5") from None
    return proportions


def error_inserter(sentences: Sequence[Sequence[str]], kinds: Sequence[str]) -> ErrorInserter:
    """An inserter that knows the word forms of these sentences; it inserts errors of `kinds` (see `parse_kinds`).

    If `kinds` is empty, it inserts errors of all kinds in equal proportions. Raises ConfigError for an unknown kind.
    """
    from rerank_plugins.english.inserted_errors import ErrorInserter
    from rerank_plugins.english.word_forms import WordForms

    forms = WordForms.of_text(sentences)
    try:
        return ErrorInserter(forms, parse_kinds(kinds)) if kinds else ErrorInserter(forms)
    except ValueError as error:
        raise ConfigError(f"--kind: {error}") from None


def noisy_pairs(
    sentences: Iterable[tuple[Sequence[str], DependencyTree | None]], inserter: ErrorInserter, rng: np.random.Generator
) -> Iterator[Pair]:
    """Pair each sentence, which may have a tree, with the same after one error was inserted, where that is possible.

    The pairs are generated lazily. Their groups describe the error: its kind, the position of the word (from 1), and
    the word before and after the change.
    """
    for line, (words, tree) in enumerate(sentences, 1):
        edit = inserter.insert(words, rng, tree)
        if edit is not None:
            description = (edit.kind, str(edit.position + 1), edit.before, edit.after)
            groups = dict(zip(ERROR_COLUMNS, description, strict=True))
            yield Pair(" ".join(words), " ".join(edit.apply(words)), groups, line)


def pair_maker(kinds: Sequence[str], each: int | None) -> PairMaker:
    """A maker of minimal pairs of these kinds (`KIND` or `KIND,KIND`; all if empty), at most `each` by each rule.

    Raises ConfigError for an unknown kind.
    """
    from rerank_plugins.english.english_lexicon import english
    from rerank_plugins.english.minimal_pairs import KINDS, PairMaker

    names = [name.strip() for argument in kinds for name in argument.split(",")]
    try:
        return PairMaker(english(), tuple(dict.fromkeys(names)) or tuple(KINDS), each)
    except ValueError as error:
        raise ConfigError(f"--kind: {error}") from None


def phenomenon_pairs(
    trees: Iterable[Tree | None], pair_of: Callable[[Tree, np.random.Generator], MinimalPair | None],
    rng: np.random.Generator,
) -> Iterator[Pair]:  # fmt: skip
    """Make a minimal pair of each tree of which `pair_of` can make one, lazily; None stands for a sentence left out.

    Their groups are the phenomenon and the rule.
    """
    for line, tree in enumerate(trees, 1):
        pair = pair_of(tree, rng) if tree is not None else None
        if pair is not None:
            groups = dict(zip(PHENOMENON_COLUMNS, (pair.phenomenon, pair.rule), strict=True))
            yield Pair(" ".join(pair.good), " ".join(pair.bad), groups, line)


def sampled_pairs(sentences: Sequence[Sequence[str]], model: Path, rng: np.random.Generator) -> Iterator[Pair]:
    """Pair each sentence with one of the same number of words, drawn from an n-gram model, if that length is drawn."""
    drawn = samples_of_lengths(Counter(map(len, sentences)), model, rng)
    for line, words in enumerate(sentences, 1):
        if drawn[len(words)]:
            yield Pair(" ".join(words), " ".join(drawn[len(words)].pop()), {"words": str(len(words))}, line)


def samples_of_lengths(
    wanted: Mapping[int, int], model: Path, rng: np.random.Generator
) -> defaultdict[int, list[tuple[str, ...]]]:
    """Draw the wanted number of sentences of each length, fewer if sentences of that length are too rare; by length.

    Sentences are drawn without a constraint on their length and then grouped, so that each follows the model's
    distribution given its length.
    """
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.ngram.sampling import NgramSampler

    samples: defaultdict[int, list[tuple[str, ...]]] = defaultdict(list)
    if not wanted:
        return samples
    sampler = NgramSampler(NgramModel.load(model), min(wanted), max(wanted))
    missing = sum(wanted.values())
    for _ in range(ROUNDS):
        for words in sampler.sample(max(1000, missing), rng):
            if len(samples[len(words)]) < wanted.get(len(words), 0):
                samples[len(words)].append(words)
                missing -= 1
        if missing == 0:
            break
    return samples


def decoder_pairs(nbests: Iterable[NBestList], references: Sequence[str]) -> Iterator[Pair]:
    """Pair the reference, as the acceptable sentence, with the 1-best of each list where the two differ."""
    for nbest, reference in zip(nbests, references, strict=True):
        one_best = " ".join(nbest[0].text.split())
        if one_best and reference.split() and one_best != " ".join(reference.split()):
            yield Pair(" ".join(reference.split()), one_best, {"segment": nbest.segment_id}, nbest.line)


@command.command("errors")
@click.argument("text", default="-")
@click.option("--kind", "kinds", multiple=True, metavar="KIND[=SHARE]",
              help="Insert errors of this kind, in this proportion: missing, extra, real-word, non-word, "
                   "wrong-form or agreement. Repeatable.",
              show_default="all kinds, in equal proportions")  # fmt: skip
@parser_option
@options.output_option("Write the pairs to this file.")
@options.scheduler_option
@options.job_options("jobs", "seed")
def errors(job: Job, text: str, kinds: tuple[str, ...], parser: str, output: Path) -> None:
    """Insert one error into each sentence of TEXT (one per line, tokenised, English).

    The columns of the output are the sentence, the sentence with the error, the kind of the error, the position of the
    word (from 1), and the word before and after the change. A sentence into which no error can be inserted is left out.
    A sentence with an inserted error may be acceptable by chance. With `--parser none` there are no agreement
    errors, and forms are recognised only by their endings.

    \b
    rerank negatives errors novel.txt --kind agreement --kind wrong-form=0.5
    """  # noqa: D301
    from rerank_adapters.formats.references import read_lines

    summary_line = SummaryLine()
    sentences = [words for line in read_lines(text) if (words := line.split())]
    check_english(job, parser, sentences, "`negatives errors`")
    inserter, rng = error_inserter(sentences, kinds), np.random.default_rng(job.config.seed)
    pairs = noisy_pairs(with_trees(sentences, job, parser), inserter, rng)
    written = write_pairs(pairs, len(sentences), ERROR_COLUMNS, output)
    left_out = len(sentences) - written
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    summary_line.wrote(f"{counted(written, 'pair')}{rest}", output)


@command.command("phenomena")
@click.argument("text", default="-")
@click.option("--kind", "kinds", multiple=True, metavar="KIND[,KIND…]",
              help="Break rules of these kinds: agreement, anaphors, binding, case, arguments, selection, "
                   "verb-forms, polarity, quantifiers, ellipsis, control, islands or filler-gap. Repeatable.",
              show_default="all")  # fmt: skip
@click.option(
    "--max-pairs", "each", type=click.IntRange(1), metavar="N", help="Make at most this many pairs by each rule."
)
@click.option("--max-length", "longest", type=click.IntRange(2), default=20, show_default=True, metavar="N",
              help="Leave out sentences of TEXT with more words.")  # fmt: skip
@parser_option
@options.output_option("Write the pairs to this file.")
@options.scheduler_option
@options.job_options("jobs", "seed")
def phenomena(
    job: Job, text: str, kinds: tuple[str, ...], each: int | None, longest: int, parser: str, output: Path
) -> None:
    """Make minimal pairs of the sentences of TEXT (one per line, tokenised, English).

    The columns of the output are a good sentence, one that breaks a rule of English grammar, the phenomenon and the
    rule. The good sentence is that of TEXT, or a question or an embedded clause made of it. Of several rules that apply
    to a sentence, the one with the fewest pairs so far is chosen. The rules read the parser's trees, so that some pairs
    are wrong.

    \b
    rerank negatives phenomena news.txt --max-pairs 100 > pairs.tsv
    rerank negatives phenomena news.txt --kind agreement --max-length 15
    rerank acceptability pairs pairs.tsv -f treelet-lm --by phenomenon
    """  # noqa: D301
    from rerank_adapters.formats.references import read_lines

    summary_line = SummaryLine()
    maker = pair_maker(kinds, each)
    sentences = [words for line in read_lines(text) if 1 < len(words := line.split()) <= longest]

    check_english(job, parser, sentences, "`negatives phenomena`")

    def pairs() -> Iterator[Pair]:
        rng = np.random.default_rng(job.config.seed)
        yield from phenomenon_pairs((tree for _, tree in with_trees(sentences, job, parser)), maker.pair, rng)
        if not maker.counts:  # before the file has its name
            needs = "the rules need UPOS tags and dependencies" if sentences else f"none has 2 to {longest} words"
            raise ConfigError(f"{text}: no rule applies to any sentence; {needs}")

    write_pairs(pairs(), len(sentences), PHENOMENON_COLUMNS, output)
    summary_line.wrote(f"{counted(maker.counts.total(), 'pair')} by {counted(len(maker.counts), 'rule')}", output)


@command.command("samples")
@click.argument("text", default="-")
@click.option("-M", "--model", type=Path, required=True, metavar="FILE", help="N-gram model to draw from: "
              "a file of `rerank train ngram`, or ARPA.")  # fmt: skip
@options.output_option("Write the pairs to this file.")
@options.job_options("seed")
def samples(job: Job, text: str, model: Path, output: Path) -> None:
    """Pair each sentence of TEXT with one of as many words that is drawn from an n-gram model.

    The columns of the output are the sentence, the sentence drawn from the model, and the number of words of both. The
    model should be trained on text of the same kind as TEXT, but not on TEXT itself.

    \b
    rerank train ngram news.txt --order 3 -o trigram.ngram
    rerank negatives samples dev.txt -M trigram.ngram > made.tsv
    """  # noqa: D301
    from rerank_adapters.formats.references import read_lines

    summary_line = SummaryLine()
    sentences = [words for line in read_lines(text) if (words := line.split())]
    with StatusLine("drawing sentences"):
        pairs = list(sampled_pairs(sentences, model, np.random.default_rng(job.config.seed)))
    if not pairs:
        raise ConfigError(f"{model}: the model generated no sentence as long as one of {text}")
    if len(pairs) < len(sentences):
        left_out = len(sentences) - len(pairs)
        click.echo(f"{left_out} of {len(sentences)} sentences left out: no sample has their length", err=True)
    with open_atomic(output) as out:
        out.writelines(pair_lines(pairs, ("words",)))
    summary_line.wrote(counted(len(pairs), "pair"), output)


@command.command("nbest")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@click.option("-r", "--reference", type=Path, required=True, metavar="FILE", help="References, one line per segment.")
@options.pairing_options
@options.output_option("Write the pairs to this file.")
@options.job_options("format_", "trust_pairs")
def nbest(
    job: Job, nbest: tuple[str, ...], reference: Path, reference_form: ReferenceForm, unpaired: Unpaired, output: Path
) -> None:
    """Pair each reference with the 1-best of its n-best list, where they differ.

    The command reads n-best lists in any format and a file of references. It writes a line for each segment whose
    1-best is not its reference: the reference, the 1-best and the id of the segment, with tabs between them, for
    `rerank acceptability pairs`.

    \b
    rerank negatives nbest test.nbest.gz -r test.ref > made.tsv
    """  # noqa: D301
    from rerank_adapters.chain.content import PairedTexts
    from rerank_adapters.formats.nist.markup import first_alternative
    from rerank_adapters.formats.pairing import pair_lists, warn
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.formats.references import read_references

    summary_line = SummaryLine()
    lists = read_nbest([Path(path) for path in nbest], job.format)
    paired = pair_lists(lists, read_references([reference], reference_form), unpaired, "tuning")
    warn(paired.findings)
    PairedTexts.of_lists(paired.nbests, paired.references, [reference]).check(job, styles=False)
    pairs = list(decoder_pairs(paired.nbests, [first_alternative(text) for (text,) in paired.references]))
    with open_atomic(output) as out:
        out.writelines(pair_lines(pairs, ("segment",)))
    summary_line.wrote(counted(len(pairs), "pair"), output)
