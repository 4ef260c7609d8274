"""Names of decoders in `merge DECODER=FILE`: any word, and messages print names as they were written."""

import pytest

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from tests.command_line import done, refused

LISTS = "0 ||| a ||| LM= -1 ||| -1\n0 ||| b ||| LM= -2 ||| -2\n1 ||| a ||| LM= -3 ||| -3\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "First.nbest").write_text(LISTS)
    (tmp_path / "second.nbest").write_text(LISTS.replace("a", "c"))
    return tmp_path


@pytest.mark.parametrize("name", ["my_dec", "Other_One", "_x", "wav2vec2.0+lm", "2023", "système"])
def test_any_word_is_a_name(folder, name):
    done("lists", "merge", f"{name}=First.nbest", "other=second.nbest", "-o", "merged")
    table = decoder_table(read_nbest([folder / "merged"], FORMATS["moses"]()), FORMATS["moses"]().dense_rule)
    assert table.sparse.names == ()
    assert set(table.names) == {f"{d}-{f}" for d in (name, "other") for f in ("LM", "score", "rank", "listed")}
    values = dict(zip(table.names, table.values[0], strict=True))
    assert (values[f"{name}-score"], values[f"{name}-listed"], values["other-listed"]) == (-1, 1, 0)


def test_messages_print_names_as_they_are(folder):
    assert refused("lists", "merge", "a=First.nbest", "First.nbest").startswith("First.nbest: has no decoder's name")
    assert refused("lists", "merge", "a=First.nbest", "There=is/None.nbest").startswith("is/None.nbest: no such file")
    assert refused("lists", "merge", "Dir/a=First.nbest", "b=second.nbest").startswith(
        "Dir/a=First.nbest: has no decoder's"
    )
    assert refused("lists", "merge", "My_dec=First.nbest").startswith("all files are of the decoder 'My_dec'")
    assert refused("lists", "merge", "--Nope").startswith("no such option '--Nope'")
