"""Reports on sentence completion: the accuracy of each system, and McNemar's test against a baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_adapters.applications.completion.answering import Answers
from rerank_adapters.applications.completion.questions_file import Question
from rerank_adapters.evaluation.significance import mcnemar, wilson_interval
from rerank_adapters.report.tables import Table

HEADER = ("system", "accuracy", "95 % interval", "right")
COMPARISON = ("system", "difference", "only this", "only that", "p")


def accuracy_tables(questions: Sequence[Question], systems: Sequence[Answers], baseline: str) -> list[Table]:
    """The comparison of each system with the `baseline` (its name), then the accuracy of each, a row for each system.

    All answers must be known.
    """
    answers = np.array([question.answer for question in questions], np.int64)
    right = {system.system: system.choices == answers for system in systems}
    rows, compared = [], []
    for name, correct in right.items():
        low, high = wilson_interval(int(correct.sum()), len(correct))
        accuracy = f"{100 * correct.mean():.1f} %", f"{100 * low:.1f} to {100 * high:.1f}"
        rows.append((name, *accuracy, f"{correct.sum()} of {len(correct)}"))
        if name != baseline:
            test = mcnemar(correct, right[baseline])
            difference = 100 * (correct.mean() - right[baseline].mean())
            counts = str(test.first_only), str(test.second_only)
            compared.append((name, f"{difference:+.1f}", *counts, f"{test.p_value:.3g}"))
    guessing = 100 * np.mean([1 / len(question.options) for question in questions])
    tables = []
    if compared:
        notes = (
            "The difference of accuracies is in percentage points. `only this` counts the",
            "questions that this system alone answers correctly, `only that` those of the",
            "baseline. p: McNemar's exact test.",
        )
        tables = [Table(f"Compared with {baseline}", COMPARISON, tuple(compared), notes)]
    note = f"Guessing would reach {guessing:.1f} %. The intervals are Wilson's."
    return [*tables, Table("Sentence completion", HEADER, tuple(rows), (note,))]
