"""An extension of Griffe that shows the examples in docstrings (`>>> …`) as code."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Fences each example: the lines from `>>>` to the next empty line."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object that has been loaded."""
        if obj.docstring and ">>>" in obj.docstring.value:
            obj.docstring.value = re.sub(
                r"^>>>.*?(?=\n\s*\n|\Z)", r"```pycon\n\g<0>\n```", obj.docstring.value, flags=re.S | re.M
            )
