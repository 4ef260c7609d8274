"""The plugins of the family `missing_words`."""

from rerank_plugins.core.hookspecs import Register, hookimpl


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.missing_words.trainer import MissingWordsTrainer

    register("missing-words", MissingWordsTrainer)
