"""What the tests of analyses have in common."""

from pathlib import Path

import pytest


@pytest.fixture
def four_lists(tmp_path: Path) -> Path:
    """A folder with four n-best lists of three hypotheses (`lists`) and their `references`."""
    hypotheses = [("a b c", -1.0), ("a b d e", -2.0), ("a c", -3.0)]
    (tmp_path / "lists").write_text(
        "".join(f"{s} ||| {text} ||| LM= {score} ||| {score}\n" for s in range(4) for text, score in hypotheses)
    )
    (tmp_path / "references").write_text("a b d e\n" * 4)
    return tmp_path
