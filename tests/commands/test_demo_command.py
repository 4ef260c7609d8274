"""`rerank demo` writes lists and a config that run where they are."""

from rerank_adapters.cli.demo import NAMES
from rerank_adapters.job.config import read_config
from tests.command_line import done, refused


def test_the_config_finds_its_files_in_the_folder(root, tmp_path):
    folder = tmp_path / "new" / "example"
    ran = done("demo", folder)
    assert ran.err.splitlines()[-1].startswith(
        f"next: rerank run {folder / 'mt.toml'} (one to two minutes on two cores; "
    )
    config = read_config(folder / "mt.toml")
    named = [config.path(path) for data in (config.tune, *config.test) for path in data.paths]
    assert {path.name for path in named} == set(NAMES)
    assert all(path.parent.samefile(folder) for path in named)
    for name in NAMES:
        assert (folder / name).read_bytes() == (root / "example_nbest" / "mt" / name).read_bytes()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "test.en").write_text("mine\n")
    assert "test.en: exists already; wanted a new folder" in refused("demo", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test.en"]
