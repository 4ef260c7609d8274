"""Brackets and quotation marks as the Penn Treebank writes them, and the characters that they stand for."""

from __future__ import annotations

BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
PLAIN = BRACKETS | {"``": '"', "''": '"'}
