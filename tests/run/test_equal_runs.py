"""Two runs of one config write the same bytes, if they are told the same time."""

from tests.command_line import done, one_line, rerank

LISTS = "".join(
    f"{segment} ||| {text} ||| LM0= {-rank} ||| {-rank}\n"
    for segment in range(6)
    for rank, text in enumerate((f"a cat sat {segment}", f"the cat sat {segment}", f"cat sat on {segment}"))
)
CONFIG = """
[tune]
nbest = ["lists"]
references = ["ref"]
[[test]]
name = "test"
nbest = ["lists"]
references = ["ref"]
[[feature]]
use = "length"
[evaluation]
bootstrap = 50
randomisation = 50
"""


def test_runs_at_the_same_time_write_equal_files(tmp_path, monkeypatch):
    (tmp_path / "lists").write_text(LISTS)
    (tmp_path / "ref").write_text("".join(f"the cat sat {segment}\n" for segment in range(6)))
    (tmp_path / "config.toml").write_text(CONFIG)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    contents = []
    for work in ("one", "two"):
        done("run", tmp_path / "config.toml", "--work", tmp_path / work)
        contents.append({file.name: file.read_bytes() for file in (tmp_path / work).iterdir()})
    assert contents[0] == contents[1]
    assert b"2023-11-14T22:13:20+00:00" in contents[0]["weights.toml"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "now")
    line = one_line(rerank("run", tmp_path / "config.toml", "--work", tmp_path / "three"), 2, after=True)
    assert "SOURCE_DATE_EPOCH is 'now', expected seconds since 1970" in line
