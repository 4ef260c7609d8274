"""The packages whose plugins are built in, beside those of `rerank_plugins` itself: all register through the hooks."""

BUILTIN = tuple(
    f"rerank_adapters.{package}" for package in ("formats", "metrics", "tuners", "commands", "applications")
)
