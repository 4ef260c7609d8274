"""From texts to an n-gram model: settings, and the one call that does it.

With the default settings the model is that of KenLM's `lmplz`: interpolated modified Kneser–Ney, `<s>` n-grams by raw
counts, unigrams interpolated with the uniform distribution over the vocabulary, `<unk>` having only that. With a
vocabulary cut-off, `<unk>` stands for the rare words and is counted as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rerank_plugins.errors import ConfigError, ModelError
from rerank_plugins.models.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.models.backoff.vocabulary import BOS, UNK, TextCollector
from rerank_plugins.models.backoff.workspace import Workspace
from rerank_plugins.models.ngram.model import NgramModel

SMOOTHING: dict[str, type[Smoothing]] = {"kneser-ney": KneserNey, "stupid-backoff": StupidBackoff}


@dataclass(frozen=True)
class NgramSettings:
    """How a model is trained.

    `prune`: n-grams that occur so often or less are left out, by order, the last value for all after it. Words seen
    less than `min_count` times, and all but the `most_words` most frequent, are unknown. `closed`: `<unk>` has no
    probability; every word of the text must then be known.
    """

    order: int = 5
    smoothing: Literal["kneser-ney", "stupid-backoff"] = "kneser-ney"
    prune: tuple[int, ...] = ()
    min_count: int = 1
    most_words: int | None = None
    closed: bool = False


@dataclass(frozen=True)
class OrderSummary:
    """Of one order: n-grams of the text, those kept, discounts D_1 … D_3+, and whether the text gave them."""

    ngrams: int
    kept: int
    discounts: tuple[float, ...]
    enough: bool


@dataclass(frozen=True)
class Trained:
    """A model and what it was made of; words are counted without `</s>`."""

    ngrams: NgramModel
    sentences: int
    words: int
    unknown: int
    orders: list[OrderSummary]


def train(
    texts: Iterable[tuple[str, Iterable[str]]],
    settings: NgramSettings,
    *,
    workspace: Workspace | None = None,
    jobs: int = 2,
    progress: Callable[[str, int], None] = lambda stage, words: None,
) -> Trained:
    """Train on (path, lines) of each text; `progress` gets each stage, and how many words were read.

    Raises ConfigError for settings that do not go together, FormatError for a line with `<s>` or `</s>`, ModelError
    for texts without words.
    """
    from rerank_plugins.models.backoff.estimation import cutoffs, estimate
    from rerank_plugins.models.backoff.events import TextEvents

    workspace = workspace or Workspace()
    if not 1 <= settings.order <= 6:
        raise ConfigError(f"order {settings.order}: orders 1 to 6 are supported")
    prune = cutoffs(settings.prune, settings.order)
    smoothing = SMOOTHING[settings.smoothing]()
    text = TextCollector(workspace)
    for path, lines in texts:
        text.add(lines, path, lambda words: progress("reading", words))
    words = text.tokens
    if words == 0:
        raise ModelError("there are no words to train on: the texts are empty")
    vocabulary, tokens, unknown = text.finish(settings.min_count, settings.most_words)
    if settings.closed and unknown:
        raise ConfigError(
            f"{unknown} words of the text are not in the vocabulary, which a closed one must not leave out"
        )
    never = [BOS, UNK] if settings.closed else [BOS]
    source = TextEvents(tokens, len(vocabulary), settings.order)
    made = estimate(
        source, smoothing, prune=prune, never=never, text=True, workspace=workspace, jobs=jobs,
        progress=lambda stage: progress(stage, words),
    )  # fmt: skip
    sizes = [made.ngrams[0], *made.tables.sizes[1:]]
    orders = [OrderSummary(*found) for found in zip(made.ngrams, sizes, made.discounts, made.enough, strict=True)]
    record: dict[str, Any] = {**asdict(settings), "words": words, "sentences": text.sentences, "unknown": unknown}
    record["discounts"] = made.discounts
    return Trained(NgramModel(vocabulary, made.tables, record), text.sentences, words, unknown, orders)


def parse_prune(text: str) -> tuple[int, ...]:
    """Cut-offs as users write them: `0,0,1` or `0 0 1`. Raises ConfigError.

    >>> parse_prune("0 0 1")
    (0, 0, 1)
    """
    parts: Sequence[str] = text.replace(",", " ").split()
    if not all(part.isdigit() for part in parts):
        raise ConfigError(f"cut-offs {text!r}: wanted whole numbers, one for each order, as in 0,0,1")
    return tuple(map(int, parts))
