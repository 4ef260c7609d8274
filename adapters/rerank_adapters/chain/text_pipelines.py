"""The text pipelines of a config: what its keys `text` and `source_text` and the options `--text` mean."""

from __future__ import annotations

from rerank_adapters.job.config import Config
from rerank_adapters.text import KINDS, TextPipeline, in_language, is_step, split_steps
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import suggestion


def text_pipeline(config: Config, value: object, where: str, *, of_source: bool = False) -> TextPipeline:
    """The text pipeline of a value: the name of one in `[text]`, steps joined by `+`, or a list of both.

    None is a pipeline without steps. Steps change case as the config's language does, unless the text is that
    `of_source`. `where` names the place in errors. Raises ConfigError for a name that is neither a pipeline of the
    config nor a step.
    """
    steps: list[str] = []
    for name in names_of_steps(config, value, where):
        if name in config.text:
            steps += split_steps(config.text[name])
        elif is_step(name):
            steps.append(name)
        else:
            known = suggestion(name, [*config.text, *KINDS])
            raise ConfigError(f"{where}: no text pipeline or step named {name!r}{known}")
    language = "" if of_source else config.language
    return TextPipeline([in_language(step, language) for step in steps], config.base)


def names_of_steps(config: Config, value: object, where: str) -> tuple[str, ...]:
    """The steps and names of pipelines that a value lists, as `text_pipeline` reads them."""
    return (value,) if isinstance(value, str) and value in config.text else split_steps(value, where)
