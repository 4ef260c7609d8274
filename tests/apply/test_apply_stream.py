"""`rerank apply -` behind a decoder: each list is answered as soon as it is complete, and the bytes stay the same."""

import select
import subprocess

import pytest

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
    assert "appears twice" in refused("apply", "-", "-w", tmp_path / "w.toml", stdin=lists * 2)
    assert "--stream takes one file" in refused("apply", "-", "-", "-w", tmp_path / "w.toml", "--stream", stdin=lists)
