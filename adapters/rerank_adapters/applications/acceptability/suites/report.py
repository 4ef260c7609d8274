"""Reports on test suites: the proportion of predictions that each system meets, by suite and over all suites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.suites.regions import SuiteResult
from rerank_adapters.evaluation.significance import wilson_interval
from rerank_adapters.report.tables import Table


def suite_records(results: Sequence[SuiteResult]) -> list[dict[str, Any]]:
    """A record for each suite, system and prediction."""
    records = []
    for result in results:
        for number, (formula, met) in enumerate(zip(result.suite.predictions, result.counts.tolist(), strict=True), 1):
            items = len(result.suite.items)
            low, high = wilson_interval(met, items)
            record = {"suite": result.suite.name, "system": result.system, "prediction": number, "items": items}
            record |= {"met": met, "share": met / items, "low": low, "high": high, "formula": formula.text}
            records.append(record)
    return records


def suite_table(results: Sequence[SuiteResult]) -> Table:
    """A row for each suite, a column for each system; the last row is the mean over suites."""
    systems = list(dict.fromkeys(result.system for result in results))
    suites = {id(result.suite): result.suite for result in results}
    shares = {(id(result.suite), result.system): result.share for result in results}
    rows = [
        (
            suite.name,
            str(len(suite.items)),
            str(len(suite.predictions)),
            *(f"{100 * shares[key, s]:.1f} %" for s in systems),
        )
        for key, suite in suites.items()
    ]
    means = [np.mean([shares[key, system] for key in suites]) for system in systems]
    rows.append((f"mean of {len(suites)}", "", "", *(f"{100 * mean:.1f} %" for mean in means)))
    header = ("suite", "items", "predictions", *systems)
    return Table(
        "Test suites", header, tuple(rows), ("The proportion of predictions that are met, over the items of a suite.",)
    )


def surprisal_records(results: Sequence[SuiteResult]) -> list[dict[str, Any]]:
    """A record for each region of each sentence, in bits."""
    return [
        {"system": result.system, **asdict(row), "tokens": " ".join(row.tokens)}
        for result in results
        for row in result.surprisals
    ]
