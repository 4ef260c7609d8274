"""Contractions are written out in the case of the text, so that transcripts in capitals can be compared with others."""

import json

import pytest

from tests.command_line import done

REFERENCE = "I'M GONNA LEAVE NOW\nWE WON'T WAIT\nIT’S LATE\n"
OUTPUT = "I AM GOING TO LEAVE NOW\nWE WILL NOT WAIT\nIT IS LATE\n"


@pytest.mark.parametrize("case", [str, str.lower, str.capitalize])
@pytest.mark.parametrize("options", ["", ",lowercase=true"])
def test_a_transcript_written_out_has_no_errors(case, options, tmp_path):
    for name, text in (("ref", REFERENCE), ("out", OUTPUT)):
        (tmp_path / name).write_text("".join(f"{case(line)}\n" for line in text.splitlines()))
    metric = f"wer,text=expand-contractions{options}"
    arguments = ("-m", metric, "--bootstrap", 0, "--randomisation", 0, "--as", "json")
    ran = done("evaluate", "-r", tmp_path / "ref", tmp_path / "out", *arguments)
    (result,) = json.loads(ran.out)["metrics"]
    assert result["systems"][0]["score"] == 0
