"""Finds the K most probable substitutes of words in their contexts; keeps the sorted queues of a model on disk.

A file of queues is in the program's cache beside the parses, so that each model is sorted once. It is named after the
SHA-256 of the model file and the version of the queues, and has the form of a model file (kit/files/model_file.py).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins import (
    FloatArray,
    IntArray,
    LongArray,
    ModelError,
    check_sentence,
)
from rerank_plugins.core.files import cache_folder, content_hash
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.core.threads import in_threads
from rerank_plugins.kit.backoff.events import stretches
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.substitutes.queues import FILE, Queues
from rerank_plugins.substitutes.search import search_places
from rerank_plugins.substitutes.window_scores import score_places

FOLDER = "queues"
FORM = 2  # of the queues: a change of what they hold needs another number

logger = logging.getLogger(__name__)


def queue_file(model: Path) -> Path | None:
    """Where the queues of a model file are kept; None if the user wants no cache. Raises OSError."""
    folder = cache_folder()
    return folder / FOLDER / f"{content_hash(model)[:32]}-{FORM}.queues" if folder else None


def queues_of(model: Path, tables: BackoffTables) -> Queues:
    """The queues of a model file with these tables, from the cache if they are there; otherwise sorted, and kept there.

    A damaged file is sorted again. A cache that cannot be written is reported in the log, and does no harm otherwise.
    """
    path = queue_file(model)
    if path is not None and path.exists():
        try:
            queues = FILE.read(path)
            own = len(queues.base_words), len(queues.left_words), len(queues.children)
            if own == (tables.sizes[0], sum(tables.sizes[1:]), len(tables.contexts)):
                return queues
            logger.warning("%s: the queues of another model, which are sorted again", path)
        except ModelError as error:
            logger.warning("%s; the queues are sorted again", error)
    queues = Queues.build(tables)
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            FILE.write(queues, path)
        except OSError as error:
            logger.warning("%s: the sorted queues cannot be kept (%s)", path, error.strerror)
    return queues


@dataclass(frozen=True, eq=False)
class Substitutes:
    """The best substitutes at m positions, K or fewer at each, best first; those of equal score by ascending number.

    `words` (m, K) numbers in the vocabulary, `ln_p` (m, K) natural logs; -1 and -inf where there are fewer than K.
    `pops` (m) how many words were popped from queues to find them.
    """

    words: IntArray
    ln_p: FloatArray
    pops: LongArray

    @property
    def shares(self) -> FloatArray:
        """(m, K) the probability of each substitute divided by that of all K in its position: each row sums to one."""
        if self.ln_p.size == 0:
            return self.ln_p
        weights = np.exp(self.ln_p - self.ln_p[:, :1])
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float64)


@dataclass(frozen=True, eq=False)
class FastSubs:
    """The exact K most probable substitutes in any position of a sentence, under an n-gram model.

    Every word of the model may be a substitute but `<s>`, `</s>` and, unless `unknown` is set, `<unk>`. `queues` are
    sorted when they are first needed, unless they are passed on.
    """

    ngrams: NgramModel
    unknown: bool = False
    stored: Queues | None = None

    @classmethod
    def load(cls, path: Path, *, unknown: bool = False) -> FastSubs:
        """The model of a file, with its queues from the cache if they have been sorted before.

        Raises ModelError for a file that is missing, damaged, not an n-gram model or a KenLM binary, whose n-grams
        cannot be listed.
        """
        ngrams = NgramModel.load(path)
        return cls(ngrams, unknown, queues_of(path, ngrams.tables))

    def top(self, words: Sequence[str], position: int, k: int) -> tuple[IntArray, FloatArray]:
        """The `k` best substitutes for `words[position]`, best first; those of equal score by ascending number.

        Returns their numbers in the vocabulary (`ngrams.vocabulary.words` has the words) and ln p summed over the
        n-gram windows that hold the position, whatever word stands there. There are fewer than `k` if the vocabulary is
        smaller. Raises ValueError for a position that the sentence does not have, and for `k` below 1.
        """
        check_sentence(words)
        if not 0 <= position < len(words):
            raise ValueError(f"position {position}: the sentence has {len(words)} words, counted from 0")
        best = self.top_places(self.encode([words]), np.array([position + 1]), k)
        some = best.words[0] >= 0
        return best.words[0][some], best.ln_p[0][some]

    def top_places(self, tokens: IntArray, places: LongArray, k: int, jobs: int = 1) -> Substitutes:
        """The `k` best substitutes at each of some ascending positions in encoded sentences (`encode`).

        A position is an index in `tokens`, not of `<s>` or `</s>`; `jobs` threads divide the positions. Raises
        ValueError for `k` below 1.
        """
        if k < 1:
            raise ValueError(f"k = {k}: wanted at least 1")
        most = min(k, self.candidates)
        words = np.full((len(places), most), -1, np.int32)
        scores = np.full((len(places), most), -np.inf)
        sizes, pops = np.zeros((2, len(places)), np.int64)
        shared = self._model, self._arrays, self.ngrams.tables.unseen, tokens
        in_threads(
            lambda a, b: search_places(
                *shared, places[a:b], self.unknown, words[a:b], scores[a:b], sizes[a:b], pops[a:b]
            ),
            stretches(len(places), jobs),
            jobs,
        )
        return Substitutes(words, scores * LN10, pops)

    def scores(self, tokens: IntArray, places: LongArray, words: IntArray) -> FloatArray:
        """(m) ln p of one word at each of m ascending positions, as `top_places` scores it."""
        scores = np.empty(len(places))
        tables = self.ngrams.tables
        score_places(
            tables.contexts, tables.events, tables.context_levels, tables.unseen,
            tokens, places, BOS, EOS, words, scores,
        )  # fmt: skip
        return scores * LN10

    @property
    def candidates(self) -> int:
        """How many words of the model may be substitutes."""
        return len(self.ngrams.vocabulary) - (2 if self.unknown else 3)

    def encode(self, sentences: Sequence[Sequence[str]]) -> IntArray:
        """The numbers of the words of sentences, each between `<s>` and `</s>`; unknown words are `<unk>`."""
        ids = self.ngrams.vocabulary.encode(sentences)
        starts = np.flatnonzero(ids == EOS)[:-1] + 1
        return np.insert(ids, np.concatenate([[0], starts]) if len(ids) else starts, BOS).astype(np.int32)

    @cached_property
    def queues(self) -> Queues:
        """The sorted queues of the model."""
        return Queues.build(self.ngrams.tables) if self.stored is None else self.stored

    @cached_property
    def _model(self) -> tuple[Any, ...]:
        tables = self.ngrams.tables
        return tables.contexts, tables.events, tables.context_levels

    @cached_property
    def _arrays(self) -> tuple[Any, ...]:
        return self.queues.arrays
