"""The errors that users see. Each message is one line with the fault, its position, and the value that was expected.

RerankError            any error that this project reports on purpose (exit code 2)
├── ConfigError        a config key or command-line option
├── FormatError        an input file; has its path and line
├── PluginError        a plugin that cannot be loaded or breaks its contract
└── ModelError         a model file that is missing, cut short or of another version
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

# Exceptions that building a model from bad settings or arrays may raise.
DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
LONGEST = 1000  # characters of a message


class RerankError(Exception):
    """The base class of every error that this project raises on purpose; its text is one line for the user."""

    def __str__(self) -> str:
        """The message in one line; the middle of a very long one, which quotes a file, is left out."""
        text = " ".join(super().__str__().splitlines())
        return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


class ConfigError(RerankError):
    """A config key or an option is unknown, missing or of the wrong type."""


class PluginError(RerankError):
    """A plugin cannot be imported, registers a name that is taken, or returns a value that its contract forbids."""


class ModelError(RerankError):
    """A model file is missing, cut short, or of another version or kind."""


class FormatError(RerankError):
    """An input file does not conform to its format.

    >>> print(FormatError("expected 3 fields, found 2", path="dev.nbest", line=7))
    dev.nbest:7: expected 3 fields, found 2
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None) -> None:
        self.message, self.path, self.line = message, path, line
        where = f"{path}:{line}: " if line is not None else f"{path}: " if path else ""
        super().__init__(where + message)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """In the block, the message of a ModelError gets the path of the model's file, unless it has it or there is none.

    >>> with naming("lm.pcfg"):
    ...     raise ModelError("damaged grammar")
    Traceback (most recent call last):
    rerank_plugins.core.errors.ModelError: lm.pcfg: damaged grammar
    """
    try:
        yield
    except ModelError as error:
        if not path or path in str(error):
            raise
        raise ModelError(f"{path}: {error}") from None


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error message: `; did you mean 'bleu'?`, or all known names if none is similar."""
    known = sorted(known)
    similar = get_close_matches(name, known, 1)
    return f"; did you mean {similar[0]!r}?" if similar else f" (known: {', '.join(known) or 'none'})"
