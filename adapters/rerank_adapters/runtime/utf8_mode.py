"""Names of files in UTF-8, whatever the locale says.

In the C locale, or in that of another encoding, Python reads a file name that is in UTF-8 as characters that no text
file can hold, and a config or weights that record the name could not be written. The command line then starts again in
Python's UTF-8 mode, which has the names as they are. What it prints stays in the encoding of the terminal.
"""

from __future__ import annotations

import os
import sys


def restart_in_utf8_mode() -> None:
    """Begin this program anew in UTF-8 mode if names of files are not in UTF-8; otherwise do nothing."""
    if sys.flags.utf8_mode or sys.getfilesystemencoding() in ("utf-8", "utf8") or not sys.executable:
        return
    os.environ.setdefault("PYTHONIOENCODING", sys.__stdout__.encoding if sys.__stdout__ else "ascii")
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def is_no_utf8(error: UnicodeEncodeError) -> bool:
    """Whether an error is due to a file name that is not UTF-8: such bytes are surrogates in Python's texts."""
    return error.reason == "surrogates not allowed"
