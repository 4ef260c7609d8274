"""Ln p where an incremental parser has no analysis: of a word that it cannot read, and of the end of a sentence."""

from __future__ import annotations

import math

UNPARSED = math.log(1e-4)
UNFINISHED = math.log(1e-6)
