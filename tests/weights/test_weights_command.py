"""`rerank tools weights`: from one form to another, and back into the decoder."""

from rerank_adapters.weights import read_weights
from tests.command_line import done, refused
from tests.conftest import DECODER_FEATURES


def test_weights_in_every_form_and_back(root, tmp_path):
    template = root / "example_nbest" / "mt" / "moses.ini"
    given = read_weights(template).dense
    done("tools", "weights", template, "--as", "toml", "-o", tmp_path / "w.toml")
    assert read_weights(tmp_path / "w.toml").dense == given
    section = done("tools", "weights", tmp_path / "w.toml").out
    assert section.startswith("[weight]\n")
    assert "TranslationModel0= 0.2 0.2 0.2 0.2\n" in section
    done("tools", "weights", tmp_path / "w.toml", "--as", "dense", "-o", tmp_path / "dense")
    assert read_weights(tmp_path / "dense").dense == given
    done(
        "tools", "weights", tmp_path / "w.toml", "--as", "moses-ini", "--template", template, "-o", tmp_path / "new.ini"
    )
    assert read_weights(tmp_path / "new.ini").dense == given
    head = template.read_text().partition("[weight]")[0]
    assert (tmp_path / "new.ini").read_text().startswith(head)
    text = done("tools", "weights", tmp_path / "w.toml", "--as", "moses-ini", "--template", template).out
    assert text == (tmp_path / "new.ini").read_text()


def test_weights_of_a_reranker_go_into_a_decoder_without_its_features(root, tuned, tmp_path):
    template = root / "example_nbest" / "mt" / "moses.ini"
    give = ("tools", "weights", tuned / "weights.toml", "--as", "moses-ini", "--template", template)
    said = refused(*give)
    assert "'length'" in said
    assert said.endswith("--decoder-only leaves out the features that the decoder lacks")
    done(*give, "--decoder-only", "-o", tmp_path / "new.ini")
    dense = read_weights(tuned / "weights.toml").dense
    assert read_weights(tmp_path / "new.ini").dense == {name: dense[name] for name in DECODER_FEATURES}
