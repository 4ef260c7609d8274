"""Names by number, in the order in which they are met."""

from __future__ import annotations


class Numbering(dict[str, int]):
    """Gives every new name the next number: `get` never fails.

    >>> numbering = Numbering()
    >>> [numbering.get(name) for name in ("a", "b", "a")]
    [0, 1, 0]
    """

    def get(self, name: str, default: object = None) -> int:  # noqa: ARG002
        """The number of a name."""
        number = super().get(name)
        if number is None:
            number = self[name] = len(self)
        return number
