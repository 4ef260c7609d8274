"""Stanza (Qi et al. 2020): neural parsers for some 70 languages, on tokenised sentences; needs the extra `stanza`.

Models are downloaded by Stanza, read from a folder that Stanza has filled, or read from model files. PyTorch uses one
thread per process: work is spread over processes, and on busy cores two threads are slower than one. Not supported:
lemmas, Stanza's tokeniser, and dependency models with word vectors in a separate file, unless `folder` has these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.core.interfaces import Parse, Parser, Sentence, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.dependency.stanza_constituency import parse_tagged, tags_for
from rerank_plugins.dependency.stanza_pipeline import open_pipeline
from rerank_plugins.kit.files.packed_parses import over_tokens

PROCESSORS = {"depparse": "dependencies", "constituency": "constituents"}  # Stanza's processors and their trees
LONGEST = 300  # words; longer sentences are not parsed, as memory grows with the square


@dataclass(frozen=True)
class StanzaParser(Parser, PickledFields):
    """Trees by Stanza: from downloaded models, a folder of models, or the model files of a tagger and of parsers.

    There is one constituency tree a sentence; its ln p is that of the parser's transitions, given words and tags.
    Raises ModelError if Stanza is not installed, if a model cannot be downloaded, if the language or a model does not
    exist, or if a model file is cut short.
    """

    engines: ClassVar[tuple[str, ...]] = ("stanza",)

    language: str = option("en", doc="code of the language, such as en")
    package: str = option("", doc="package of the models, such as ewt; empty: Stanza's default")
    folder: Path | None = option(None, doc="folder with Stanza's resources.json and models, instead of downloads")
    tagger: Path | None = option(None, doc="model file of the tagger (.pt), for `parser` and `constituency`")
    parser: Path | None = option(None, doc="model file of the dependency parser (.pt)")
    constituency: Path | None = option(None, doc="model file of the constituency parser (.pt)")
    vectors: Path | None = option(None, doc="word vectors that the constituency parser was trained with (.pt)")
    trees: str = option("", doc="dependencies, constituents or both; empty: those of the model files, or dependencies")

    def __post_init__(self) -> None:
        if (self.tagger is None) != (self.parser is None and self.constituency is None):
            raise ValueError("give 'tagger' together with 'parser' or 'constituency' (model files), or none of them")
        if self.tagger and self.folder:
            raise ValueError("give either 'folder' or the model files, not both")
        if self.trees not in ("", "dependencies", "constituents", "both"):
            raise ValueError(f"'trees' is dependencies, constituents or both, not {self.trees!r}")
        if self.tagger and self.trees:
            raise ValueError("leave out 'trees': the model files determine which trees there are")

    @property
    def trained_on(self) -> TrainedOn:
        """The `language` of downloaded models; what model files were trained on is not known."""
        return TrainedOn() if self.tagger else TrainedOn(self.language)

    @cached_property
    def _pipeline(self) -> Any:
        kinds = [processor for processor, wanted in PROCESSORS.items() if self._gives(wanted)]
        package = self.package or "default"
        return open_pipeline(
            "the parser 'stanza'",
            self.language,
            {"tokenize": package, "pos": package, "lemma": "identity", **dict.fromkeys(kinds, package)},
            {
                "pos_model_path": self.tagger,
                "depparse_model_path": self.parser,
                "constituency_model_path": self.constituency,
                "constituency_pretrain_path": self.vectors,
            },
            package=self.package,
            folder=self.folder,
            advice="`folder`, or the model files `tagger` and `parser`",
        )

    def _gives(self, kind: str) -> bool:
        """Whether trees of this kind are to be produced."""
        if self.tagger:
            return bool(self.parser if kind == "dependencies" else self.constituency)
        return self.trees in (kind, "both") or (kind == "dependencies" and not self.trees)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty sentence, for more than 300 words, and without a tree."""
        parses = [Parse()] * len(sentences)
        fit = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= LONGEST]
        if fit:
            pipeline = self._pipeline
            steps = ["tokenize", "pos", "lemma", *(["depparse"] if self._gives("dependencies") else [])]
            texts = [list(map(normal_form, sentences[i])) for i in fit]
            tagged = [sentence.words for sentence in pipeline(texts, processors=steps).sentences]
            trees: list[ScoredTree | None] = [None] * len(fit)
            if self._gives("constituents"):
                model = pipeline.processors["constituency"]._model
                trees = parse_tagged(model, tags_for(model, tagged))
            for i, words, tree in zip(fit, tagged, trees, strict=True):
                dependencies = _dependencies(sentences[i], words) if self._gives("dependencies") else None
                parses[i] = over_tokens(Parse(dependencies, (tree,) if tree else ()), tuple(sentences[i]))
        return parses


def _dependencies(sentence: Sentence, words: Sequence[Any]) -> DependencyTree | None:
    heads = tuple(word.head - 1 for word in words)
    if len(heads) != len(sentence) or tree_fault(heads):
        return None
    relations, tags = tuple(word.deprel for word in words), tuple(word.upos or "_" for word in words)
    return DependencyTree(tuple(sentence), heads, relations, tags)
