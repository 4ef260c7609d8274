"""The plugins of the family `missing_words`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("missing-words", "rerank_plugins.missing_words.trainer:MissingWordsTrainer")
