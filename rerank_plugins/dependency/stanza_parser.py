"""Stanza (Qi et al. 2020): neural parsers for some 70 languages, on tokenised sentences; needs the extra `stanza`.

Models are downloaded by Stanza, read from a folder that Stanza has filled, or read from model files. PyTorch uses one
thread per process: work is spread over processes, and on busy cores two threads are slower than one. Not supported:
lemmas, Stanza's tokeniser, and dependency models with word vectors in a separate file, unless `folder` has these.

The constituency parser has log-probabilities here, which Stanza's public interface does not offer. This shift-reduce
parser chooses transitions greedily; Stanza sums raw logits, which are comparable neither between sentences nor between
trees. Here the score of a transition is the log-softmax of its logit over all transitions, so that the score of
a tree is ln p(transitions | words, tags). This relies on internals of Stanza 1.15, which the extra therefore pins, and
a test checks them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import Parser, Sentence, option
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.files.packed_parses import over_tokens

ADVICE = "`folder`, or the model files `tagger` and `parser`"  # what avoids a download


def open_pipeline(
    language: str, processors: Mapping[str, str], files: Mapping[str, Path | None], package: str, folder: Path | None
) -> Any:
    """A pipeline for tokenised sentences, on one thread; `processors` maps each processor to its package.

    `files` are model files by Stanza's names for them; if there are any, no other models are used. Raises ModelError if
    Stanza is not installed, if a file is missing or damaged, or if a model cannot be downloaded.
    """
    try:
        import stanza
        import torch
    except ImportError:
        raise ModelError("the parser 'stanza' needs Stanza: pip install 'rerank-plugins[stanza]'") from None
    torch.set_num_threads(1)
    model_files = {name: path for name, path in files.items() if path}
    for path in (*model_files.values(), folder and folder / "resources.json"):
        if path and not path.is_file():
            raise ModelError(f"{path}: no such file (needed for the parser 'stanza')")
    arguments: dict[str, Any] = {
        "lang": language,
        "tokenize_pretokenized": True,
        "use_gpu": False,
        "verbose": False,
        "logging_level": "FATAL",
    }
    with tempfile.TemporaryDirectory() as empty:
        if model_files:  # in a folder with an empty list of resources
            (Path(empty) / "resources.json").write_text("{}", encoding="utf-8")
            arguments |= {name: str(path) for name, path in model_files.items()}
            arguments |= {"dir": empty, "download_method": None, "allow_unknown_language": True}
            arguments |= {"processors": ",".join(processors), "lemma_use_identity": True}
        else:
            arguments |= {"processors": dict(processors), "package": package or "default"}
            local = {"dir": str(folder), "download_method": None}
            arguments |= local if folder else {"download_method": "reuse_resources"}
        try:
            return stanza.Pipeline(**arguments)
        except Exception as error:  # Stanza, requests and torch raise many kinds
            where = str(folder) if folder else ", ".join(map(str, model_files.values()))
            raise ModelError(_explanation(error, language, where)) from error


def _explanation(error: Exception, language: str, where: str) -> str:
    text, place = " ".join(str(error).split()) or type(error).__name__, f"{where}: " if where else ""
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & {"ConnectionError", "Timeout", "ProxyError"}:
        return f"Stanza's models for {language!r} cannot be downloaded (no network); give {ADVICE}"
    if "unsupported" in text or "UnknownLanguageError" in names:
        return f"{place}Stanza has no models for the language {language!r} here"
    return f"{place}Stanza cannot load its models for {language!r}: {text[:200]}"


BATCH = 50  # sentences at a time, as in Stanza's pipeline

TaggedWords = Sequence[tuple[str, str]]


def parse_tagged(model: Any, sentences: Sequence[TaggedWords]) -> list[ScoredTree | None]:
    """The tree of each sentence of (word, tag) pairs; None where the parser reaches a dead end."""
    import torch

    place = {transition: i for i, transition in enumerate(model.transitions)}

    def choose(states: Sequence[Any]) -> tuple[Any, list[Any], Any]:
        logits, transitions, _ = model.predict(states)
        chosen = [place.get(transition, 0) for transition in transitions]
        scores = torch.log_softmax(logits, dim=1)[range(len(chosen)), chosen]
        return logits, transitions, scores

    longest_first = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    parses: list[ScoredTree | None] = [None] * len(sentences)
    for start in range(0, len(sentences), BATCH):
        batch = longest_first[start : start + BATCH]
        trees = _parsed(model, [sentences[i] for i in batch], choose)
        if len(trees) < len(batch):  # Stanza drops sentences without a tree, and does not say which
            alone = [_parsed(model, [sentences[i]], choose) for i in batch]
            trees = [tree for parsed in alone for tree in parsed or [None]]
        for i, tree in zip(batch, trees, strict=True):
            if tree is not None and tree.tree.words() == tuple(word for word, _ in sentences[i]):
                parses[i] = tree
    return parses


def _parsed(model: Any, batch: Sequence[TaggedWords], choose: Callable[..., Any]) -> list[ScoredTree | None]:
    build = model.build_batch_from_tagged_words
    results = model.parse_sentences_no_grad(iter(batch), build, len(batch), choose, keep_scores=True)
    best = [result.predictions[0] for result in results]
    return [ScoredTree(_tree(prediction.tree), float(prediction.score)) for prediction in best]


def _tree(node: Any) -> Tree:
    """Convert a tree of Stanza's."""
    if node.is_preterminal():
        return Tree(node.label, (node.children[0].label,))
    return Tree(node.label, tuple(_tree(child) for child in node.children))


def tags_for(model: Any, sentences: Sequence[Sequence[Any]]) -> list[list[tuple[str, str]]]:
    """Words with the kind of tags that the model was trained on: UPOS, or those of the treebank."""
    universal = not model.uses_xpos() and bool({"NOUN", "VERB"} & set(model.tags))
    return [[(word.text, (word.upos if universal else word.xpos) or "_") for word in words] for words in sentences]


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
            self.language,
            {"tokenize": package, "pos": package, "lemma": "identity", **dict.fromkeys(kinds, package)},
            {
                "pos_model_path": self.tagger,
                "depparse_model_path": self.parser,
                "constituency_model_path": self.constituency,
                "constituency_pretrain_path": self.vectors,
            },
            self.package,
            self.folder,
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
