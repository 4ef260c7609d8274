"""Runs tests in a copy of the repository, first unchanged, then with one mutation at a time.

`python -m tests.mutating.runner`, in the copy, reads one JSON object from stdin: the `tests` (files or folders), the
`mutations`, and the `seconds` that each may take. It prints one line of JSON for each mutation: what came of it, and
the test that noticed.

The first run says for each test how long it takes, and which lines of the modules it reaches. A mutation is then tried
on the tests that reach its statement, the fastest first, up to the first one that fails. Each run is a fork of a process
that has imported numpy, numba, pytest and Hypothesis, but no module of the copy. Tests that fail without any mutation,
or that take too long, are left out, and named in the first line of the output.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import hypothesis  # noqa: F401
import numba  # noqa: F401
import pytest

from tests.mutating.formulas import Mutation

QUIET = (
    "-W",
    "ignore:Module already imported",
    "-q",
    "-n",
    "0",
    "-m",
    "not slow",
    "-p",
    "no:cacheprovider",
    "--no-header",
    "--tb=no",
    "--disable-warnings",
)
LONGEST = 6.0  # seconds that a test may take in the first run, but for its fixtures
KILLED, SURVIVED, UNREACHED = "killed", "survived", "unreached"
_SLACK, _LONGER = 30.0, 3.0  # seconds for imports, and how much longer tests may take than in the first run


class Reached:
    """A plugin of pytest: which lines of some files each test reaches, and how long the tests that pass take."""

    def __init__(self, wanted: dict[str, set[int]]) -> None:
        self.wanted = wanted  # by file
        self.tests: dict[str, dict[int, list[str]]] = {path: defaultdict(list) for path in wanted}
        self.seconds: dict[str, float] = {}
        self._reached: set[tuple[str, int]] = set()
        self.failed: set[str] = set()  # or took too long
        self._skipped: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._reached = set()
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            for path, line in self._reached:
                self.tests[path][line].append(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self._skipped.add(report.nodeid)

    def passed(self) -> dict[str, float]:
        """The seconds of each test that has passed."""
        return {test: seconds for test, seconds in self.seconds.items() if test not in self.failed | self._skipped}

    def _called(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        path = frame.f_code.co_filename
        if path not in self.wanted:
            return None
        lines = {line for _, _, line in frame.f_code.co_lines() if line in self.wanted[path]}
        unseen = {line for line in lines if (path, line) not in self._reached}
        if not unseen:
            return None

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if event == "line" and frame.f_lineno in unseen:
                unseen.discard(frame.f_lineno)
                self._reached.add((path, frame.f_lineno))
                frame.f_trace_lines = bool(unseen)
            return trace

        return trace


class InOrder:
    """A plugin of pytest: only some tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def in_a_fork(work: Callable[[], Any], seconds: float) -> Any:
    """What the function returns in a fork of this process; None if it ends otherwise, or takes longer."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        try:
            with open(writing, "w") as answer:
                json.dump(work(), answer)
        finally:
            os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    answer, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            part = os.read(reading, 1 << 20)
        except BlockingIOError:
            time.sleep(0.02)
            continue
        answer += part
        if not part:
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # with the processes that tests have started
    os.waitpid(process, 0)
    os.close(reading)
    try:
        return json.loads(answer)
    except json.JSONDecodeError:
        return None


class FirstRun(NamedTuple):
    """The seconds of each test that passes, the tests that do not, and by file and line the tests that reach it."""

    seconds: dict[str, float]
    left_out: list[str]
    reached: dict[str, dict[str, list[str]]]


def first_run(tests: list[str], found: list[Mutation]) -> FirstRun:
    """Run the tests without a mutation."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for each in found:
        wanted[os.path.abspath(each.path)].update(range(each.lines[0], each.lines[1] + 1))

    def run() -> Any:
        reached = Reached(wanted)
        # Outside the function of a test, the exception of the time limit would end pytest.
        code = pytest.main([*QUIET, f"--timeout={LONGEST}", "-o", "timeout_func_only=true", *tests], [reached])
        lines = {os.path.relpath(path): lines for path, lines in reached.tests.items()}
        return int(code), reached.passed(), sorted(reached.failed), lines

    code, *result = in_a_fork(run, 600.0) or [None]
    if code is None:
        raise SystemExit(f"the tests in {', '.join(tests)} do not end without a mutation")
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest has not run the tests in {', '.join(tests)} to the end: its exit code is {code}")
    return FirstRun(*result)


def chosen(
    each: Mutation, seconds: dict[str, float], reached: dict[str, dict[str, list[str]]], most: float
) -> list[str]:
    """The tests that reach a mutation, the fastest first, as many as the seconds suffice for."""
    lines = reached.get(each.path, {})
    tests = {test for line in range(each.lines[0], each.lines[1] + 1) for test in lines.get(str(line), [])}
    order = sorted(tests & seconds.keys(), key=lambda test: (seconds[test], test))
    total = itertools.accumulate(seconds[test] for test in order)
    return [test for place, (test, used) in enumerate(zip(order, total, strict=True)) if not place or used <= most]


def tried(each: Mutation, tests: list[str], seconds: float, moment: int) -> tuple[str, str]:
    """Run the tests with a mutation: what came of it, and the test that noticed."""
    path = Path(each.path)
    source = path.read_bytes()
    path.write_bytes(each.applied(source))
    os.utime(path, (moment, moment))  # two changes of equal length within one second are two to Python, too

    def run() -> Any:
        plugin = InOrder(tests)
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        return int(pytest.main(["-x", *QUIET, *files], [plugin])), plugin.failed

    try:
        result = in_a_fork(run, _LONGER * seconds + _SLACK)
    finally:
        path.write_bytes(source)
        os.utime(path, (moment - 1, moment - 1))
    if result is None:
        return KILLED, "the time limit"
    return (SURVIVED, "") if result[0] == pytest.ExitCode.OK else (KILLED, result[1] or "the imports")


def main() -> None:
    """Try all mutations of the JSON object on stdin."""
    task = json.load(sys.stdin)
    found = [Mutation(**each | {"lines": tuple(each["lines"])}) for each in task["mutations"]]
    seconds, left_out, reached = first_run(task["tests"], found)
    print(json.dumps({"tests": len(seconds), "seconds": sum(seconds.values()), "left_out": left_out}), flush=True)
    moment = int(time.time())
    for each in found:
        moment += 2
        tests = chosen(each, seconds, reached, task["seconds"])
        outcome, by = tried(each, tests, sum(seconds[test] for test in tests), moment) if tests else (UNREACHED, "")
        print(json.dumps({"outcome": outcome, "by": by}), flush=True)


if __name__ == "__main__":
    main()
