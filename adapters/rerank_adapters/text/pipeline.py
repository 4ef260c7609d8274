"""Text pipelines: the table of steps, and the steps that texts go through in order."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rerank_adapters.text.penn_tokens import penn_tokenize, penn_unescape
from rerank_adapters.text.steps import (
    DOTLESS,
    FILLERS,
    Step,
    characters,
    classes,
    detokenize,
    expand_contractions,
    lowercase,
    no_fillers,
    no_noise,
    no_punctuation,
    no_unknown,
    normalize,
    numbers_to_words,
    restored,
    reverse,
    side,
    tokenize,
    truecase,
    undo_bpe,
    undo_sentencepiece,
    unescape,
    uppercase,
    whisper,
)
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import resolve

STEP = re.compile(r"[a-z][a-z-]*(?::.*)?")  # what follows a `+` and has another form belongs to an argument
NONE = "none"  # no steps
CASES = ("lowercase", "uppercase")


@dataclass(frozen=True)
class StepKind:
    """A kind of step, written `name` or `name:argument`.

    `make`        builds the step from its argument
    `argument`    describes the text after the colon, "" where no argument is allowed
    `default`     the argument where none is written; without a default it is required, unless it is `optional`
    `takes_file`  whether the argument is a file
    `package`     the distribution whose version belongs in signatures
    """

    name: str
    make: Callable[[str], Step]
    argument: str = ""
    default: str = ""
    takes_file: bool = False
    package: str = ""
    optional: bool = False

    def describe(self, argument: str) -> str:
        """The step with all that its result depends on: the argument, the file's checksum, the package version."""
        if self.takes_file:
            return f"{self.name}:sha256-{_digest(argument)}"
        full = f"{self.name}:{argument}" if argument else self.name
        if not self.package:
            return full
        try:
            return f"{full}({self.package}-{version(self.package)})"
        except PackageNotFoundError:
            self.make(argument)  # raises an error that names the package to install
            return full


def _without_argument(function: Step) -> Callable[[str], Step]:
    return lambda argument: function


KINDS = {
    kind.name: kind
    for kind in (
        StepKind("side", side, "source or target", default="target"),
        StepKind("reverse", _without_argument(reverse)),
        StepKind("undo-bpe", _without_argument(undo_bpe)),
        StepKind("undo-sentencepiece", _without_argument(undo_sentencepiece)),
        StepKind("unescape", _without_argument(unescape)),
        StepKind("penn-tokenize", _without_argument(penn_tokenize)),
        StepKind("penn-unescape", _without_argument(penn_unescape)),
        StepKind("tokenize", tokenize, "a language code (tokenize:en)", package="sacremoses"),
        StepKind("detokenize", detokenize, "a language code (detokenize:en)", package="sacremoses"),
        StepKind("lowercase", lowercase, "a language code (lowercase:tr)", optional=True),
        StepKind("uppercase", uppercase, "a language code (uppercase:tr)", optional=True),
        StepKind("truecase", truecase, "a model file (truecase:truecase-model.en)", takes_file=True),
        StepKind("classes", classes, "a file of classes (classes:classes.tsv)", takes_file=True),
        StepKind("no-punctuation", no_punctuation, "the characters kept within words", default="'"),
        StepKind("expand-contractions", _without_argument(expand_contractions)),
        StepKind("no-fillers", no_fillers, "the fillers (no-fillers:uh,um)", default=FILLERS),
        StepKind("characters", _without_argument(characters)),
        StepKind("restore-sentence", restored),
        StepKind("no-unknown", _without_argument(no_unknown)),
        StepKind("no-noise", _without_argument(no_noise)),
        StepKind("numbers-to-words", numbers_to_words, "a language code", default="en", package="num2words"),
        StepKind("whisper", whisper, "en or basic", default="en", package="whisper-normalizer"),
        StepKind("normalize-unicode", normalize, "a normal form (NFC, NFKC)", default="NFC"),
    )
}


def is_step(step: str) -> bool:
    """Whether a text begins with the name of a step."""
    return step.partition(":")[0] in KINDS


def find_step(step: str) -> tuple[StepKind, str]:
    """The kind and the argument of a step. Raises ConfigError for an unknown step or a wrong use of its argument."""
    name, _, argument = step.partition(":")
    if name not in KINDS:
        raise ConfigError(f"unknown text step {name!r}{suggestion(name, KINDS)}")
    kind = KINDS[name]
    if argument and not kind.argument:
        raise ConfigError(f"text step {name!r} takes no argument, found {argument!r}")
    if kind.argument and not (argument or kind.default or kind.optional):
        raise ConfigError(f"text step {name!r} needs {kind.argument}")
    return kind, argument or kind.default


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise ConfigError(f"text step: {path}: cannot be read ({error.strerror})") from None


def in_language(step: str, language: str) -> str:
    """The step as a config of a language means it: `lowercase` and `uppercase` depend on it where it has a dotless i.

    >>> in_language("lowercase", "tr"), in_language("lowercase", "de"), in_language("unescape", "tr")
    ('lowercase:tr', 'lowercase', 'unescape')
    """
    return f"{step}:{language}" if step in CASES and language in DOTLESS else step


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
