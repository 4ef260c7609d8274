"""The restoration of the fewest expected edits, for tasks in which a wrong word costs more than no word.

Such a task counts the characters in which a restored sentence differs from the complete one. With p(h) the probability
of each restored sentence h of a list, and d the Levenshtein distance, the choice is

    argmin_c Σ_h p(h) d(c, h) + r (|c| - |s|)

among the sentences c of the list and the incomplete sentence s (minimum Bayes risk). r is the probability of all
restorations that the list lacks: to these, an insertion of k characters is taken to add k edits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray


def least_edits(incomplete: str, restored: Sequence[str], scores: FloatArray, rest: float) -> int:
    """The position of the choice in `restored`, or -1 for the incomplete sentence.

    `scores` (n) are ln p of the restored sentences up to a constant; `rest`, from 0 to 1, is the probability of others.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    choices = [*restored, incomplete]
    p = np.exp(scores - np.max(scores))
    p *= (1 - rest) / p.sum()
    distances = cdist(choices, restored, scorer=Levenshtein.distance, dtype=np.int32)
    added = np.array([len(choice) - len(incomplete) for choice in choices])
    best = int(np.argmin(distances @ p + rest * added))
    return best if best < len(restored) else -1
