"""Mutations that change no number, each with the reason: by file, and by line of the source and change."""

from __future__ import annotations

from tests.mutating.formulas import Mutation

# file: (the line, the old text, the new text): the reason. Equal changes of one line have one reason.
EQUIVALENT: dict[str, dict[tuple[str, str, str], str]] = {}


def reason(each: Mutation) -> str:
    """Why a mutation changes no number; empty where it may change one."""
    return EQUIVALENT.get(each.path, {}).get((each.text, each.old, each.new), "")
