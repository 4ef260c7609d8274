"""The example package of neural scores, by tiny models with random weights: values, sharing, errors, packaging."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from rerank_adapters.chain.builder import Builder
from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import SENTENCES, check_feature_extractor, check_language_model
from tests.command_line import rerank
from tests.examples import naive_neural_lm as naive

pytestmark = [
    pytest.mark.slow,  # importing transformers and making the models takes seconds
    pytest.mark.skipif(not find_spec("torch"), reason="torch is not installed: it comes with the extra `stanza`"),
    pytest.mark.skipif(not find_spec("transformers"), reason="not installed: pip install transformers"),
]

TEXTS = [*SENTENCES, "the cat sat on the mat .", "the cat sat down", "Wörds ! the cat"]
WORDS = [text.split() for text in TEXTS]
SIZES = {"vocab_size": 300, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}


@pytest.fixture(scope="module")
def package(root: Path):
    folder = root / "example_nbest/plugin/neural_lm"
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `gpt2`, `llama`, `bert`, `t5` and `bart` of models in float32."""
    import transformers

    folder = tmp_path_factory.mktemp("models")
    transformers.set_seed(7)
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    configs = {
        "gpt2": transformers.GPT2Config(**SIZES, n_positions=48, n_embd=16, n_layer=2, n_head=2),
        "llama": transformers.LlamaConfig(**SIZES, **small, max_position_embeddings=64),
        "bert": transformers.BertConfig(vocab_size=300, **small, max_position_embeddings=64),
        "t5": transformers.T5Config(vocab_size=300, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
                                    decoder_start_token_id=1),
        "bart": transformers.BartConfig(**SIZES, d_model=16, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=24,
                                        decoder_ffn_dim=24, encoder_attention_heads=2, decoder_attention_heads=2,
                                        max_position_embeddings=64, decoder_start_token_id=0),
    }  # fmt: skip
    kinds = {"bert": "MaskedLM", "t5": "Seq2SeqLM", "bart": "Seq2SeqLM"}
    for name, config in configs.items():
        model = getattr(transformers, f"AutoModelFor{kinds.get(name, 'CausalLM')}").from_config(config)
        for parameter in model.parameters():  # the scores of the usual small weights hardly depend on the input
            parameter.data *= 8 if parameter.dim() > 1 else 1
        model.save_pretrained(folder / name)
        (word_piece() if name == "bert" else byte_pairs(ends=name in kinds)).save_pretrained(folder / name)
    return folder


def byte_pairs(*, ends: bool):
    """A tokenizer of pairs of bytes, as that of GPT-2; where it `ends`, it adds `</s>` to each text."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=300, special_tokens=["</s>", "<pad>"], initial_alphabet=alphabet)
    )
    if ends:
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>")


def word_piece():
    """A tokenizer of BERT's kind, which lower-cases and knows an unknown piece."""
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(TEXTS[:3], trainers.WordPieceTrainer(vocab_size=60, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **dict(zip(names, special, strict=True)))


def build(package: Path, kind_of_plugin: str, use: str, **options):
    registry = load_plugins(files=[package / "rerank_neural_lm/__init__.py"])
    return Builder(registry).build(kind_of_plugin, {"use": use, "dtype": "float64", **options})


def opened(models: Path, name: str, kind: str):
    import transformers

    model = (
        getattr(transformers, f"AutoModelFor{kind}")
        .from_pretrained(models / name, local_files_only=True)
        .double()
        .eval()
    )
    return model, transformers.AutoTokenizer.from_pretrained(models / name, local_files_only=True)


@pytest.mark.parametrize(("name", "share"), [("gpt2", True), ("gpt2", False), ("llama", True)])
def test_causal_scores_are_those_of_one_piece_at_a_time(package, models, name, share) -> None:
    lm = build(package, "language_model", "neural-causal", model=models / name, batch_tokens=40, share_prefixes=share)
    assert lm._shares == share
    pair = opened(models, name, "CausalLM")
    for values, words in list(zip(lm.score(WORDS), WORDS, strict=True))[1:5]:
        np.testing.assert_allclose(values, naive.causal(*pair, words, 0, 0), atol=1e-9)


@pytest.mark.parametrize("whole_words", [False, True])
def test_masked_scores_are_those_of_one_copy_at_a_time(package, models, whole_words) -> None:
    lm = build(
        package, "language_model", "neural-masked", model=models / "bert", whole_words=whole_words, batch_tokens=60
    )
    model, tokenizer = opened(models, "bert", "MaskedLM")
    for values, words in zip(lm.word_values(WORDS), WORDS, strict=True):
        wanted = naive.masked(model, tokenizer, words, whole_words=whole_words)
        np.testing.assert_allclose(values, wanted, atol=1e-9)
    np.testing.assert_allclose(lm.totals(WORDS), [values.sum() for values in lm.word_values(WORDS)])
    assert "cat" in lm
    assert "ж" not in lm


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_translation_scores_in_both_directions(package, models, name) -> None:
    feature = build(package, "feature", "neural-translation", model=models / name, reverse_model=models / name,
                    batch_tokens=90)  # fmt: skip
    lists = [
        NBestList("0", tuple(Hypothesis(text) for text in (*TEXTS[3:6], TEXTS[3])), source="die Katze"),
        NBestList("1", (Hypothesis("the dog"),), source="ein Hund , der"),
    ]
    assert feature.components == ("direct", "direct_per_word", "reverse", "reverse_per_word")
    pair = opened(models, name, "Seq2SeqLM")
    for nbest, values in zip(lists, feature.extract_all(lists), strict=True):
        direct = np.array([naive.translation(*pair, nbest.source, text) for text in nbest.texts])
        reverse = np.array([naive.translation(*pair, text, nbest.source) for text in nbest.texts])
        words = [len(text.split()) + 1 for text in nbest.texts]
        wanted = np.stack([direct, direct / words, reverse, reverse / (len(nbest.source.split()) + 1)], axis=1)
        np.testing.assert_allclose(values, wanted, atol=1e-9)


def test_contracts(package, models) -> None:
    for use, name in (("neural-causal", "gpt2"), ("neural-masked", "bert")):
        check_language_model(build(package, "language_model", use, model=models / name))
        feature = build(package, "feature", "neural-lm", model=models / name, kind=use.removeprefix("neural-"))
        check_feature_extractor(feature, tolerance=1e-9)
    check_feature_extractor(build(package, "feature", "neural-translation", model=models / "t5"), tolerance=1e-9)


def test_a_piece_that_is_predicted_once_sums_to_one_over_the_vocabulary(package, models) -> None:
    lm = build(package, "language_model", "neural-causal", model=models / "gpt2")
    from rerank_neural_lm.causal import causal_scores

    scores = causal_scores(lm._opened, [[5, 9, piece] for piece in range(300)], 0, 0, 512, share=True)
    assert sum(np.exp(values[2]) for values in scores) == pytest.approx(1)


def test_a_sentence_beyond_the_limit_is_read_in_windows(package, models) -> None:
    """The limit of `gpt2` is 48 pieces: the first 48 have all before them, the others between 24 and 47."""
    lm = build(package, "language_model", "neural-causal", model=models / "gpt2")
    from rerank_neural_lm.causal import causal_scores

    ids = np.random.default_rng(3).integers(2, 300, 110).tolist()
    values = causal_scores(lm._opened, [ids], 0, 0, 512, share=True)[0]
    model, _ = opened(models, "gpt2", "CausalLM")
    read, predicted = [0, *ids], [*ids, 0]
    for at in (0, 20, 47, 48, 71, 72, 100, 110):
        end = min(len(read), 48 + 24 * max(0, -(-(at + 1 - 48) // 24)))
        wanted = naive.distribution(model, read[max(0, end - 48) : at + 1], -1)[predicted[at]]
        assert values[at] == pytest.approx(float(wanted), abs=1e-9), at


def test_prefixes_are_read_once(package) -> None:
    from rerank_neural_lm.causal import _trees

    trees = list(_trees([[0, 5, 6, 7], [0, 5, 6], [0, 5, 8], [0, 9, 6, 7]], 100))
    assert [len(tree.pieces) for tree in trees] == [8]
    for number, read in enumerate([[0, 5, 6, 7], [0, 5, 6], [0, 5, 8], [0, 9, 6, 7]]):
        assert [trees[0].pieces[node] for node in trees[0].paths[number]] == read
    assert [len(tree.pieces) for tree in _trees([[0, 5, 6, 7], [0, 5, 6], [0, 5, 8], [0, 9, 6, 7]], 5)] == [5, 4]


def test_batches_are_bounded_and_complete(package) -> None:
    from rerank_neural_lm.batches import batches

    lengths = [3, 9, 1, 30, 9, 2, 0]
    numbered = list(batches(lengths, 20))
    assert sorted(number for batch in numbered for number in batch) == list(range(7))
    assert [len(batch) * max(lengths[n] for n in batch) for batch in numbered] == [30, 18, 12]


@pytest.mark.parametrize(
    ("folder", "options", "error", "message"),
    [
        ("none", {}, ModelError, "no config.json"),
        ("bert", {}, ModelError, "wanted a causal one"),
        ("t5", {}, ModelError, "CausalLM"),
        ("gpt2", {"device": "cuda:77"}, ConfigError, "cannot be used"),
    ],
)
def test_errors_are_one_line(package, models, folder, options, error, message) -> None:
    lm = build(package, "language_model", "neural-causal", model=models / folder, **options)
    with pytest.raises(error, match=message) as raised:
        lm.score([["a"]])
    assert "\n" not in str(raised.value)


def test_a_list_without_source_is_an_error(package, models) -> None:
    feature = build(package, "feature", "neural-translation", model=models / "t5")
    with pytest.raises(ConfigError, match="segment 3 has no source sentence"):
        feature.extract(NBestList("3", (Hypothesis("the car"),)))
    with pytest.raises(ConfigError, match="give 'model'"):
        build(package, "feature", "neural-translation")


def test_it_imports_only_what_rerank_plugins_exports(package) -> None:
    imports = [line for file in package.glob("rerank_neural_lm/*.py") for line in file.read_text().splitlines()
               if re.match(r"\s*(from|import) rerank_(?!neural_lm)", line)]  # fmt: skip
    assert len(imports) > 5
    assert {line.split()[1] for line in imports} == {"rerank_plugins"}


def test_it_installs_and_the_commands_know_it(package, models, tmp_path: Path, monkeypatch) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--target", tmp_path / "site", package], check=True, capture_output=True, text=True)
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "text").write_text("the cat sat\nthe dog\n", encoding="utf-8")
    ran = rerank("lm", "surprisal", tmp_path / "text", "-M", f"neural-causal,model={models / 'gpt2'}")
    assert ran.code == 0, ran.err
    words = [line.split("\t")[2] for line in ran.out.splitlines()[1:]]
    assert words == ["the", "cat", "sat", "</s>", "the", "dog", "</s>"]
    ran = rerank("lm", "surprisal", tmp_path / "text", "-M", f"neural-masked,model={models / 'bert'}")
    assert ran.code == 2
    assert "no probabilities of single words" in ran.err
