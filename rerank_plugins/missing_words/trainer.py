"""The trainer of models of missing words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from rerank_plugins import Trained, Trainer, TrainingData, counted, option
from rerank_plugins.core.words import split_words

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import MissingWordsModel


@dataclass
class MissingWordsTrainer(Trainer):
    """Train a model of missing words on tokenised TEXT with one sentence per line (Song 2016).

    Pairs of words are counted by the number of words between them, and words by five contexts of their neighbours. The
    weights of location and of filling are tuned on held-out sentences, from each of which one inner word is removed.
    `rerank words locate`, `rerank words fill` and `rerank words restore` read the model.

    \b
    rerank train missing-words news.en.gz -o news.mw
    echo 'he went the house' | rerank words restore -M news.mw
    """  # noqa: D301

    uses = ("seed", "jobs")

    window: Annotated[int, Field(ge=2, le=10)] = option(
        4,
        metavar="W",
        doc="Locate words by the pairs of a window of this many words, an even number.",
    )
    gamma: tuple[Annotated[float, Field(ge=0)], ...] = option(
        (),
        metavar="G",
        doc="The exponent γ by which many votes count more than few. Repeatable: the best is chosen on held-out "
        "sentences. Default: 0, 0.01, 0.03, 0.1 and 0.3.",
    )
    min_count: Annotated[int, Field(ge=1)] = option(2, doc="Treat words that occur less often than this as unknown.")
    max_words: Annotated[int, Field(ge=1)] | None = option(
        None, metavar="N", doc="Keep only the N most frequent words in the vocabulary."
    )
    held_out: str | None = option(
        None,
        metavar="FILE",
        doc="Tune the weights on this text. Default: every 20th sentence of TEXT, which is then not counted.",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `MissingWordsModel`. Raises ModelError for too little text."""
        from rerank_plugins import __version__
        from rerank_plugins.kit.files.text import open_text
        from rerank_plugins.missing_words.model import write_model
        from rerank_plugins.missing_words.training import Settings, train
        from rerank_plugins.missing_words.tuning import GAMMAS

        settings = Settings(self.min_count, self.max_words, self.window, self.gamma or GAMMAS, seed=data.seed)
        sentences = None
        if self.held_out is not None:
            with open_text(self.held_out) as lines:
                sentences = list(map(split_words, lines))
        model = train(
            data.examples(), settings, held_out=sentences, jobs=data.jobs,
            progress=data.progress,
        )  # fmt: skip
        model = replace(model, settings={**model.settings, "texts": data.names, "version": __version__})
        return Trained(lambda path: write_model(model, path), _lines(model))


def _lines(model: MissingWordsModel) -> Iterator[str]:
    from rerank_plugins.missing_words.gap_words import COMPONENTS

    trained: Any = model.settings
    yield (
        f"{counted(trained['sentences'], 'sentence')}, {counted(trained['words'], 'word')}, "
        f"{model.candidates:,} distinct known words; {trained['unknown']:,} words are unknown"
    )
    yield f"{len(model.pairs.rights):,} pairs of words; weights tuned on {counted(trained['held_out'], 'sentence')}"
    for method, location in model.locations.items():
        weights = "; ".join(" ".join(f"{weight:.3f}" for weight in row) for row in location.weights)
        yield f"location by {method}: {location.function} with {location.constant:g}, weights {weights}"
    proportions = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(COMPONENTS, model.mixture, strict=True))
    yield f"filling: {proportions}"
