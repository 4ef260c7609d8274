"""Stanza (Qi et al. 2020): neural parsers of some 70 languages, on tokens as they are; the extra `stanza`.

Models come from where Stanza downloads them, from a folder that Stanza has filled, or from model files. PyTorch
keeps to one thread a process: work is spread over processes, and two threads are slower, not faster, on busy cores.
Left out: lemmas, Stanza's tokeniser, models that want word vectors in a file of their own unless `folder` has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from rerank_plugins.interfaces import Parse, Parser, ScoredTree, Sentence, option
from rerank_plugins.parsers.packed import over_tokens
from rerank_plugins.parsers.stanza_constituency import parse_tagged, tags_for
from rerank_plugins.parsers.stanza_pipeline import open_pipeline
from rerank_plugins.pickling import PickledFields
from rerank_plugins.trees.dependency import DependencyTree, tree_fault
from rerank_plugins.trees.penn import normal_form

PROCESSORS = {"depparse": "dependencies", "constituency": "constituents"}  # Stanza's names of what gives what
LONGEST = 300  # words: a longer sentence is none, and takes memory by the square of its length


@dataclass(frozen=True)
class StanzaParser(Parser, PickledFields):
    """Trees by Stanza: downloaded models, a folder of them, or the model files of a tagger and of one or both parsers.

    Constituency trees are 1-best; their ln p is that of the parser's transitions, given words and tags. Raises
    ModelError, one line, where Stanza is not installed, there is no network to download from, the language or a model
    is not there, or a model file is cut short.
    """

    engines: ClassVar[tuple[str, ...]] = ("stanza",)

    language: str = option("en", doc="code of the language")
    package: str = option("", doc="the models' package, as ewt; Stanza's default if empty")
    folder: Path | None = option(None, doc="folder with Stanza's resources.json and models; nothing is downloaded then")
    tagger: Path | None = option(None, doc="model file of the tagger (.pt), together with `parser`")
    parser: Path | None = option(None, doc="model file of the dependency parser (.pt)")
    constituency: Path | None = option(None, doc="model file of the constituency parser (.pt)")
    vectors: Path | None = option(None, doc="word vectors that the constituency parser was trained with (.pt)")
    trees: str = option(
        "", doc="dependencies, constituents or both; default: those of the model files, or dependencies"
    )

    def __post_init__(self) -> None:
        if (self.tagger is None) != (self.parser is None and self.constituency is None):
            raise ValueError("give both of 'tagger' and 'parser' or 'constituency' (model files), or neither")
        if self.tagger and self.folder:
            raise ValueError("give either 'folder' or the model files, not both")
        if self.trees not in ("", "dependencies", "constituents", "both"):
            raise ValueError(f"'trees' is dependencies, constituents or both, not {self.trees!r}")
        if self.tagger and self.trees:
            raise ValueError("leave 'trees' out: the model files say which trees there are")

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
        """Whether there are to be trees of this kind."""
        if self.tagger:
            return bool(self.parser if kind == "dependencies" else self.constituency)
        return self.trees in (kind, "both") or (kind == "dependencies" and not self.trees)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty one, one of more than 300 words, and one without a tree."""
        parses = [Parse()] * len(sentences)
        fit = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= LONGEST]
        if fit:
            pipeline = self._pipeline
            steps = ["tokenize", "pos", "lemma", *(["depparse"] if self._gives("dependencies") else [])]
            texts = [list(map(normal_form, sentences[i])) for i in fit]
            found = [sentence.words for sentence in pipeline(texts, processors=steps).sentences]
            trees: list[ScoredTree | None] = [None] * len(fit)
            if self._gives("constituents"):
                model = pipeline.processors["constituency"]._model
                trees = parse_tagged(model, tags_for(model, found))
            for i, words, tree in zip(fit, found, trees, strict=True):
                dependencies = _dependencies(sentences[i], words) if self._gives("dependencies") else None
                parses[i] = over_tokens(Parse(dependencies, (tree,) if tree else ()), tuple(sentences[i]))
        return parses


def _dependencies(sentence: Sentence, words: Sequence[Any]) -> DependencyTree | None:
    heads = tuple(word.head - 1 for word in words)
    if len(heads) != len(sentence) or tree_fault(heads):
        return None
    relations, tags = tuple(word.deprel for word in words), tuple(word.upos or "_" for word in words)
    return DependencyTree(tuple(sentence), heads, relations, tags)
