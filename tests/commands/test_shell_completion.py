"""Completion in the shell: click's scripts, and what they are answered."""

import pytest

from tests.command_line import done


def answers(monkeypatch, *words):
    """What bash is told after these words, the last of which is incomplete."""
    monkeypatch.setenv("_RERANK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["rerank", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    return done().lines


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(monkeypatch, shell):
    monkeypatch.setenv("_RERANK_COMPLETE", f"{shell}_source")
    script = done().out
    assert f"_RERANK_COMPLETE={shell}_complete" in script
    assert "rerank" in script


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["eval"], ["plain,evaluate"]),
        (["extract", "--form"], ["plain,--format"]),
        (["extract", "-f", "hhmm"], ["plain,hhmm-lm"]),
        (["extract", "-f", "hhmm-lm,be"], ["file,hhmm-lm,be"]),
        (["extract", "-f", "nothing,be"], ["file,nothing,be"]),
        (["evaluate", "-m", "ble"], ["plain,bleu"]),
        (["tune", "-t", "mir"], ["plain,mira"]),
        (["trees", "parse", "-p", "stan"], ["plain,stanza"]),
        (["explain", "--parser", "eng"], ["plain,english"]),
        (["lm", "score", "-M", "hh"], ["plain,hhmm-lm"]),
        (["lm", "sample", "tree"], ["plain,treelet-lm"]),
        (["run", "conf"], ["file,conf"]),
        (["tune", "lis"], ["file,lis"]),
        (["tune", "-o", "w"], ["file,w"]),
        (["tune", "-r", "r"], ["file,r"]),
        (["lm", "score", "nov"], ["file,nov"]),
        (["lm", "score", "-M", "news.a"], ["file,news.a"]),
    ],
)
def test_commands_options_plugins_and_files_are_completed(monkeypatch, words, wanted):
    assert answers(monkeypatch, *words) == wanted
