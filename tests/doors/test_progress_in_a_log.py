"""Where stderr is no terminal, a long job says every minute how far it is; a quick one says nothing."""

import io
import logging
import sys
import threading

import pytest

from rerank_adapters.runtime import progress
from rerank_adapters.runtime.progress import CountingBar, StatusLine


@pytest.fixture
def clock(monkeypatch, caplog):
    """A list whose only item is the time; the log has the lines."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    caplog.set_level("INFO", "rerank_adapters")
    return now


def test_a_line_a_minute(clock, caplog):
    with CountingBar("hypotheses", 2000) as bar:
        bar.add(500)
        assert caplog.messages == []
        clock[0] = 60.0
        bar.add(500)
        bar.add(1)
        assert caplog.messages == ["rerank: 1,000 of 2,000 hypotheses, 1 min 0 s so far, about 1 min 0 s left"]
        clock[0] = 121.0
        bar.add(499)
    assert caplog.messages[1:] == ["rerank: 1,500 of 2,000 hypotheses, 2 min 1 s so far, about 40.3 s left"]


def test_without_a_total_and_of_a_stage(clock, caplog):
    with CountingBar("words") as bar:
        clock[0] = 61.0
        bar.add(1234)
    with StatusLine("reading the lists") as status:
        clock[0] = 180.0
        status("tuning: restart 1")
    assert caplog.messages == ["rerank: 1,234 words, 1 min 1 s so far", "rerank: tuning: restart 1, 1 min 59 s so far"]


def test_a_quick_job_says_nothing_and_no_display_has_a_thread(clock, caplog):
    before = threading.active_count()
    with StatusLine("at work"), CountingBar("words", 2) as bar:
        bar.add(2)
        assert threading.active_count() == before
    assert caplog.messages == []


def test_a_log_that_nobody_reads_ends_nothing(clock, monkeypatch):
    def broken(*arguments):
        raise BrokenPipeError

    monkeypatch.setattr(logging.getLogger("rerank_adapters.runtime.progress"), "info", broken)
    with StatusLine("working") as status:
        clock[0] = 100.0
        status("still working")
