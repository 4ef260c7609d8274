"""Reranking of n-best lists by plugins: the names that a plugin author imports."""

from rerank_plugins.core.arrays import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.core.brackets_and_quotes import Words, known_spelling, normal_form
from rerank_plugins.core.constituency_tree import ROOT, Tree, read_trees
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.core.errors import ConfigError, FormatError, ModelError, PluginError, RerankError
from rerank_plugins.core.feature_table import FeatureTable, SparseBlock
from rerank_plugins.core.guests import contracts as _  # noqa: F401  declares what guests return
from rerank_plugins.core.hookspecs import Register, hookimpl
from rerank_plugins.core.interfaces import (
    BatchedLM,
    FeatureExtractor,
    HasUnigrams,
    IncrementalLM,
    LanguageModel,
    Parse,
    Parser,
    Sentence,
    SentenceFeature,
    SentenceModel,
    option,
)
from rerank_plugins.core.metrics_and_tuners import (
    Metric,
    NBestFormat,
    Rescored,
    Scorer,
    Tuner,
    TuningData,
    TuningResult,
    TuningStep,
    check_texts,
)
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.core.paths import cache_folder, content_hash
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.registry import suggestion
from rerank_plugins.core.scored_trees import KBestTrees, ScoredTree, SharedTrees
from rerank_plugins.core.sentences import check_sentence, checks_sentences
from rerank_plugins.core.threads import in_threads
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted
from rerank_plugins.kit.files.model_file import read_model, word_array, words_from, write_model
from rerank_plugins.kit.files.text import open_atomic, open_text

__version__ = "0.3.0"
__all__ = [
    "ROOT",
    "BatchedLM",
    "BoolArray",
    "ConfigError",
    "DependencyTree",
    "FeatureExtractor",
    "FeatureTable",
    "FloatArray",
    "FormatError",
    "HasUnigrams",
    "Hypothesis",
    "IncrementalLM",
    "IntArray",
    "KBestTrees",
    "LanguageModel",
    "LongArray",
    "Metric",
    "ModelError",
    "NBestFormat",
    "NBestList",
    "Parse",
    "Parser",
    "PickledFields",
    "PluginError",
    "Register",
    "RerankError",
    "Rescored",
    "ScoredTree",
    "Scorer",
    "Sentence",
    "SentenceFeature",
    "SentenceModel",
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
    "Words",
    "cache_folder",
    "check_sentence",
    "check_texts",
    "checks_sentences",
    "content_hash",
    "counted",
    "hookimpl",
    "in_threads",
    "known_spelling",
    "normal_form",
    "open_atomic",
    "open_text",
    "option",
    "read_conllu",
    "read_model",
    "read_trees",
    "suggestion",
    "word_array",
    "words_from",
    "write_model",
]
