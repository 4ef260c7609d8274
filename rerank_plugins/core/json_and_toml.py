"""Reads JSON and TOML from untrusted files: whatever cannot be read raises the decoder's error, in one line.

The libraries raise RecursionError for deep nesting and ValueError for integers of thousands of digits, and a TOML key
of n parts takes them O(n²) memory. All three become the error of a malformed document here.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

DEEPEST = 100  # parts of a TOML key
LONG_KEY = re.compile(rf"(?:[\w\"'-]+[ \t]*\.[ \t]*){{{DEEPEST}}}")


def read_json(text: str | bytes) -> Any:
    """The value of a JSON document. Raises json.JSONDecodeError, whose message is one line."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None
    except ValueError:  # the limit of sys.set_int_max_str_digits
        raise json.JSONDecodeError("an integer has too many digits", "", 0) from None


def read_toml_table(text: str) -> dict[str, Any]:
    """The table of a TOML document. Raises tomllib.TOMLDecodeError, whose message is one line."""
    if text.count(".") >= DEEPEST and LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError(f"a key has more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("nested too deeply") from None
    except ValueError:  # the limit of sys.set_int_max_str_digits
        raise tomllib.TOMLDecodeError("an integer has too many digits") from None
