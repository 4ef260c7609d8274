"""Extracts feature tables from n-best lists: once per distinct text, in several processes, resumably."""

from rerank_adapters.extraction.extract import extract_features, stream_features
from rerank_adapters.extraction.fingerprint import of_lists
from rerank_adapters.extraction.plan import feature_names
from rerank_adapters.extraction.value_cache import ValueCache
from rerank_adapters.progress import ExtractionProgress

__all__ = ["ExtractionProgress", "ValueCache", "extract_features", "feature_names", "of_lists", "stream_features"]
