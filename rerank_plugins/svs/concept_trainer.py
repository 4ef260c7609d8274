"""The trainer of models of concepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rerank_plugins import ConfigError, Trained, TrainedOn, Trainer, TrainingData, counted, option


@dataclass
class ConceptTrainer(Trainer):
    """Train concepts of words on FILEs of Penn-style brackets or of CoNLL-U, for similarity by meaning.

    EM over the given trees clusters the content words into concepts, by the words above and below them and their
    relations. The first clusters are those of words with similar contexts in the text of `--text-file`, or, without
    one, in the trees. `svs-similarity,concepts=MODEL,measures=meaning` and `rerank similarity --svs MODEL` compare
    sentences by the concepts; `rerank lm clusters MODEL` shows them.

    \b
    rerank train svs-concepts train.ptb parsed.ptb --text-file news.txt.xz \\
        --language en -o english.concepts
    """  # noqa: D301

    reads = "files"
    uses = ("seed",)

    language: str = option(metavar="CODE", doc="Code of the language, such as en.")
    text_file: tuple[Path, ...] = option(
        (), metavar="FILE", doc="Tokenised text, one sentence per line, for the first clusters. Repeatable."
    )
    concepts: Annotated[int, Field(ge=1)] = option(100, doc="Number of concepts, which are clusters of words.")
    max_headwords: Annotated[int, Field(ge=1)] = option(
        15_000,
        doc="Keep at most this many words, each with its part of speech; all others are rare.",
    )
    min_count: Annotated[float, Field(gt=0)] = option(
        5.0,
        doc="Words that occur less often are rare; relations, if less than a hundred times this.",
    )
    iterations: Annotated[int, Field(ge=0)] = option(4, doc="Number of EM iterations.")
    dimensions: Annotated[int, Field(ge=1)] = option(200, doc="Dimensions of the vectors of contexts.")
    head_prior: Annotated[float, Field(ge=0)] = option(
        50.0, doc="Pseudo-counts that draw P_H of each concept to the mean."
    )
    relation_prior: Annotated[float, Field(ge=0)] = option(50.0, doc="Pseudo-counts of the same kind on P_L.")

    def train(self, data: TrainingData) -> Trained:
        """A `ConceptModel`. Raises ConfigError, FormatError."""
        from rerank_plugins.constituency.treebank_files import treebank
        from rerank_plugins.kit.files.treebanks import of_dependencies
        from rerank_plugins.svs.concept_model import write_model
        from rerank_plugins.svs.concept_training import ConceptSettings, train_concepts

        files = list(data.examples())
        if not of_dependencies(files) and not TrainedOn(self.language).may_be_english:
            raise ConfigError(
                f"svs-concepts: the head rules for trees in brackets are English, and --language is {self.language!r}: "
                "train on dependencies (CoNLL-U), which have heads"
            )
        settings = ConceptSettings(
            self.language, self.concepts, self.max_headwords, self.min_count, self.iterations, self.dimensions,
            head_prior=self.head_prior, relation_prior=self.relation_prior, seed=data.seed,
        )  # fmt: skip
        model = train_concepts(
            [treebank(path, data.report) for path in files], [1.0] * len(files), settings,
            self._lines(data) if self.text_file else None, data.report, data.progress,
        )  # fmt: skip
        labels = "upos" if of_dependencies(files) else ""
        sizes = (
            f"{model.concepts} concepts, {counted(len(model.heads), 'word')} with their parts of speech, "
            f"{len(model.relations)} relations, {counted(model.settings['trees'], 'tree')}"
        )
        trained_on = TrainedOn(self.language, labels=labels)
        return Trained(lambda path: write_model(model, path, trained_on, compact=True), [sizes])

    def _lines(self, data: TrainingData) -> Iterator[str]:
        from rerank_plugins.kit.files.text import open_text

        for path in self.text_file:
            data.progress(f"reading {path}")
            with open_text(path) as lines:
                yield from lines
