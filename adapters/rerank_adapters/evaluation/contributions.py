"""The contributions of families of features to a tuned system, as values that tables and pages show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contribution:
    """What one family of features contributes, or several that are left out together.

    `columns`   the number of their features
    `spread`    the standard deviation within lists of their weighted sum, divided by that of the whole score; families
                that agree or cancel each other make these ratios sum to less or more than 1
    `held_out`  the corpus score of choices on held-out folds, where all other families were tuned on the other folds
    `loss`      by how much that is worse than with all families; negative where the choices are better without it
    `error`     the standard error of the loss over segments
    """

    family: str
    columns: int
    spread: float
    held_out: float
    loss: float
    error: float

    @property
    def half_width(self) -> float:
        """Half the width of the 95 % interval of the loss, in normal approximation."""
        return 1.96 * self.error

    @property
    def certain(self) -> bool:
        """Whether the interval excludes zero."""
        return abs(self.loss) > self.half_width


@dataclass(frozen=True)
class Contributions:
    """The contributions of all families, and the held-out score with all of them, over so many folds of segments.

    `linear` is false where the tuned weights are only a part of the model, of which the spreads are proportions.
    """

    rows: tuple[Contribution, ...]
    held_out: float
    folds: int
    segments: int
    linear: bool = True
