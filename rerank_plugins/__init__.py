"""Reranking of n-best lists by plugins: the names that a plugin author imports."""

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.errors import ConfigError, FormatError, ModelError, PluginError, RerankError
from rerank_plugins.core.feature_table import FeatureTable, SparseBlock
from rerank_plugins.core.hookspecs import hookimpl
from rerank_plugins.core.interfaces import (
    BatchedLM,
    FeatureExtractor,
    HasUnigrams,
    IncrementalLM,
    LanguageModel,
    Parse,
    Parser,
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
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted
from rerank_plugins.kit.files.model_file import read_model, word_array, words_from, write_model
from rerank_plugins.kit.files.text import open_atomic, open_text

__version__ = "0.2.0"
__all__ = [
    "BatchedLM",
    "ConfigError",
    "DependencyTree",
    "FeatureExtractor",
    "FeatureTable",
    "FloatArray",
    "FormatError",
    "HasUnigrams",
    "Hypothesis",
    "IncrementalLM",
    "LanguageModel",
    "Metric",
    "ModelError",
    "NBestFormat",
    "NBestList",
    "Parse",
    "Parser",
    "PickledFields",
    "PluginError",
    "RerankError",
    "Rescored",
    "ScoredTree",
    "Scorer",
    "SentenceFeature",
    "SentenceModel",
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
    "check_texts",
    "counted",
    "hookimpl",
    "open_atomic",
    "open_text",
    "option",
    "read_model",
    "word_array",
    "words_from",
    "write_model",
]
