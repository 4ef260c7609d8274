"""Where stderr is no terminal, a long job says every minute how far it is; a quick one says nothing."""

import io
import logging
import sys
import threading
import time

import pytest

from rerank_adapters.runtime import progress
from rerank_adapters.runtime.progress import CountingBar, StatusLine, detach, paused


@pytest.fixture
def lines(monkeypatch, caplog):
    """The lines of the log, in which a minute takes a tenth of a second."""
    monkeypatch.setattr(progress, "MINUTE", 0.1)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    caplog.set_level("INFO", "rerank_adapters")
    return caplog.messages


def wait(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_a_line_a_minute(lines, caplog):
    with CountingBar("hypotheses", 2000) as bar:
        bar.add(500)
        wait(lambda: len(caplog.messages) > 1)
        bar.add(500)
        wait(lambda: "1,000 of 2,000" in caplog.messages[-1])
    first = caplog.messages[0]
    assert first.startswith("rerank: 500 of 2,000 hypotheses, 0.1 s so far, about 0.")
    said = len(caplog.messages)
    time.sleep(0.25)
    assert len(caplog.messages) == said  # the block has ended


def test_without_a_total_and_of_a_stage(lines, caplog):
    with CountingBar("words") as bar:
        bar.add(1234)
        wait(lambda: caplog.messages == ["rerank: 1,234 words, 0.1 s so far"])
    caplog.clear()
    with StatusLine("reading the lists") as status:
        status("tuning: restart 1")
        wait(lambda: caplog.messages == ["rerank: tuning: restart 1, 0.1 s so far"])


def test_only_the_innermost_speaks(lines, caplog):
    with StatusLine("outer"), CountingBar("inner") as bar:
        wait(lambda: len(caplog.messages) > 1)
        bar.add(1)
    assert all("inner" in line for line in caplog.messages)


def test_a_quick_job_says_nothing(caplog, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    caplog.set_level("INFO", "rerank_adapters")
    with CountingBar("words", 2) as bar:
        bar.add(2)
    assert caplog.messages == []


def test_no_thread_is_left_when_processes_fork(lines, caplog):
    """A fork with threads is a warning of Python 3.12 and later."""
    before = threading.active_count()
    with StatusLine("working"):
        wait(lambda: caplog.messages)
        with paused():
            assert threading.active_count() <= before  # a thread of an earlier test may have ended meanwhile
            said = len(caplog.messages)
            time.sleep(0.2)
            assert len(caplog.messages) == said
        wait(lambda: len(caplog.messages) > said)
        with paused():
            detach()
        said = len(caplog.messages)
        time.sleep(0.2)
        assert len(caplog.messages) == said
    wait(lambda: threading.active_count() <= before)


def test_a_log_that_nobody_reads_ends_nothing(lines, monkeypatch):
    def broken(*arguments):
        raise BrokenPipeError

    monkeypatch.setattr(logging.getLogger("rerank_adapters.runtime.progress"), "info", broken)
    with StatusLine("working"):
        time.sleep(0.25)
