"""The plugins of the family `english`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("grammar-violations", "rerank_plugins.english.grammar_violations:GrammarViolationsFeature")
