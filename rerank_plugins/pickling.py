"""Objects that go to other processes light: what they load on first use stays behind, and is loaded there anew."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, ClassVar


class PickledFields:
    """A dataclass that is pickled as its fields, without its cached properties. Inherit from it where it has some."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
