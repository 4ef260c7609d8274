"""Registers the feature that is a metric, with samples of a decoder as references."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the features of this package."""
    register("expected-utility", "rerank_adapters.features.expected_utility:ExpectedUtilityFeature")
