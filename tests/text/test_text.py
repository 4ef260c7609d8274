import ast
import json
import pickle
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.text import TextPipeline, by_remedy, looks_like, unknown_words
from rerank_adapters.text.penn_tokens import penn_tokenize, penn_unescape
from rerank_adapters.text.pipeline import KINDS
from rerank_adapters.text.restored_sentences import restore_sentence
from rerank_adapters.text.steps import FILLERS
from rerank_plugins import ConfigError
from rerank_plugins.core.words import split_words
from tests.command_line import done, rerank

TRUECASE = "paris (9/9)\nParis (3/12) paris (9)\nthe (90/99) The (9)\nI (5/5)\n"


@pytest.mark.parametrize(
    ("steps", "text", "wanted"),
    [
        ((), "a  b ", "a  b "),
        (("undo-bpe",), "Straßen@@ bahn fa@@ hr@@ en @@x ab@@", "Straßenbahn fahren @@x ab"),
        (("side:target", "reverse"), "das Haus ||| the house", "house the"),
        (("side:source",), "das Haus ||| the house", "das Haus"),
        (("undo-sentencepiece",), "▁Straßen bahn ▁fährt .", "Straßenbahn fährt."),
        (("unescape",), "it &apos;s &quot; a &amp; b &quot; &#91; &lt; &amp;lt;", 'it \'s " a & b " [ < &lt;'),
        (("lowercase",), "ÄB c", "äb c"),
        (("uppercase",), "straße", "STRASSE"),
        (("tokenize:en",), 'He said "no", didn\'t he?', "He said \" no \" , didn 't he ?"),
        (("tokenize:en",), "a [b] | c & d", "a [ b ] | c & d"),  # nothing is escaped
        (("detokenize:en",), "that 's &quot; no &quot; , he said .", 'that\'s "no", he said.'),
        (("penn-unescape", "detokenize:en"), "`` I ca n't -LRB- yet -RRB- . ''", '"I can\'t (yet)."'),
        (("penn-unescape",), "-lrb- a \\/ b -RSB-", "( a / b ]"),
        (("penn-tokenize",), "It's Mr. O'Neil's 3,000 dogs' house... isn't it?",
         "It 's Mr. O'Neil 's 3,000 dogs ' house ... is n't it ?"),
        (("penn-tokenize",), '"I cannot," (he) said.', "`` I can not , '' -LRB- he -RRB- said ."),
        (("normalize-unicode",), "e\u0301", "é"),
        (("normalize-unicode:NFKC",), "ﬁ", "fi"),
        (("undo-bpe", "lowercase"), "Ab@@ C d", "abc d"),
        (("restore-sentence",), "where did john's aunt go", "Where did John's aunt go?"),
        (("restore-sentence",), "when he came i'm told it was monday", "When he came I'm told it was Monday."),
        (("restore-sentence",), "how many are there", "How many are there?"),
        (("restore-sentence",), "do not go", "Do not go."),
        (("restore-sentence",), "do you go", "Do you go?"),
        (("restore-sentence",), "have the goodness to wait", "Have the goodness to wait."),
        (("restore-sentence",), "Are we there yet?", "Are we there yet?"),
        (("restore-sentence",), "xylqzt of McX", "Xylqzt of McX."),
        (("restore-sentence",), " ", ""),
        (("characters",), "a  cät ", "a _ c ä t"),
        (("characters",), " ", ""),
        (("restore-sentence", "penn-tokenize"), "i didn't", "I did n't ."),
    ],
)  # fmt: skip
def test_steps(steps, text, wanted):
    assert TextPipeline(steps).apply([text]) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        "did n't he say `` no '' -LRB- x -RRB- to Mr. O'Neil 's 3,000 dogs ?",
        "I 'd go .",
        '" I forgot , " she said . "',  # marks that stand alone may open or close
        "` No , ' he said , ` it is mine ! '",
    ],
)
def test_penn_tokens_stay(text):
    assert penn_tokenize(text) == text


@pytest.mark.slow
def test_penn_there_and_back_on_real_text(real_lists):
    reference = real_lists["tune"][1].read_text(encoding="utf-8").splitlines()
    single = [line for line in reference if " . " not in line]  # full stops inside a line are not split again
    plain = TextPipeline(("penn-unescape", "detokenize:en")).apply(single)
    again = TextPipeline(("penn-tokenize",)).apply(plain)
    same = sum(a == b for a, b in zip(single, again, strict=True))
    assert same >= 0.98 * len(single)


@given(st.text(max_size=30))
def test_penn_functions_never_fail_and_settle(text):
    assert penn_tokenize(text) == " ".join(split_words(penn_tokenize(text)))
    assert penn_unescape(penn_unescape(text)) == penn_unescape(penn_unescape(penn_unescape(text)))


@given(st.text("ai '?.Éx", max_size=12))
def test_a_restored_sentence_stays(text):
    restored = restore_sentence(text)
    assert restore_sentence(restored) == restored
    assert restored.rstrip(".?").lower() == " ".join(text.split()).rstrip(".?").lower()


@given(st.lists(st.lists(st.text("abcd", min_size=1, max_size=3), min_size=1, max_size=4), max_size=6))
def test_subwords_can_be_joined(words):
    """Each inner list is a word in pieces."""
    wanted = " ".join("".join(pieces) for pieces in words)
    assert TextPipeline(("undo-bpe",)).apply([" ".join("@@ ".join(pieces) for pieces in words)]) == [wanted]
    assert TextPipeline(("undo-sentencepiece",)).apply([" ".join("▁" + " ".join(p) for p in words)]) == [wanted]


def test_each_distinct_text_is_worked_on_once(monkeypatch):
    seen = []
    pipeline = TextPipeline(("lowercase",))
    pipeline.__dict__["_functions"] = [lambda text: seen.append(text) or text.lower()]
    assert pipeline.apply(["A", "B", "A"]) == ["a", "b", "a"]
    assert seen == ["A", "B"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("undo-bbe", "unknown text step 'undo-bbe'; did you mean 'undo-bpe'"),
        ("unescape:de", "'unescape' takes no argument, found 'de'"),
        ("tokenize", "'tokenize' needs a language code"),
        ("truecase", "'truecase' needs a model file"),
    ],
)
def test_wrong_steps_are_found_at_once(step, message):
    with pytest.raises(ConfigError, match=message):
        TextPipeline(("lowercase", step))


def test_wrong_normal_form():
    with pytest.raises(ConfigError, match="wanted NFC, NFD, NFKC or NFKD"):
        TextPipeline(("normalize-unicode:NFX",)).apply(["a"])


def test_truecase_knows_the_model_and_says_which(tmp_path):
    (tmp_path / "tc.en").write_text(TRUECASE)
    pipeline = TextPipeline(("truecase:tc.en",), tmp_path)
    assert pipeline.apply(["The Paris I know"]) == ["the Paris I know"]
    described = pipeline.describe()
    assert described.startswith("truecase:sha256-")
    (tmp_path / "tc.en").write_text(TRUECASE + "x (1/1)\n")
    assert TextPipeline(("truecase:tc.en",), tmp_path).describe() != described


def test_truecase_model_missing_or_broken(tmp_path):
    with pytest.raises(ConfigError, match=r"no\.model: cannot be read"):
        TextPipeline(("truecase:no.model",), tmp_path).apply(["a"])
    with pytest.raises(ConfigError, match=r"no\.model: cannot be read"):
        TextPipeline(("truecase:no.model",), tmp_path).describe()
    (tmp_path / "bad.model").write_text("the (x/y)\n")
    with pytest.raises(ConfigError, match="not a Moses truecasing model"):
        TextPipeline(("truecase:bad.model",), tmp_path).apply(["a"])


def test_describe_names_steps_and_versions():
    assert TextPipeline().describe() == "none"
    described = TextPipeline(("undo-bpe", "detokenize:en", "normalize-unicode")).describe()
    assert described.startswith("undo-bpe+detokenize:en(sacremoses-")
    assert described.endswith("+normalize-unicode:NFC")


def test_rebased(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "tc.en").write_text(TRUECASE)
    pipeline = TextPipeline(("lowercase", "truecase:a/tc.en"), tmp_path)
    moved = pipeline.rebased(tmp_path / "b")
    assert moved == ["lowercase", "truecase:../a/tc.en"]
    (tmp_path / "b").mkdir()
    assert TextPipeline(tuple(moved), tmp_path / "b").apply(["the"]) == ["the"]


def test_pickles_after_use():
    pipeline = TextPipeline(["tokenize:en"])  # a list, as a config has it
    wanted = pipeline.apply(["a, b"])
    again = pickle.loads(pickle.dumps(pipeline))
    assert again == pipeline
    assert hash(again) == hash(pipeline)
    assert again.apply(["a, b"]) == wanted


def test_every_step_has_a_docstring_or_an_argument():
    assert all(kind.argument or kind.make("").__doc__ for kind in KINDS.values())


PLAIN = ["Didn't he go? No, he stayed.", "The cat sat, and it purred."] * 5


@pytest.mark.parametrize(
    ("steps", "telltales"),
    [
        ((), {"detokenised"}),
        (("penn-tokenize",), {"penn", "tokenised"}),
        (("tokenize:en", "lowercase"), {"lower-case", "tokenised"}),
        (("uppercase",), {"upper-case", "detokenised"}),
    ],
)
def test_telltales(steps, telltales):
    assert looks_like(TextPipeline(steps).apply(PLAIN)) == telltales


def test_telltales_of_subwords_and_escapes():
    assert "bpe" in looks_like(["Stra@@ ßen bahn"])
    assert "sentencepiece" in looks_like(["▁Straßen bahn"])
    assert "escaped" in looks_like(["it &apos;s"])
    assert looks_like([]) == looks_like(["", "42"]) == frozenset()


VOCABULARY = {
    *["did", "n't", "he", "go", "?", "no", ",", "stayed", ".", "the", "cat", "sat", "and", "it", "purred", "say"]
}


def warnings_of(texts, *model):
    found = unknown_words(VOCABULARY.__contains__, texts, *model)
    return [line for _, line in by_remedy([("", found)] if found else [])]


@pytest.mark.parametrize(
    ("steps", "advice"),
    [
        ((), ["lowercase", "penn-tokenize"]),
        (("penn-tokenize",), ["lowercase"]),
        (("lowercase",), ["penn-tokenize"]),
    ],
)
def test_warnings_name_the_steps_that_help(steps, advice):
    (warning,) = warnings_of(TextPipeline(steps).apply(PLAIN), "lm.arpa")
    named = warning.partition("with text = ")[2]
    assert sorted(ast.literal_eval(named)) == sorted(advice)
    assert "unknown to lm.arpa" in warning
    assert "0.0% would be" in warning


def test_warning_for_subwords():
    texts = ["the c@@ at sat .", "it pur@@ red ."]
    (warning,) = warnings_of(texts)
    assert "looks bpe" in warning
    assert "['undo-bpe']" in warning


def test_no_warning_where_all_is_known_and_a_plain_one_where_nothing_helps():
    assert warnings_of(["the cat sat ."]) == []
    assert warnings_of([]) == []
    (warning,) = warnings_of(["der Hund bellt ."])
    assert warning.startswith("75.0% of the words are unknown to the language model (der Hund bellt)")
    assert "would be" not in warning


def test_pipeline_of_paths_is_relative_to_its_base(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tc.en").write_text(TRUECASE)
    assert TextPipeline(("truecase:tc.en",)).apply(["The"]) == ["the"]


@pytest.mark.parametrize(
    ("steps", "text", "wanted"),
    [
        (("no-punctuation",), "“So,” he said—it’s twenty-one; 3.5%!", "So he said it's twenty one 3 5"),
        (("no-punctuation",), "'tis the dogs' o'clock ...", "tis the dogs o'clock"),
        (("no-punctuation:-",), "twenty-one isn't - well", "twenty-one isnt well"),
        (("expand-contractions",), "I won't; it's John's, they're gonna say you'd've", "I will not; it is John's, they are going to say you would have"),
        (("expand-contractions",), "We CAN'T and don’t", "We CAN NOT and do not"),
        (("expand-contractions",), "I'M GONNA GO, YOU CANNOT. It's Won't", "I AM GOING TO GO, YOU CAN NOT. It is Will not"),
        (("no-noise",), "a < b and c > d, x<y and z>w <door slams> so<laugh>is <a<b>c>", "a < b and c > d, x<y and z>w so is"),
        (("no-fillers",), "Uh, so um it uhm is hmm", "so it is"),
        (("no-fillers:äh,hm",), "äh so um", "so um"),
        (("no-unknown",), "so <unk> it [UNK] is ⁇ <noise>", "so it is <noise>"),
        (("no-noise",), "so [background noise] it <laugh> is {breath} <unk>", "so it is <unk>"),
        (("no-noise", "no-unknown", "no-fillers", "lowercase", "no-punctuation"), "[noise] Uh, So <unk> it IS.", "so it is"),
    ],
)  # fmt: skip
def test_steps_for_transcripts(steps, text, wanted):
    pipeline = TextPipeline(steps)
    assert pipeline.apply([text]) == [wanted]
    assert pipeline.apply([wanted]) == [wanted]
    assert pipeline.describe() == "+".join(describe(step) for step in steps)


def describe(step):
    defaults = {"no-punctuation": "no-punctuation:'", "no-fillers": f"no-fillers:{FILLERS}"}
    return defaults.get(step, step)


NORMALISING = ("no-punctuation", "expand-contractions", "no-fillers", "no-unknown", "no-noise")


@given(st.text(alphabet="ab'’ .,-<>[]{}uhmk1st", max_size=30), st.sampled_from(NORMALISING))
def test_steps_for_transcripts_change_nothing_the_second_time(text, step):
    pipeline = TextPipeline((step,))
    (once,) = pipeline.apply([text])
    assert pipeline.apply([once]) == [once]


def test_numbers_to_words():
    pytest.importorskip("num2words")
    texts = {
        "the 3rd of 21 in 1,234.5 (2)": "the third of twenty one in one thousand two hundred thirty four point five (two)",
        "v1.2 b2b 1.2.3 a1": "v1.2 b2b 1.2.3 a1",
        "none": "none",
    }
    assert TextPipeline(("numbers-to-words",)).apply(list(texts)) == list(texts.values())
    assert TextPipeline(("numbers-to-words:de",)).apply(["21 3rd"]) == ["einundzwanzig 3rd"]
    assert TextPipeline(("numbers-to-words",)).describe().startswith("numbers-to-words:en(num2words-")
    with pytest.raises(ConfigError, match="num2words has no such language"):
        TextPipeline(("numbers-to-words:zz",)).apply(["1"])


def test_whisper_normaliser():
    pytest.importorskip("whisper_normalizer")
    assert TextPipeline(("whisper",)).apply(["Uh, I can't colour twenty-one [noise]!"]) == ["i can not color 21"]
    assert TextPipeline(("whisper:basic",)).apply(["Größe, (x) so!"]) == ["größe so"]
    assert TextPipeline(("whisper",)).describe().startswith("whisper:en(whisper-normalizer-")
    with pytest.raises(ConfigError, match="wanted en or basic"):
        TextPipeline(("whisper:de",)).apply(["x"])


@pytest.mark.parametrize(("step", "package"), [("whisper", "whisper_normalizer"), ("numbers-to-words", "num2words")])
def test_a_package_that_is_missing_is_named(step, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.basic", None)
    with pytest.raises(ConfigError, match=r"needs .*: pip install 'rerank-plugins\[speech\]'"):
        TextPipeline((step,)).apply(["1"])


def test_steps_joined_by_plus_are_a_pipeline_of_both_sides(tmp_path):
    (tmp_path / "ref").write_text("So it is.\nOh, no!\n")
    (tmp_path / "out").write_text("so it is\noh <unk> no\n")
    steps = "no-unknown+lowercase+no-punctuation"
    ran = done("evaluate", "-r", tmp_path / "ref", "-m", f"wer,text={steps}", f"a={tmp_path / 'out'}", "--as", "json")
    report = json.loads(ran.out)
    assert '"a"' in ran.out
    assert steps.replace("no-punctuation", "no-punctuation:'") in ran.out, "the signature records the steps"
    assert re.findall(r'"score": ([-\d.]+)', ran.out)[:1] == ["0.0"], report
    said = rerank("evaluate", "-r", tmp_path / "ref", "-m", "wer,text=lowercase+nonesuch", f"a={tmp_path / 'out'}")
    assert said.code == 2
    assert "no text pipeline or step named 'nonesuch'" in said.err


def test_models_with_one_remedy_share_a_line():
    """Those of several texts too; of each model the highest rate is named."""
    few, many = ["The cat sat ."], ["The Cat Sat ."]
    found = [
        (place, unknown_words(VOCABULARY.__contains__, texts, model))
        for place, texts in (("tune", few), ("test", many))
        for model in ("A", "B")
    ]
    found.append(("test", unknown_words(VOCABULARY.__contains__, ["der Hund bellt ."], "C")))
    (places, line), (other, rest) = by_remedy(found)
    assert places == ["tune", "test"]
    assert line.startswith("75.0% of the words are unknown to A, 75.0% to B (The Cat Sat); the text looks tokenised")
    assert line.endswith("0.0% would be with text = ['lowercase']")
    assert other == ["test"]
    assert rest.startswith("75.0% of the words are unknown to C (der Hund bellt)")
