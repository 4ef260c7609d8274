"""Pickling without cached properties: what an object loads on first use is not sent, but loaded anew elsewhere."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, ClassVar


class PickledFields:
    """A base of dataclasses that have cached properties: their instances are pickled as their fields alone."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
