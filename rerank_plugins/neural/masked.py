"""Pseudo-log-likelihood of the pieces of sentences by a masked model (Salazar et al. 2020, equation 1).

Each piece is predicted in a copy of the sentence in which it is masked. With `whole_words`, the pieces after it in the
same word are masked too, so that a long word is not predicted from its own end (Kauf and Ivanova 2023, PLL-word-l2r).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.neural.batches import batches, padded
from rerank_plugins.neural.logits import ln_p
from rerank_plugins.neural.opening import Opened
from rerank_plugins.neural.pieces import Pieces


class _Copy(NamedTuple):
    """A copy of a sentence, to be made when its batch is: the window [first, last) and the piece that is predicted."""

    sentence: int
    piece: int
    first: int
    last: int


def masked_scores(
    opened: Opened,
    sentences: Sequence[Pieces],
    before: Sequence[int],
    after: Sequence[int],
    tokens: int,
    *,
    whole_words: bool,
) -> list[FloatArray]:
    """(pieces) ln p of each sentence's pieces given the others; `before` and `after` are the special pieces around it.

    Of a sentence longer than the model's limit, a copy is the window of that length around the predicted piece.
    `tokens` bounds those of a batch.
    """
    room = max(1, opened.limit - len(before) - len(after))
    copies = [
        _Copy(number, piece, *_window(piece, len(sentence.ids), room))
        for number, sentence in enumerate(sentences)
        for piece in range(len(sentence.ids))
    ]
    scores = [np.zeros(len(sentence.ids)) for sentence in sentences]
    around = len(before) + len(after)
    for batch in batches([copy.last - copy.first + around for copy in copies], tokens):
        chosen = [copies[number] for number in batch]
        read = [_masked(sentences[copy.sentence], copy, opened.tokenizer.mask_token_id, whole_words) for copy in chosen]
        values = _predicted(
            opened.model,
            [[*before, *ids, *after] for ids in read],
            [copy.piece - copy.first + len(before) for copy in chosen],
            [sentences[copy.sentence].ids[copy.piece] for copy in chosen],
        )
        for copy, value in zip(chosen, values.tolist(), strict=True):
            scores[copy.sentence][copy.piece] = value
    return scores


def _window(piece: int, length: int, room: int) -> tuple[int, int]:
    first = max(0, min(piece - room // 2, length - room))
    return first, min(length, first + room)


def _masked(sentence: Pieces, copy: _Copy, mask: int, whole_words: bool) -> list[int]:
    ids = sentence.ids[copy.first : copy.last]
    stop = copy.piece + 1
    while whole_words and stop < copy.last and sentence.words[stop] == sentence.words[copy.piece]:
        stop += 1
    ids[copy.piece - copy.first : stop - copy.first] = [mask] * (stop - copy.piece)
    return ids


def _predicted(model: Any, read: Sequence[list[int]], columns: Sequence[int], targets: Sequence[int]) -> FloatArray:
    array = padded(read, 0)
    lengths = [[len(ids)] for ids in read]
    mask = (np.arange(array.shape[1]) < lengths).astype(np.int64)
    rows = np.arange(len(read))
    return ln_p(model, {"input_ids": array, "attention_mask": mask}, rows, columns, rows, targets)
