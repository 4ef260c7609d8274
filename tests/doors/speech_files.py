"""Made-up transcripts and hypotheses for small folders in the form of other programs."""

import random

WORDS = [
    "mylly",
    "vanha",
    "seisoo",
    "joen",
    "rannalla",
    "ja",
    "kukaan",
    "ei",
    "tiedä",
    "miksi",
    "se",
    "vielä",
    "pyörii",
    "kun",
    "vesi",
    "on",
    "matalalla",
    "talvella",
    "lumi",
    "peittää",
    "katon",
    "lapset",
    "juoksevat",
    "kotiin",
    "koulun",
    "jälkeen",
    "syömään",
    "keittoa",
    "leipää",
    "puuroa",
]


def transcripts(number, seed=1):
    """`number` sentences of made-up speech."""
    rng = random.Random(seed)
    return [" ".join(rng.choice(WORDS) for _ in range(5 + i % 4)) for i in range(number)]


def hypotheses(sentence, number, seed=1):
    """`number` versions of a sentence with a word or two changed, the first of which may be the sentence."""
    rng = random.Random(f"{sentence} {seed}")
    versions = []
    for _ in range(number):
        words = sentence.split()
        for _ in range(rng.choice([0, 1, 1, 2])):
            words[rng.randrange(len(words))] = rng.choice(WORDS)
        versions.append(" ".join(words))
    return versions


def write(path, lines):
    """Write lines, with the folder of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
