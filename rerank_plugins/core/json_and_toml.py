"""Reads JSON and TOML from untrusted files: whatever cannot be read raises the decoder's error, in one line.

The libraries raise RecursionError for deep nesting and ValueError for integers of thousands of digits, and a TOML key
of n parts takes them O(n²) memory. All three become the error of a malformed document here.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

BREAKS = re.compile("[\x85\u2028\u2029]")
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


def json_line(value: Any, default: Callable[[Any], object] | None = None) -> str:
    r"""The value as JSON on one line, without its end; `default` returns what is written for a value JSON lacks.

    The characters of texts at which some programs break lines, \x85, U+2028 and U+2029, are written as escapes.
    """
    text = json.dumps(value, ensure_ascii=False, default=default)
    return BREAKS.sub(lambda character: f"\\u{ord(character[0]):04x}", text)


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
