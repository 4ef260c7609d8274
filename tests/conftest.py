"""Shared fixtures. Real data is used where it lies beside the repository; users do not have it."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("patient", deadline=None)  # kernels compile and models load within the first example
settings.load_profile("patient")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the first 20 segments × 10 hypotheses of the example (tune.*, test.*), and its language model."""
    folder = tmp_path_factory.mktemp("small")
    example = ROOT / "example_nbest" / "mt"
    for name in ("tune", "test"):
        lists: dict[str, list[str]] = {}
        for line in (example / f"{name}.nbest").read_text(encoding="utf-8").splitlines(keepends=True):
            lists.setdefault(line.split(" ")[0], []).append(line)
        lines = [line for id_ in list(lists)[:20] for line in lists[id_][:10]]
        (folder / f"{name}.nbest").write_text("".join(lines), encoding="utf-8")
        for language in ("de", "en"):
            text = (example / f"{name}.{language}").read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / f"{name}.{language}").write_text("".join(text[:20]), encoding="utf-8")
    (folder / "lm.arpa").write_bytes((example / "lm.arpa").read_bytes())
    return folder
