"""The selection of sentences that embedded models are trained on."""

import lzma

import pytest

from rerank_plugins.resources.en import text_selection
from rerank_plugins.resources.en.text_selection import numbered, sentences, shared

LINES = [f"sentence number {i} -LRB- quietly -RRB- ." for i in range(200)] + ["", "word " * 41]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.xz"
    path.write_bytes(lzma.compress("\n".join(LINES).encode()))
    return str(path)


def test_selections(text, monkeypatch, capsys):
    short = [f"sentence number {i} ( quietly ) ." for i in range(200)]
    assert list(sentences(text, 40)) == list(shared(text, 1.0, 40)) == short
    assert len(list(sentences(text, 41))) == 201
    share = list(shared(text, 0.3, 40))
    assert share == sorted(share, key=short.index)
    assert share == list(shared(text, 0.3, 40))
    assert 40 < len(share) < 80
    drawn = numbered(text, 50, 40)
    assert drawn[:20] == numbered(text, 20, 40)
    assert len(set(drawn) & set(short)) == 50
    monkeypatch.setattr("sys.argv", ["text_selection", "--number", "20", text])
    text_selection.main()
    assert capsys.readouterr().out.splitlines() == drawn[:20]
