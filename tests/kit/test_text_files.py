"""Files of every compression, line ends as they are, and outputs that are there whole or not at all."""

import bz2
import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import stream_nbest
from rerank_plugins.core.errors import FormatError, RerankError
from rerank_plugins.kit.files import text as text_files
from rerank_plugins.kit.files.text import _decoded, _lines, open_atomic, open_text

TEXT = "eins\u2028zwei\r\ndrei\x0b\x1c\x85 \n\nvier ||| fünf 😀\nno end".encode()
LINES = ["eins\u2028zwei\r\n", "drei\x0b\x1c\x85 \n", "\n", "vier ||| fünf 😀\n", "no end"]
COMPRESS = {
    "txt": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
every_kind = pytest.mark.parametrize("kind", COMPRESS)
compressed = pytest.mark.parametrize("kind", [kind for kind in COMPRESS if kind != "txt"])


@every_kind
def test_a_compression_is_known_by_content(tmp_path, kind):
    path = tmp_path / "misleading.name"
    path.write_bytes(COMPRESS[kind](TEXT))
    with open_text(path) as lines:
        assert list(lines) == LINES


@compressed
def test_several_streams_in_one_file(tmp_path, kind):
    path = tmp_path / "f"
    padding = b"\0" * 8 if kind in ("xz", "gz") else b""
    path.write_bytes(COMPRESS[kind](b"a\nb") + padding + COMPRESS[kind](b"c\nd") + padding)
    with open_text(path) as lines:
        assert list(lines) == ["a\n", "bc\n", "d"]


@every_kind
def test_an_empty_text(tmp_path, kind):
    (tmp_path / "f").write_bytes(COMPRESS[kind](b""))
    with open_text(tmp_path / "f") as lines:
        assert list(lines) == []


@compressed
@pytest.mark.parametrize("keep", [0.5, 0.98])
def test_a_file_cut_short(tmp_path, kind, keep):
    whole = COMPRESS[kind](os.urandom(300_000).hex().encode())
    (tmp_path / "f").write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(FormatError, match=r"f: .* file is cut short"), open_text(tmp_path / "f") as lines:
        list(lines)


@compressed
def test_a_damaged_file(tmp_path, kind):
    whole = bytearray(COMPRESS[kind](os.urandom(300_000).hex().encode()))
    whole[100_000:100_050] = bytes(255 - byte for byte in whole[100_000:100_050])
    (tmp_path / "f").write_bytes(whole)
    with pytest.raises(FormatError, match=r"f: damaged .* file"), open_text(tmp_path / "f") as lines:
        list(lines)


@compressed
def test_rubbish_after_the_end(tmp_path, kind):
    (tmp_path / "f").write_bytes(COMPRESS[kind](TEXT) + b"rubbish, more rubbish")
    with pytest.raises(FormatError, match=r"f: (damaged|.*cut short)"), open_text(tmp_path / "f") as lines:
        list(lines)


def test_broken_utf8_is_named_by_line_and_byte(tmp_path):
    (tmp_path / "f").write_bytes(b"good\n" * 70_000 + b"caf\xe9 \n")
    said = r"f:70001: byte 4 of the line is 0xe9, which is not UTF-8"
    with pytest.raises(FormatError, match=said), open_text(tmp_path / "f") as lines:
        list(lines)


def test_a_byte_order_mark(tmp_path):
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbf0 ||| a\n")
    with pytest.raises(FormatError, match="f:1: starts with a byte-order mark"), open_text(tmp_path / "f") as lines:
        list(lines)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FormatError, match="absent: no such file"), open_text(tmp_path / "absent"):
        pass
    with pytest.raises(FormatError, match="is a folder, expected a file"), open_text(tmp_path):
        pass
    if os.geteuid() != 0:
        (tmp_path / "secret").touch(0)
        with pytest.raises(FormatError, match="permission denied"), open_text(tmp_path / "secret"):
            pass


@given(st.binary(max_size=60), st.integers(1, 7))
def test_pieces_of_any_size_give_the_same_lines(data, size):
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert list(_lines(iter(pieces))) == list(io.BytesIO(data))


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=40))
def test_text_survives(text):
    text = text.lstrip("\ufeff")
    assert "".join(_decoded(_lines(iter([text.encode()])), "x")) == text


@pytest.mark.slow
def test_standard_input_and_output(tmp_path):
    program = (
        "from rerank_plugins.kit.files.text import *\n"
        "with open_text('-') as lines, open_atomic('-') as out: out.writelines(lines)"
    )
    for kind in COMPRESS:
        done = subprocess.run(
            [sys.executable, "-c", program], input=COMPRESS[kind](TEXT), capture_output=True, check=True
        )
        assert done.stdout == TEXT
    done = subprocess.run([sys.executable, "-c", program], input=b"\xff", capture_output=True, check=False)
    assert b"<stdin>:1: byte 1 of the line is 0xff" in done.stderr


@every_kind
def test_what_is_written_is_read(tmp_path, kind):
    path = tmp_path / f"out.{kind}"
    for _ in range(2):
        with open_atomic(path) as stream:
            stream.writelines(LINES)
            assert path.exists() == (_ == 1)  # not before it is whole
    with open_text(path) as lines:
        assert list(lines) == LINES
    assert path.read_bytes().startswith(COMPRESS[kind](TEXT)[:3])
    assert os.listdir(tmp_path) == [path.name]


def test_the_same_text_gives_the_same_gz_bytes(tmp_path):
    for name in ("a.gz", "b.gz"):
        with open_atomic(tmp_path / name) as stream:
            stream.write("text\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def write_and_fail(path, error):
    with open_atomic(path) as stream:
        stream.write("new" * 100_000)
        raise error


@every_kind
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, FormatError("x")])
def test_nothing_half_written(tmp_path, kind, error):
    path = tmp_path / f"out.{kind}"
    path.write_text("old")
    with pytest.raises((KeyboardInterrupt, RuntimeError, FormatError)):
        write_and_fail(path, error)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_links_and_permissions_stay(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_atomic(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_a_full_disk(tmp_path):
    with pytest.raises(RerankError, match="out: the disk is full; nothing was written"):
        write_and_fail(tmp_path / "out", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert os.listdir(tmp_path) == []


@every_kind
def test_writing_that_fails_midway(tmp_path, kind):
    """A real failure: the process may write 64 KiB a file, the kernel refuses the rest."""
    program = (
        "import os, resource, sys\n"
        "from rerank_plugins.kit.files.text import open_atomic\n"
        "from rerank_plugins.core.errors import RerankError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "try:\n"
        "    with open_atomic(sys.argv[1]) as stream: stream.write(os.urandom(1 << 17).hex())\n"
        "except RerankError as error: print(error)"
    )
    command = [sys.executable, "-B", "-c", program, str(tmp_path / f"out.{kind}")]  # -B: byte code would be cut
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"{tmp_path}/out.{kind}: cannot be written (File too large)\n"
    assert done.stderr == ""
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path):
    for path in (tmp_path / "absent" / "out", tmp_path):
        with pytest.raises(RerankError, match="cannot be written"), open_atomic(path):
            pass
    with open_atomic("/dev/null") as stream:
        stream.write("x")


def test_a_pipe_that_the_shell_names_is_written_to():
    """Bash replaces `>(gzip > out.gz)` by the name of a pipe, such as /dev/fd/63."""
    reads, writes = os.pipe()
    with open_atomic(f"/dev/fd/{writes}") as stream:
        stream.write("so it is\n")
    os.close(writes)
    with open(reads, encoding="utf-8") as pipe:
        assert pipe.read() == "so it is\n"


def test_stdout_under_its_other_name_keeps_what_a_file_has(tmp_path):
    (tmp_path / "log").write_text("first\n")
    program = (
        "from rerank_plugins.kit.files.text import open_atomic\n"
        "with open_atomic('/dev/stdout') as stream: stream.write('so it is\\n')"
    )
    with open(tmp_path / "log", "a") as log:
        subprocess.run([sys.executable, "-c", program], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "first\nso it is\n"


def test_another_files_error_is_left_alone(tmp_path):
    with pytest.raises(FileNotFoundError), open_atomic(tmp_path / "out"), open(tmp_path / "absent"):
        pass


@pytest.mark.slow
def test_streaming_takes_bounded_memory(tmp_path):
    """Ten times the lines, the same peak: what 10 million lines take follows."""
    peaks = []
    for segments in (80, 800):
        with open_atomic(tmp_path / "n") as stream:
            for i in range(segments):
                stream.writelines(f"{i} ||| word {h} of it ||| LM= -{h}.5 TM= 1 {i} ||| -{h}\n" for h in range(50))
        tracemalloc.start()
        count = sum(len(nbest) for nbest in stream_nbest([tmp_path / "n"], FORMATS["moses"]()))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == segments * 50
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 1_000_000


@compressed
def test_small_files_of_huge_lines(tmp_path, kind, monkeypatch):
    """A compressed file may have 45 million times its size: it is inflated step by step, and a line has a limit."""
    monkeypatch.setattr(text_files, "MAX_LINE_BYTES", 1 << 22)
    (tmp_path / "f").write_bytes(COMPRESS[kind](bytes(1 << 24)))
    steps: list[int] = []
    inflate = text_files._stepwise

    def seen(*arguments):
        for step in inflate(*arguments):
            steps.append(len(step))
            yield step
        return b""

    monkeypatch.setattr(text_files, "_stepwise", seen)
    with open_text(tmp_path / "f") as lines, pytest.raises(FormatError, match="f: a line of more than 4 MiB, expected"):
        list(lines)
    assert 0 < max(steps) <= 8 << 20
