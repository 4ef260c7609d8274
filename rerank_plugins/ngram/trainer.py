"""The trainer of n-gram language models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rerank_plugins import Trained, Trainer, TrainingData, counted, option

if TYPE_CHECKING:
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.ngram.training import Trained as TrainedNgrams


@dataclass
class NgramTrainer(Trainer):
    """Train an n-gram language model on tokenised TEXT with one sentence per line.

    With the default settings, the model equals that of KenLM's lmplz; `--arpa` writes it in a form that KenLM and SRILM
    read. The language model `ngram-lm` reads the model file.

    \b
    rerank train ngram news.en.gz novels.en --prune 0,0,1 --held-out dev.en \\
        -o lm.ngram
    rerank lm score dev.en -M lm.ngram
    """  # noqa: D301

    uses = ("language", "text", "held-out", "jobs")

    order: Annotated[int, Field(ge=1, le=6)] = option(5, doc="Length of the longest n-grams.")
    smoothing: Literal["kneser-ney", "stupid-backoff"] = option(
        "kneser-ney", doc="Interpolated modified Kneser–Ney smoothing, or stupid backoff."
    )
    min_count: Annotated[int, Field(ge=1)] = option(1, doc="Treat words that occur less often than this as unknown.")
    max_words: Annotated[int, Field(ge=1)] | None = option(
        None, metavar="N", doc="Keep only the N most frequent words in the vocabulary."
    )
    closed: bool = option(False, doc="Give unknown words no probability (a closed vocabulary).")
    prune: str = option(
        "0", metavar="COUNTS", doc="Prune n-grams that occur at most this often, one count for each order: 0,0,1."
    )
    compact: bool = option(False, doc="Write a compressed file, with probabilities rounded by up to 1.8 %.")
    arpa: Path | None = option(
        None,
        writes=True,
        metavar="FILE",
        doc="Write the model in ARPA format too (compressed if the name ends in .gz).",
    )

    def train(self, data: TrainingData) -> Trained:
        """An `NgramModel`. Raises ModelError where there are no words, or for a model that ARPA cannot hold."""
        from rerank_plugins import __version__
        from rerank_plugins.kit.backoff.smoothing import parse_prune
        from rerank_plugins.ngram.language_model import NgramLanguageModel
        from rerank_plugins.ngram.training import NgramSettings, train

        settings = NgramSettings(
            self.order, self.smoothing, parse_prune(self.prune), self.min_count, self.max_words, self.closed
        )
        trained = train(data.examples(), settings, jobs=data.jobs, progress=data.progress)
        trained.ngrams.settings.update(texts=data.names, version=__version__)

        def save(path: Path) -> None:
            trained.ngrams.save(path, data.trained_on(), compact=self.compact)
            if self.arpa is not None:
                data.progress("writing ARPA")
                write_arpa(trained.ngrams, self.arpa)

        return Trained(save, self._lines(trained), language_model=lambda: NgramLanguageModel(data.output))

    def _lines(self, trained: TrainedNgrams) -> Iterator[str]:
        settings, estimated = trained.ngrams.settings, trained.estimated
        known = len(trained.ngrams.vocabulary) - 3  # without <s>, </s> and <unk>
        sentences, words = counted(settings["sentences"], "sentence"), counted(settings["words"], "word")
        yield f"{sentences}, {words}, {known:,} distinct known words"
        if unknown := settings["unknown"]:
            percentage, types = f"{unknown / settings['words']:.2%}", counted(trained.ngrams.unknown_types, "type")
            why = f"because the vocabulary is cut off; <unk> stands for {types}"
            yield f"{unknown:,} words ({percentage}) are unknown, {why}"
        sizes = [estimated.ngrams[0], *trained.ngrams.tables.sizes[1:]]
        columns = estimated.ngrams, sizes, estimated.discounts, estimated.enough
        for order, (ngrams, kept, discounts, enough) in enumerate(zip(*columns, strict=True), 1):
            line = f"{order}-grams {kept:,}"
            if kept != ngrams:
                line += f" of {ngrams:,}"
            if any(discounts):
                line += "  D1 {:.4f} D2 {:.4f} D3+ {:.4f}".format(*discounts)
            yield line + ("" if enough else " (fixed: there is too little text to estimate them)")
        if self.arpa is not None:
            yield f"wrote the model in ARPA format to {self.arpa}"


def write_arpa(ngrams: NgramModel, path: Path) -> None:
    """Write the model as ARPA text, compressed according to the ending of the name. Raises ModelError, OSError."""
    from rerank_plugins.kit.files.text import open_atomic
    from rerank_plugins.ngram.arpa_writer import arpa_text

    with open_atomic(path) as out:
        for piece in arpa_text(ngrams.tables, ngrams.vocabulary.words):
            out.write(piece.decode())
