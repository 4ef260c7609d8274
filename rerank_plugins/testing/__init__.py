"""Contract checks for plugin authors: each raises an AssertionError that names the promise which an object breaks.

    from rerank_plugins.testing import check_feature_extractor
    def test_contract():
        check_feature_extractor(TypeTokenRatio())

Our own tests run these checks over every registered plugin. They need no test framework, and importing them loads no
more than the interfaces. The docstring of each check states the rules that it checks, and most checks take samples of
your own (n-best lists, sentences, texts), for a plugin that needs special ones.
"""

from rerank_plugins.testing.features import check_feature_extractor
from rerank_plugins.testing.formats import check_format
from rerank_plugins.testing.language_models import check_incremental_lm, check_language_model
from rerank_plugins.testing.metrics_and_tuners import check_metric, check_tuner
from rerank_plugins.testing.parsers import check_parser
from rerank_plugins.testing.samples import SENTENCES, sample_nbest

__all__ = [
    "SENTENCES",
    "check_feature_extractor",
    "check_format",
    "check_incremental_lm",
    "check_language_model",
    "check_metric",
    "check_parser",
    "check_tuner",
    "sample_nbest",
]
