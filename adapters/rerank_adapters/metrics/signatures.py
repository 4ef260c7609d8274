"""Writes signatures in sacrebleu's form: `key:value` pairs with bars between, from the number of references on."""

from __future__ import annotations

from rerank_plugins.core.metrics_and_tuners import Metric


def join_signature(version: str, **settings: str | int | bool) -> str:
    """A signature such as `case:mixed|tok:13a|version:2.6.0`; truth values are written yes and no."""
    words = {True: "yes", False: "no"}
    pairs = [(key, words[value] if isinstance(value, bool) else value) for key, value in settings.items()]
    return "|".join(f"{key}:{value}" for key, value in [*pairs, ("version", version)])


def full_signature(metric: Metric, references: int | None) -> str:
    """The metric's signature with the number of references per segment (None where it varies)."""
    return f"nrefs:{'var' if references is None else references}|{metric.signature()}"
