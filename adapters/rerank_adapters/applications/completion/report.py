"""The table of sentence completion: accuracy of each system with its interval, and McNemar's test against one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_adapters.applications.completion.answering import Answers
from rerank_adapters.applications.completion.questions_file import Question
from rerank_adapters.evaluation.proportions import mcnemar, wilson_interval
from rerank_adapters.report.tables import Table

HEADER = ("system", "accuracy", "95 % interval", "right", "difference", "only this", "only that", "p")


def accuracy_table(questions: Sequence[Question], systems: Sequence[Answers], baseline: str) -> Table:
    """A row a system, all answers known; `baseline` names the system that the others are compared with."""
    wanted = np.array([question.answer for question in questions], np.int64)
    right = {system.system: system.choices == wanted for system in systems}
    rows = []
    for name, answers in right.items():
        interval = wilson_interval(int(answers.sum()), len(answers))
        cells = [f"{100 * answers.mean():.1f} %", f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"]
        cells.append(f"{answers.sum()} of {len(answers)}")
        if name == baseline:
            cells += [""] * 4
        else:
            test = mcnemar(answers, right[baseline])
            difference = 100 * (answers.mean() - right[baseline].mean())
            cells += [f"{difference:+.1f}", str(test.first_only), str(test.second_only), f"{test.p_value:.3g}"]
        rows.append((name, *cells))
    notes = [f"guessing: {100 * np.mean([1 / len(q.options) for q in questions]):.1f} %; intervals: Wilson"]
    if len(right) > 1:
        notes.append(
            f"difference to {baseline} in points; questions that only one of the two has right; p: McNemar, exact"
        )
    return Table(
        "Sentence completion",
        HEADER if len(right) > 1 else HEADER[:4],
        tuple(row[: None if len(right) > 1 else 4] for row in rows),
        tuple(notes),
    )
