"""The names of `rerank_plugins.text_files` (text files, plain or compressed), for the modules that import them here."""

from rerank_plugins.text_files import (
    MAGIC,
    PIECE,
    STANDARD,
    arrives,
    decoded_lines,
    display_name,
    open_atomic,
    open_text,
)

__all__ = ["MAGIC", "PIECE", "STANDARD", "arrives", "decoded_lines", "display_name", "open_atomic", "open_text"]
