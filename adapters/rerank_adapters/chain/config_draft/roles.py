"""The roles of files that their names show: lists to tune on or to test, sources, references."""

from __future__ import annotations

import re

ROLES = {
    "tune": {"tune", "tuning", "dev", "devel", "development", "valid", "validation", "val", "heldout"},
    "test": {"test", "tst", "eval", "evaluation", "blind"},
}
SOURCE = {"src", "source", "input"}
REFERENCE = {"ref", "refs", "reference", "references", "gold", "truth", "transcript", "transcripts", "trn"}


def parts(name: str) -> set[str]:
    """The pieces of a name that consist of letters, in lower case."""
    return set(re.split(r"[^a-z]+", name.lower()))


def role_of(name: str) -> str | None:
    """The role, "tune" or "test", where a name has a piece that says so."""
    return next((role for role, names in ROLES.items() if parts(name) & names), None)
