"""The packages of built-in plugins besides those of `rerank_plugins`; they register through the same hooks."""

PACKAGES = ("formats", "metrics", "tuners", "commands", "applications")
BUILTIN = tuple(f"rerank_adapters.{package}" for package in PACKAGES)
