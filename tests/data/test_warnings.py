"""Warnings about several data sets, metrics or models that have one remedy are one line."""

from tests.command_line import done


def test_one_remedy_for_sets_metrics_and_models_is_one_line(tmp_path):
    texts = ["The cat sat on the mat .", "It rained all day .", "We stayed at home .", "Nobody came ."] * 5
    for name in ("tune", "held"):
        lines = [f"{n} ||| {text.upper()} ||| LM= -1 ||| -1\n" for n, text in enumerate(texts)]
        (tmp_path / f"{name}.nbest").write_text("".join(lines))
        (tmp_path / f"{name}.ref").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "job.toml").write_text(
        """
        metric = [{ use = "bleu", tokenize = "none" }, { use = "wer" }]
        feature = [{ use = "treelet-lm" }]
        [tune]
        nbest = ["tune.nbest"]
        references = ["tune.ref"]
        [[test]]
        name = "held"
        nbest = ["held.nbest"]
        references = ["held.ref"]
        """
    )
    warnings = [
        line for line in done("check", tmp_path / "job.toml", "--no-estimate").lines if line.startswith("warning")
    ]
    (unknown,) = (line for line in warnings if "words are unknown" in line)
    assert unknown.startswith("warning tune, held: ")
    assert "unknown to the model of 'treelet-lm'" in unknown
    assert "% to the parser of 'treelet-lm'" in unknown
    (style,) = (line for line in warnings if "hypotheses look" in line)
    assert style.startswith("warning tune, held: ")
    assert style.endswith("as 'bleu', 'wer' see them: give each of these metrics text = ['lowercase']")
