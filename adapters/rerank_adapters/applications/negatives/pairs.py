"""Pairs unacceptable sentences (pseudo-negative examples) with acceptable ones.

errors     one error inserted into each sentence (Foster et al. 2008)
phenomena  a rule of grammar broken, after the sentence's dependency tree (after Warstadt et al. 2020)
samples    sentences drawn from an n-gram model, as long as those of a text (Okanohara & Tsujii 2007)
nbest      1-bests of a decoder, paired with references (Och et al. 2004; Cherry & Quirk 2008)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from rerank_adapters.formats.pairs import Pair
from rerank_plugins import ConfigError, NBestList
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.english.errors.inserted_errors import ErrorInserter
from rerank_plugins.english.lexicon.english_lexicon import english
from rerank_plugins.english.lexicon.word_forms import WordForms
from rerank_plugins.english.minimal_pairs.pair_maker import KINDS, PairMaker

ERROR_COLUMNS = ("kind", "position", "before", "after")
PHENOMENON_COLUMNS = ("phenomenon", "rule")
ROUNDS = 200  # the maximum number of batches drawn; lengths still missing after them get no sample


def parse_shares(arguments: Sequence[str]) -> dict[str, float]:
    """The proportions of kinds of errors from `KIND` or `KIND=SHARE`. Raises ConfigError for what is not a number."""
    shares: dict[str, float] = {}
    for argument in arguments:
        kind, equals, share = argument.partition("=")
        try:
            shares[kind] = float(share) if equals else 1.0
        except ValueError:
            raise ConfigError(f"--kind {argument!r}: wanted KIND or KIND=SHARE, such as missing=0.5") from None
    return shares


def error_inserter(sentences: Sequence[Sequence[str]], kinds: Sequence[str]) -> ErrorInserter:
    """An inserter that knows the word forms of these sentences; it inserts errors of `kinds` (see `parse_shares`).

    If `kinds` is empty, it inserts errors of all kinds in equal proportions. Raises ConfigError for an unknown kind.
    """
    forms = WordForms.of_text(sentences)
    try:
        return ErrorInserter(forms, parse_shares(kinds)) if kinds else ErrorInserter(forms)
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
    names = [name.strip() for argument in kinds for name in argument.split(",")]
    try:
        return PairMaker(english(), tuple(dict.fromkeys(names)) or tuple(KINDS), each)
    except ValueError as error:
        raise ConfigError(f"--kind: {error}") from None


def phenomenon_pairs(
    sentences: Iterable[tuple[Sequence[str], DependencyTree | None]], maker: PairMaker, rng: np.random.Generator
) -> Iterator[Pair]:
    """Make a minimal pair of each sentence with a tree of which a rule of `maker` can make one, lazily.

    Their groups are the phenomenon and the rule.
    """
    for line, (_, tree) in enumerate(sentences, 1):
        pair = maker.pair(tree, rng) if tree is not None else None
        if pair is not None:
            groups = dict(zip(PHENOMENON_COLUMNS, (pair.phenomenon, pair.rule), strict=True))
            yield Pair(" ".join(pair.good), " ".join(pair.bad), groups, line)


def sampled_pairs(sentences: Sequence[Sequence[str]], model: Path, rng: np.random.Generator) -> Iterator[Pair]:
    """Pair each sentence with one of the same number of words, drawn from an n-gram model (model file or ARPA).

    Sentences are drawn without a constraint on their length and then grouped by length, so each follows the model's
    distribution given its length. Sentences of a length that is never drawn get no pair.
    """
    drawn = samples_of_lengths(Counter(map(len, sentences)), model, rng)
    for line, words in enumerate(sentences, 1):
        if drawn[len(words)]:
            yield Pair(" ".join(words), " ".join(drawn[len(words)].pop()), {"words": str(len(words))}, line)


def samples_of_lengths(
    wanted: Mapping[int, int], model: Path, rng: np.random.Generator
) -> defaultdict[int, list[tuple[str, ...]]]:
    """Draw the wanted number of sentences of each length, fewer if sentences of that length are too rare; by length."""
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
