"""`rerank apply -` behind a decoder: each list is answered as soon as it is complete, and the bytes stay the same."""

import select
import subprocess
import threading
import time

import pytest

from rerank_adapters.chain.extraction import as_they_come
from rerank_plugins import Hypothesis, NBestList
from tests.command_line import done, refused, start

WEIGHTS = '[dense]\nlength = 1\n[provenance.job]\nnbest = {use = "%s"}\nfeature = [{use = "length"}]\n'


def weights(folder, format_):
    (folder / "w.toml").write_text(WEIGHTS % format_)
    return folder / "w.toml"


def answer(process: subprocess.Popen[bytes], seconds: float = 60.0) -> bytes:
    """The next line of a process, which must come while its input is open."""
    assert select.select([process.stdout], [], [], seconds)[0], "nothing was written"
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_list_is_answered_before_the_next_one_comes(tmp_path):
    """JSON lines, which are complete with their line; and the decoder is answered before it writes the next list."""
    process = start("apply", "-", "-w", weights(tmp_path, "hyporadise"), bufsize=0)
    with process:
        for number in range(3):
            process.stdin.write(b'{"input": ["so it is", "it is %d"], "output": ""}\n' % number)
            assert answer(process) == b"so it is\n"
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


@pytest.mark.slow
def test_an_error_while_the_input_is_open_ends_the_program(tmp_path):
    process = start("apply", "-", "-w", weights(tmp_path, "moses"), bufsize=0)
    process.stdin.write(b"0 ||| a ||| \n1 ||| b c ||| \nnonsense\n")
    assert answer(process) == b"a\n"
    assert process.wait(60) == 2
    err = process.stderr.read().decode()
    assert err.endswith("rerank: <stdin>:3: found 1 column, expected id ||| text ||| features [||| score ...]\n"), err
    assert "Fatal" not in err
    process.stdin.close(), process.stdout.close(), process.stderr.close()


def test_the_same_bytes_in_batches_and_one_by_one(tmp_path):
    """And an id may come again in a stream, whose lists stand alone."""
    lists = "".join(f"{number} |||{' a' * ((number + row) % 4)} ||| \n" for number in range(30) for row in range(5))
    once, batches = (
        done("apply", "-", "-w", weights(tmp_path, "moses"), *more, stdin=lists).out for more in (["--stream"], [])
    )
    assert once == batches
    assert done("apply", "-", "-w", tmp_path / "w.toml", "--stream", stdin=lists * 2).out == 2 * once
    assert "comes again" in refused("apply", "-", "-w", tmp_path / "w.toml", stdin=lists * 2)
    assert "--stream takes one file" in refused("apply", "-", "-", "-w", tmp_path / "w.toml", "--stream", stdin=lists)


def test_what_waits_is_taken_together_and_bounded():
    """While a group is processed, the reader goes on until as many hypotheses as a group may have are there."""
    read: list[int] = []

    def lists():
        for number in range(100):
            read.append(number)
            yield NBestList(str(number), (Hypothesis("a"),) * 5)

    groups = as_they_come(lists(), most=20)
    sizes = [len(next(groups))]
    until = time.monotonic() + 60
    while len(read) < sizes[0] + 5 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    assert len(read) == sizes[0] + 5  # four lists of five make twenty; the fifth waits
    sizes += map(len, groups)
    assert sum(sizes) == 100
    assert max(sizes) <= 5


def test_an_error_comes_after_the_lists_before_it():
    started = threading.Event()

    def lists():
        yield NBestList("0", (Hypothesis("a"),))
        started.wait(60)
        raise ValueError("the end")

    groups = as_they_come(lists())
    assert [nbest.segment_id for nbest in next(groups)] == ["0"]
    started.set()
    with pytest.raises(ValueError, match="the end"):
        next(groups)
