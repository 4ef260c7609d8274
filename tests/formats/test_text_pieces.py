"""Texts in pieces: all lines once, in order, and errors with the lines of the file."""

import gzip

import pytest

from rerank_adapters.formats.text_pieces import TextPiece, open_piece, text_pieces
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.kit.files.text import open_text


def lines_of(piece):
    with open_piece(piece) as lines:
        return list(lines)


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
@pytest.mark.parametrize("content", ["", "one\n", "a\n\nb \u2028c\r\nlast", "é\n" * 9 + "\ufeffé\n"])
def test_all_lines_come_once(tmp_path, content, size):
    (tmp_path / "text").write_bytes(content.encode())
    pieces = text_pieces([str(tmp_path / "text")], size)
    with open_text(tmp_path / "text") as lines:
        assert [line for piece in pieces for line in lines_of(piece)] == list(lines)
    assert len(pieces) >= min(len(content.encode()) // (size + 4), content.count("\n"))


def test_compressed_files_are_whole(tmp_path):
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"a\nb\n"))
    (tmp_path / "text").write_bytes(b"c\nd\n")
    pieces = text_pieces([str(tmp_path / name) for name in ("text.gz", "text")], 2)
    assert pieces[0] == TextPiece(str(tmp_path / "text.gz"))
    assert [lines_of(piece) for piece in pieces] == [["a\n", "b\n"], ["c\n"], ["d\n"]]


def test_errors_name_the_lines_of_the_file(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\nc\nd \xff\n")
    *_, last = text_pieces([str(path)], 4)
    assert last.start == 4
    with pytest.raises(FormatError, match=r"text:4: byte 3 of the line is 0xff"):
        lines_of(last)
    with pytest.raises(FormatError, match=r"text:4: wrong"), open_piece(last):
        raise FormatError("wrong", path=str(path), line=2)
    path.write_bytes(b"\xef\xbb\xbfa\nb\n")
    with pytest.raises(FormatError, match=r"text:1: starts with a byte-order mark"):
        lines_of(text_pieces([str(path)], 2)[0])
    with pytest.raises(FormatError, match="no such file"):
        text_pieces([str(tmp_path / "none")])
    with pytest.raises(ConfigError, match="a cluster reads files, not stdin"):
        text_pieces([str(path), "-"])
