"""Reranking of n-best lists by plugins: the names that a plugin author imports."""

from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ConfigError, FormatError, ModelError, PluginError, RerankError
from rerank_plugins.feature_table import FeatureTable
from rerank_plugins.hookspecs import hookimpl
from rerank_plugins.interfaces import (
    BatchedLM,
    FeatureExtractor,
    HasUnigrams,
    IncrementalLM,
    LanguageModel,
    Metric,
    NBestFormat,
    Parse,
    Parser,
    Rescored,
    Scorer,
    SentenceModel,
    Tuner,
    TuningData,
    TuningResult,
    TuningStep,
    check_texts,
    option,
)
from rerank_plugins.kernel_cache import install
from rerank_plugins.model_file import read_model, word_array, words_from, write_model
from rerank_plugins.nbest import Hypothesis, NBestList
from rerank_plugins.pickling import PickledFields
from rerank_plugins.sentence_feature import SentenceFeature
from rerank_plugins.sparse_block import SparseBlock
from rerank_plugins.text_files import open_atomic, open_text
from rerank_plugins.trained_on import TrainedOn
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.dependency import DependencyTree
from rerank_plugins.trees.scored import ScoredTree

install()

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
    "TrainedOn",
    "Tree",
    "Tuner",
    "TuningData",
    "TuningResult",
    "TuningStep",
    "check_texts",
    "hookimpl",
    "open_atomic",
    "open_text",
    "option",
    "read_model",
    "word_array",
    "words_from",
    "write_model",
]
