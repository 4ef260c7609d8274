"""Names of files outside ASCII in every locale, and names that are no UTF-8."""

import os
import subprocess

from tests.command_line import RERANK, done

LISTS = "0 ||| a cat ||| LM0= -1 ||| -1\n0 ||| a dog ||| LM0= -2 ||| -2\n"
ARPA = "\\data\\\nngram 1=5\n\n\\1-grams:\n-1 <unk>\n-99 <s>\n-1 </s>\n-1 a\n-0.5 dog\n\n\\end\\\n"


def tuned(folder: bytes, **surroundings: str) -> subprocess.CompletedProcess[bytes]:
    """Weights beside a folder with lists, a reference and a model, of which the weights record the name."""
    os.mkdir(folder)
    for name, content in ((b"lists", LISTS), (b"ref", "a dog\n"), (b"lm.arpa", ARPA)):
        with open(folder + b"/" + name, "w", encoding="utf-8") as file:
            file.write(content)
    feature = b"ngram-lm,model=" + folder + b"/lm.arpa"
    lists, reference, weights = (folder + b"/" + name for name in (b"lists", b"ref", b"../weights.toml"))
    command = [*RERANK, "tune", lists, "-r", reference, "-f", feature, "-m", "bleu", "-o", weights]
    return subprocess.run(command, env={**os.environ, **surroundings}, capture_output=True, check=False)


def test_paths_in_other_letters_in_the_c_locale(tmp_path):
    """Weights record the path of their model; they can be read in any locale."""
    name = "ñandú 中文"
    ran = tuned(os.fsencode(tmp_path / name), LC_ALL="C")
    assert ran.returncode == 0, ran.stderr
    assert f"{name}/lm.arpa" in (tmp_path / "weights.toml").read_text("utf-8")
    assert done("apply", tmp_path / name / "lists", "-w", tmp_path / "weights.toml").out == "a dog\n"


def test_a_name_that_is_no_utf8_is_one_clear_line(tmp_path):
    ran = tuned(os.fsencode(tmp_path) + b"/\xf1")
    assert ran.returncode == 2, ran.stderr
    last = ran.stderr.decode().splitlines()[-1]
    assert "is not UTF-8, in which configs and results name files; rename it" in last
    assert not (tmp_path / "weights.toml").exists()
