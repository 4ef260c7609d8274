"""Pseudo-negative examples: bad sentences made from good text, each beside a good one.

errors    one error inserted into each sentence (Foster et al. 2008)
samples   sentences of an n-gram model, as long as those of a text (Okanohara & Tsujii 2007)
nbest     1-bests of a decoder, against references (Och et al. 2004; Cherry & Quirk 2008)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from rerank_adapters.formats.minimal_pairs import Pair
from rerank_plugins import ConfigError, NBestList, Parser
from rerank_plugins.models.noise import ErrorInserter, WordForms
from rerank_plugins.trees.dependency import DependencyTree

ERROR_COLUMNS = ("kind", "position", "before", "after")
ROUNDS = 200  # batches drawn from a model before the lengths still missing are given up
BLOCK = 512  # sentences parsed at a time


def parse_shares(given: Sequence[str]) -> dict[str, float]:
    """Shares of kinds of errors from `KIND` or `KIND=SHARE`. Raises ConfigError for a share that is no number."""
    shares: dict[str, float] = {}
    for text in given:
        kind, equals, share = text.partition("=")
        try:
            shares[kind] = float(share) if equals else 1.0
        except ValueError:
            raise ConfigError(f"--kind {text!r}: wanted KIND or KIND=SHARE, as missing=0.5") from None
    return shares


def error_inserter(sentences: Sequence[Sequence[str]], given: Sequence[str]) -> ErrorInserter:
    """An inserter with the forms of these sentences; `given` as `parse_shares` reads them, none: all kinds alike.

    Raises ConfigError for an unknown kind.
    """
    forms = WordForms.of_text(sentences)
    try:
        return ErrorInserter(forms, parse_shares(given)) if given else ErrorInserter(forms)
    except ValueError as error:
        raise ConfigError(f"--kind: {error}") from None


def noisy_pairs(
    sentences: Sequence[Sequence[str]], inserter: ErrorInserter, parser: Parser | None, rng: np.random.Generator
) -> Iterator[Pair]:
    """A pair for each sentence in which an error has a place: the sentence, and the same with one error; streaming.

    The groups say which error: kind, position of the word (from 1), the word before and after.
    """
    for start in range(0, len(sentences), BLOCK):
        block = sentences[start : start + BLOCK]
        trees: list[DependencyTree | None] = [None] * len(block)
        if parser is not None:
            trees = [parse.dependencies for parse in parser.parse(block)]
        for line, (words, tree) in enumerate(zip(block, trees, strict=True), start + 1):
            edit = inserter.insert(words, rng, tree)
            if edit is not None:
                logged = (edit.kind, str(edit.position + 1), edit.before, edit.after)
                groups = dict(zip(ERROR_COLUMNS, logged, strict=True))
                yield Pair(" ".join(words), " ".join(edit.apply(words)), groups, line)


def sampled_pairs(sentences: Sequence[Sequence[str]], model: Path, rng: np.random.Generator) -> Iterator[Pair]:
    """A pair for each sentence: it, and one of as many words drawn from an n-gram model (file or ARPA).

    Sentences are drawn freely and sorted by length: so each has the model's distribution given its length. Sentences
    of a length that does not come up get no pair.
    """
    drawn = samples_of_lengths(Counter(map(len, sentences)), model, rng)
    for line, words in enumerate(sentences, 1):
        if drawn[len(words)]:
            yield Pair(" ".join(words), " ".join(drawn[len(words)].pop()), {"words": str(len(words))}, line)


def samples_of_lengths(
    wanted: Mapping[int, int], model: Path, rng: np.random.Generator
) -> defaultdict[int, list[tuple[str, ...]]]:
    """By length, as many sentences as are wanted of it, or fewer where they are too rare."""
    from rerank_plugins.models.ngram.model import NgramModel
    from rerank_plugins.models.ngram.sampling import NgramSampler

    found: defaultdict[int, list[tuple[str, ...]]] = defaultdict(list)
    if not wanted:
        return found
    sampler = NgramSampler(NgramModel.load(model), min(wanted), max(wanted))
    missing = sum(wanted.values())
    for _ in range(ROUNDS):
        for words in sampler.sample(max(1000, missing), rng):
            if len(found[len(words)]) < wanted.get(len(words), 0):
                found[len(words)].append(words)
                missing -= 1
        if missing == 0:
            break
    return found


def decoder_pairs(nbests: Iterable[NBestList], references: Sequence[str]) -> Iterator[Pair]:
    """A pair for each list whose 1-best is not its reference: the reference is the good sentence."""
    for nbest, reference in zip(nbests, references, strict=True):
        first = " ".join(nbest[0].text.split())
        if first and reference.split() and first != " ".join(reference.split()):
            yield Pair(" ".join(reference.split()), first, {"segment": nbest.segment_id}, nbest.line)
