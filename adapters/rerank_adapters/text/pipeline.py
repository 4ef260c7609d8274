"""Text pipelines: the steps that texts go through in order, and the one reading of all the ways to write them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_adapters.text.steps import Step, StepKind, find_step
from rerank_plugins import ConfigError
from rerank_plugins.core.files import resolve

STEP = re.compile(r"[a-z][a-z-]*(?::.*)?")  # what follows a `+` and has another form belongs to an argument
NONE = "none"  # no steps


def split_steps(value: object, where: str = "text") -> tuple[str, ...]:
    """The steps that a user wrote: a text of steps joined by `+`, or a list of such texts; `none` or None for no steps.

    `where` names the place in errors. The steps need not exist, since they may be names of pipelines. A `+` in the
    argument of a step stays if what follows cannot be a step. Raises ConfigError for a value of another type.

    >>> split_steps("undo-bpe+detokenize:en"), split_steps(["lowercase", "classes:c++.tsv"]), split_steps("none")
    (('undo-bpe', 'detokenize:en'), ('lowercase', 'classes:c++.tsv'), ())
    """
    texts = [] if value in (None, NONE, (NONE,), [NONE]) else [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(f"{where}: {value!r} are not text steps; wanted step+step, or a list of steps")
    steps: list[str] = []
    for text in texts:
        first, *others = text.split("+")
        steps.append(first)
        for piece in others:
            if ":" in steps[-1] and not STEP.fullmatch(piece):
                steps[-1] += f"+{piece}"
            else:
                steps.append(piece)
    return tuple(steps)


@dataclass(frozen=True)
class TextPipeline:
    """Text steps in order, as `split_steps` reads them: `("undo-bpe", "detokenize:en")` or `"undo-bpe+detokenize:en"`.

    Without steps text is unchanged. File arguments are relative to the folder `base`, with `~` and `$VARIABLE`
    expanded; the files are read on first use. Raises ConfigError for an unknown step and for a missing or superfluous
    argument.
    """

    steps: Sequence[str] = ()
    base: Path = Path()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", split_steps(self.steps))
        for step in self.steps:
            find_step(step)

    def __getstate__(self) -> dict[str, object]:
        return {"steps": self.steps, "base": self.base}  # not the tokenisers, which are built again

    @cached_property
    def _parsed(self) -> list[tuple[StepKind, str]]:
        return [find_step(step) for step in self.steps]

    @cached_property
    def _functions(self) -> list[Step]:
        return [kind.make(self._argument(kind, argument)) for kind, argument in self._parsed]

    def _argument(self, kind: StepKind, argument: str) -> str:
        return str(resolve(argument, self.base)) if kind.takes_file else argument

    def apply(self, texts: Sequence[str]) -> list[str]:
        """The texts after all steps; each distinct text is processed once. Raises ConfigError for a bad model file."""
        if not self.steps:
            return list(texts)
        results: dict[str, str] = {}
        for text in dict.fromkeys(texts):
            result = text
            for function in self._functions:
                result = function(result)
            results[text] = result
        return [results[text] for text in texts]

    def describe(self) -> str:
        """A stable description for signatures: the steps, package versions and file checksums, or `none`."""
        described = [kind.describe(self._argument(kind, argument)) for kind, argument in self._parsed]
        return "+".join(described) or "none"

    def rebased(self, folder: Path) -> list[str]:
        """The steps, with the paths of their files relative to another folder."""
        return [
            f"{kind.name}:{os.path.relpath(resolve(argument, self.base), folder)}" if kind.takes_file else step
            for step, (kind, argument) in zip(self.steps, self._parsed, strict=True)
        ]
