"""Paths as a config writes them: relative to the config file, `~` and `$VARIABLE` expanded."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rerank_plugins.errors import ConfigError


def resolve(path: Path | str, base: Path) -> Path:
    """The path seen from here. Raises ConfigError for an environment variable that is not set.

    >>> resolve("lm.arpa", Path("models")).as_posix()
    'models/lm.arpa'
    """
    text = os.path.expandvars(os.path.expanduser(path))
    if unset := re.search(r"\$(\w+|\{\w+\})", text):
        raise ConfigError(f"{path}: the environment variable {unset[1].strip('{}')} is not set")
    return base / text
