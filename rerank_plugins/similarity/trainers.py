"""The trainers of this family: indexes for explicit semantic analysis, and word vectors by random indexing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from rerank_plugins import ConfigError, Trained, Trainer, TrainingData, counted, option


@dataclass
class EsaTrainer(Trainer):
    """Index a collection of tokenised documents for explicit semantic analysis (Gabrilovich and Markovitch 2009).

    The index lists, for each word, the documents that it is typical of, with tf-idf weights. The cosine of two
    sentences in this space is a measure of `rerank similarity` (family esa). An encyclopaedia is the best collection.

    \b
    rerank train esa encyclopaedia.tsv.xz -o wiki.esa
    rerank similarity evaluate pairs.tsv --measure esa.cosine --esa wiki.esa
    """  # noqa: D301

    documents: str = option(
        "lines",
        metavar="FORM",
        doc="A document is a line (title<TAB>text, or text alone), a block of lines that ends at an empty line "
        "(blocks; it may start with `# title`), or N lines of running text.",
    )
    max_documents: Annotated[int, Field(ge=1)] = option(500, doc="Keep at most this many documents for each word.")
    min_length: Annotated[int, Field(ge=1)] = option(100, doc="Leave out documents of fewer words.")
    min_count: Annotated[int, Field(ge=1)] = option(3, doc="Treat words that occur less often than this as unknown.")
    max_words: Annotated[int, Field(ge=1)] | None = option(
        None, metavar="N", doc="Keep only the N most frequent words in the vocabulary."
    )
    keep_case: bool = option(False, doc="Do not convert the text to lower case.")

    def __post_init__(self) -> None:
        form = self.documents
        if form not in ("lines", "blocks") and not (form.isdecimal() and int(form)):
            raise ConfigError(f"--documents is {form!r}: wanted lines, blocks or a number of lines")

    def train(self, data: TrainingData) -> Trained:
        """An `EsaModel`. Raises ModelError if no document or no word is left."""
        from rerank_plugins.similarity.esa_model import write_model
        from rerank_plugins.similarity.esa_training import Settings, documents, train

        settings = Settings(self.max_documents, self.min_length, self.min_count, self.max_words, not self.keep_case)
        collection = (
            document
            for name, lines in data.examples()
            for document in documents(Path(name).name, lines, self.documents)
        )
        model = train(collection, settings, progress=data.progress)
        model = replace(model, provenance={**model.provenance, "texts": data.names, "form": self.documents})
        lines = [
            f"{counted(model.provenance['documents'], 'document')}, {len(model.titles):,} of them long enough; "
            f"{counted(model.provenance['words'], 'word')}, {len(model.words):,} distinct known words",
            f"{len(model.documents):,} entries of the index",
        ]
        return Trained(lambda path: write_model(model, path), lines)


@dataclass
class RandomIndexingTrainer(Trainer):
    """Train word vectors by random indexing on tokenised TEXT with one sentence per line (compressed or not).

    There are four spaces, which differ in what the context of a word is: its document; the words around it; the words
    to its left and to its right, kept apart; or the words around it, each by its position. The vectors depend on the
    text, the options and the seed alone.

    \b
    rerank train random-indexing news.en.gz -o news.ri
    rerank extract lists.nbest -f random-indexing,model=news.ri -o table.npz
    """  # noqa: D301

    uses = ("seed",)

    space: tuple[Literal["document", "window", "directional", "positional", "lsa"], ...] = option(
        (), doc="A vector space to build. Repeatable. Default: all but lsa."
    )
    dimensions: Annotated[int, Field(ge=2, le=10000)] = option(
        200, doc="Dimensions of the vectors; the directional space has twice as many."
    )
    nonzero: Annotated[int, Field(ge=1)] = option(5, doc="Number of non-zero elements of an index vector.")
    radius: Annotated[int, Field(ge=1)] = option(6, doc="Number of context words on each side of a word.")
    documents: Literal["lines", "blocks"] = option(
        "lines", doc="A document is a line, or a block of lines that ends at an empty line."
    )
    min_count: Annotated[int, Field(ge=1)] = option(5, doc="Treat words that occur less often than this as unknown.")
    max_words: Annotated[int, Field(ge=1)] | None = option(
        None, metavar="N", doc="Keep only the N most frequent words in the vocabulary."
    )
    keep_case: bool = option(False, doc="Do not convert the text to lower case.")
    context_weight: Literal["sif", "none"] = option(
        "sif", doc="Give frequent context words less weight (sif), or all the same, as in the paper."
    )
    centre: bool = option(False, doc="Subtract the mean vector from all vectors.")
    jobs: Annotated[int, Field(ge=1)] = option(2, short="j", doc="Number of threads; each builds one space at a time.")

    def train(self, data: TrainingData) -> Trained:
        """A `RandomIndexModel`. Raises ModelError where there are no words."""
        from rerank_plugins.similarity.random_indexing import SPACES, write_model
        from rerank_plugins.similarity.random_indexing_training import Settings, train

        settings = Settings(
            self.space or SPACES, self.dimensions, self.nonzero, self.radius, self.documents, self.min_count,
            self.max_words, not self.keep_case, self.context_weight, self.centre, data.seed,
        )  # fmt: skip
        model = train(data.examples(), settings, jobs=self.jobs, progress=data.progress)
        model = replace(model, provenance={**model.provenance, "texts": data.names})
        sizes = (
            f"{', '.join(model.spaces)}: {counted(model.total_documents, 'document')}, "
            f"{counted(model.provenance['words'], 'word')}, {len(model.words):,} distinct known words"
        )
        return Trained(lambda path: write_model(model, path), [sizes])
