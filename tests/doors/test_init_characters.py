"""`rerank init` for languages without spaces between words: their metrics count characters."""

import random
import tomllib

import pytest

from rerank_adapters.text.languages import language_of
from tests.command_line import done
from tests.doors.speech_files import transcripts, write

LETTERS = {
    "zh": "我们今天去北京看朋友因为他们想要一起吃饭和喝茶明天下午老师会来学校",
    "ja": "今日は友達と東京へ行きますから一緒にご飯を食べたいと思っています",
    "th": "วันนี้เราไปกรุงเทพเพื่อพบเพื่อนและกินข้าวด้วยกัน",
}


def sentences(language, number, seed):
    rng = random.Random(seed)
    return ["".join(rng.choice(LETTERS[language]) for _ in range(8 + i % 7)) for i in range(number)]


def place(folder, language, source=False):
    rng = random.Random(3)
    for name, number, seed in (("dev", 20, 1), ("test", 12, 2)):
        refs = sentences(language, number, seed)
        rows = []
        for i, reference in enumerate(refs):
            for rank in range(4):
                letters = list(reference)
                letters[rng.randrange(len(letters))] = rng.choice(LETTERS[language])
                rows.append(f"{i} ||| {''.join(letters)} ||| LM0= -{rank + 1}.5 ||| -{rank + 1}")
        write(folder / f"{name}.nbest", rows)
        write(folder / f"{name}.ref", refs)
        if source:
            write(folder / f"{name}.src", transcripts(number, seed))


def metrics(folder):
    done("init", folder, "-o", folder / "job.toml")
    assert "found 0 errors" in done("check", folder / "job.toml", "--no-estimate").err
    config = tomllib.loads((folder / "job.toml").read_text())
    assert config["tune"]["references"] == ["dev.ref"]
    return config


@pytest.mark.parametrize("language", list(LETTERS))
def test_speech_is_tuned_for_characters(tmp_path, language):
    place(tmp_path, language)
    uses = [(metric["use"], metric.get("whitespace")) for metric in metrics(tmp_path)["metric"]]
    assert uses == [("cer", False), ("ser", None)]


def test_translations_have_bleu_of_characters_and_no_ter(tmp_path):
    place(tmp_path, "zh", source=True)
    config = metrics(tmp_path)
    assert [(m["use"], m.get("tokenize")) for m in config["metric"]] == [("bleu", "zh"), ("chrf", None), ("cer", None)]
    assert config["tune"]["source"] == "dev.src"


def test_languages():
    for language in LETTERS:
        assert language_of(sentences(language, 5, 1)) == language
    assert language_of(["the cat is on the mat and we see it 猫"]) == "en"
