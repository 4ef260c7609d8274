"""Micro models of other people's parsers, trained in seconds on the project's own treebank: they load, run, and err."""

import os
import subprocess
import sys
from pathlib import Path

MICRO_TAGGER = "use_lemma=0;provide_lemma=0;use_feats=0;provide_feats=0;iterations=5"
MICRO_PARSER = "iterations=5;hidden_layer=20;embedding_form=10;embedding_upostag=5;embedding_feats=0;embedding_deprel=5"
STANZA_SIZES = (
    *("--hidden_dim", "40", "--deep_biaff_hidden_dim", "40", "--word_emb_dim", "20"),
    *("--transformed_dim", "20", "--tag_emb_dim", "10", "--dropout", "0", "--word_dropout", "0"),
)


def train_udpipe(treebank: Path, tagger: str = MICRO_TAGGER, parser: str = MICRO_PARSER) -> bytes:
    """A UDPipe model."""
    from ufal import udpipe

    reader, sentences = udpipe.InputFormat.newConlluInputFormat(), udpipe.Sentences()
    reader.setText(treebank.read_text(encoding="utf-8"))
    error, sentence = udpipe.ProcessingError(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.push_back(sentence)
        sentence = udpipe.Sentence()
    content = udpipe.Trainer.train("morphodita_parsito", sentences, udpipe.Sentences(), "none", tagger, parser, error)
    assert not error.occurred(), error.message
    return content


def train_stanza(treebank: Path, folder: Path) -> tuple[Path, Path]:
    """A tagger and a dependency parser of Stanza, each in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for name, batch, steps in (("tagger", 32, 160), ("parser", 500, 100)):
        files = ["--train_file", treebank, "--eval_file", treebank, "--output_file", folder / "out.conllu"]
        where = ["--save_dir", folder, "--save_name", f"{name}.pt", "--lang", "en", "--shorthand", "en_own"]
        sizes = [*STANZA_SIZES, "--no_char", "--no_pretrain", "--cpu", "--batch_size", batch]
        length = ["--max_steps", steps, "--eval_interval", steps // 2]
        command = [sys.executable, "-m", f"stanza.models.{name}", "--mode", "train", *files, *where, *sizes, *length]
        ran = subprocess.run(
            [str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-2000:]
    return folder / "tagger.pt", folder / "parser.pt"
