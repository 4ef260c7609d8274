"""Writes `comet_scores.tsv`: the scores of tiny estimators by unbabel-comet, to which ours are compared.

unbabel-comet wants NumPy 1 and transformers 4, so that it has an environment of its own:

    python -m venv comet-venv
    comet-venv/bin/pip install torch==2.13.0 unbabel-comet==2.2.7 'numpy<2' 'setuptools<81'
    comet-venv/bin/python -m tests.neural.comet_reference

Nothing is downloaded: unbabel-comet opens the files of `tiny_comet`, whose encoder is in a folder.
"""

import tempfile
from pathlib import Path

from tests.neural.tiny_comet import HYPOTHESES, REFERENCES, SOURCES, VARIANTS, WIDTHS, write_comet

SCORES = Path(__file__).parent / "comet_scores.tsv"


def cases():
    """Kinds of estimators and what differs in their hparams.yaml."""
    return [(kind, changed) for kind in WIDTHS for changed in (VARIANTS if kind != "unified_metric" else VARIANTS[:2])]


def samples():
    """Numbers of hypotheses, sources and references."""
    return [(h, (h + r) % len(SOURCES), r) for h in range(len(HYPOTHESES)) for r in range(len(REFERENCES))]


def main() -> None:
    """Write the scores, one line for each case and sample."""
    from comet.models import load_from_checkpoint

    lines = []
    for number, (kind, changed) in enumerate(cases()):
        with tempfile.TemporaryDirectory() as folder:
            write_comet(Path(folder), kind, **changed, pretrained_model=f"{folder}/encoder")
            model = load_from_checkpoint(
                f"{folder}/checkpoints/model.ckpt", reload_hparams=True, local_files_only=True
            ).eval()
            given = [{"mt": HYPOTHESES[h], "src": SOURCES[s], "ref": REFERENCES[r]} for h, s, r in samples()]
            scores = model.predict(given, batch_size=4, gpus=0, progress_bar=False, num_workers=1).scores
        lines += [f"{number}\t{h}\t{s}\t{r}\t{score:.8f}\n" for (h, s, r), score in zip(samples(), scores, strict=True)]
    SCORES.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
