"""The packages with plugins of our own besides those of `rerank_plugins`; they register through the same hooks."""

BUILTIN = ("rerank_adapters.features", "rerank_adapters.formats", "rerank_adapters.metrics", "rerank_adapters.tuners")
