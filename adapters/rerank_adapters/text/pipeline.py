"""A sequence of text steps, which is applied once per distinct text and recorded in signatures and provenance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_adapters.text.steps import Step, StepKind, find_step


@dataclass(frozen=True)
class TextPipeline:
    """Text steps in order, as a config lists them: `("undo-bpe", "detokenize:en")`; without steps text is unchanged.

    File arguments are relative to the folder `base`; the files are read on first use. Raises ConfigError for an unknown
    step and for a missing or superfluous argument.
    """

    steps: tuple[str, ...] = ()
    base: Path = Path()

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        for step in self.steps:
            find_step(step)

    def __getstate__(self) -> dict[str, object]:
        return {
            "steps": self.steps,
            "base": self.base,
        }  # not the tokenisers, which are built again

    @cached_property
    def _parsed(self) -> list[tuple[StepKind, str]]:
        return [find_step(step) for step in self.steps]

    @cached_property
    def _functions(self) -> list[Step]:
        return [kind.make(self._argument(kind, argument)) for kind, argument in self._parsed]

    def _argument(self, kind: StepKind, argument: str) -> str:
        return str(self.base / argument) if kind.takes_file else argument

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
            f"{kind.name}:{os.path.relpath(self.base / argument, folder)}" if kind.takes_file else step
            for step, (kind, argument) in zip(self.steps, self._parsed, strict=True)
        ]
