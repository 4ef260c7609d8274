"""Extracts feature tables from n-best lists: once per distinct text, in several processes, resumably."""

from rerank_adapters.chain.extraction.extract import extract_features, stream_features
from rerank_adapters.chain.extraction.known_values import of_lists
from rerank_adapters.chain.extraction.plan import feature_names
from rerank_adapters.chain.extraction.value_cache import ValueCache
from rerank_adapters.runtime.progress import ExtractionProgress

__all__ = ["ExtractionProgress", "ValueCache", "extract_features", "feature_names", "of_lists", "stream_features"]
