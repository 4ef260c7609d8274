"""Reranking of n-best lists by plugins: the names that a plugin author imports.

Their modules are loaded when the names are first used, so that a command loads only what it needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray
    from rerank_plugins.core.brackets_and_quotes import Words, known_spelling, normal_form
    from rerank_plugins.core.constituency_tree import ROOT, Tree, read_trees
    from rerank_plugins.core.counted import counted
    from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
    from rerank_plugins.core.errors import ConfigError, FormatError, ModelError, PluginError, RerankError
    from rerank_plugins.core.feature_table import FeatureTable, SparseBlock
    from rerank_plugins.core.hookspecs import Register, hookimpl
    from rerank_plugins.core.interfaces import (
        BatchedLM,
        FeatureExtractor,
        GenerativeLM,
        HasUnigrams,
        IncrementalLM,
        LanguageModel,
        Parser,
        Sampler,
        Sentence,
        SentenceFeature,
        SentenceModel,
        option,
    )
    from rerank_plugins.core.metrics_and_tuners import (
        Metric,
        NBestFormat,
        Rescored,
        Tuner,
        TuningData,
        TuningResult,
        TuningStep,
        check_texts,
    )
    from rerank_plugins.core.nbest import Hypothesis, NBestList
    from rerank_plugins.core.parse import Parse
    from rerank_plugins.core.pickling import PickledFields
    from rerank_plugins.core.scored_trees import KBestTrees, ScoredTree, SharedTrees
    from rerank_plugins.core.sentences import check_sentence
    from rerank_plugins.core.trained_on import TrainedOn
    from rerank_plugins.core.trainer import Trained, Trainer, TrainingData
    from rerank_plugins.kit.files.model_file import read_model, word_array, words_from, write_model
    from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, Setting, WordList
    from rerank_plugins.kit.files.text import open_atomic, open_text

__version__ = "0.3.0"
__all__ = [
    "ROOT",
    "Array",
    "BatchedLM",
    "BoolArray",
    "ConfigError",
    "DependencyTree",
    "FeatureExtractor",
    "FeatureTable",
    "FloatArray",
    "FormatError",
    "GenerativeLM",
    "HasUnigrams",
    "Hypothesis",
    "IncrementalLM",
    "IntArray",
    "KBestTrees",
    "LanguageModel",
    "LongArray",
    "Metric",
    "ModelError",
    "ModelFile",
    "NBestFormat",
    "NBestList",
    "Offsets",
    "Parse",
    "Parser",
    "PickledFields",
    "PluginError",
    "Register",
    "RerankError",
    "Rescored",
    "Sampler",
    "ScoredTree",
    "Sentence",
    "SentenceFeature",
    "SentenceModel",
    "Setting",
    "SharedTrees",
    "SparseBlock",
    "Trained",
    "TrainedOn",
    "Trainer",
    "TrainingData",
    "Tree",
    "Tuner",
    "TuningData",
    "TuningResult",
    "TuningStep",
    "WordList",
    "Words",
    "check_sentence",
    "check_texts",
    "counted",
    "hookimpl",
    "known_spelling",
    "normal_form",
    "open_atomic",
    "open_text",
    "option",
    "read_conllu",
    "read_model",
    "read_trees",
    "word_array",
    "words_from",
    "write_model",
]
_NAMES = {  # by module
    "core.arrays": "BoolArray FloatArray IntArray LongArray",
    "core.brackets_and_quotes": "Words known_spelling normal_form",
    "core.constituency_tree": "ROOT Tree read_trees",
    "core.counted": "counted",
    "core.dependency_tree": "DependencyTree read_conllu",
    "core.errors": "ConfigError FormatError ModelError PluginError RerankError",
    "core.feature_table": "FeatureTable SparseBlock",
    "core.hookspecs": "Register hookimpl",
    "core.interfaces": "BatchedLM FeatureExtractor GenerativeLM HasUnigrams IncrementalLM LanguageModel Parser"
    " Sampler Sentence SentenceFeature SentenceModel option",
    "core.metrics_and_tuners": "Metric NBestFormat Rescored Tuner TuningData TuningResult TuningStep check_texts",
    "core.nbest": "Hypothesis NBestList",
    "core.parse": "Parse",
    "core.pickling": "PickledFields",
    "core.scored_trees": "KBestTrees ScoredTree SharedTrees",
    "core.sentences": "check_sentence",
    "core.trained_on": "TrainedOn",
    "core.trainer": "Trained Trainer TrainingData",
    "kit.files.model_schema": "Array ModelFile Offsets Setting WordList",
    "kit.files.model_file": "read_model word_array words_from write_model",
    "kit.files.text": "open_atomic open_text",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

if not TYPE_CHECKING:  # otherwise every name would be one to type checkers

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
