"""The errors that users see. Each message is one line that says what was found, where, and what was wanted.

RerankError            anything this project reports on purpose (exit code 2)
├── ConfigError        a config key or command-line option
├── FormatError        an input file: carries its path and line
├── PluginError        a plugin that cannot be loaded, or breaks its contract
└── ModelError         a model file: missing, of another version, cut short
"""

from __future__ import annotations


class RerankError(Exception):
    """Base of every error that this project raises on purpose; its text is one line for the user."""


class ConfigError(RerankError):
    """A config key or option that is unknown, missing or of the wrong kind."""


class PluginError(RerankError):
    """A plugin that cannot be imported, collides with another, or returns what its contract forbids."""


class ModelError(RerankError):
    """A model file that is missing, cut short, or of another version or kind."""


class FormatError(RerankError):
    """Input that does not have the form its format promises.

    >>> print(FormatError("expected 3 fields, found 2", path="dev.nbest", line=7))
    dev.nbest:7: expected 3 fields, found 2
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None) -> None:
        self.message, self.path, self.line = message, path, line
        where = f"{path}:{line}: " if line is not None else f"{path}: " if path else ""
        super().__init__(where + message)
