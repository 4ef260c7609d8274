"""Pickles objects without their cached properties, so that models are loaded anew in another process."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, ClassVar


class PickledFields:
    """A base class for dataclasses with cached properties: only the fields of their instances are pickled."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
