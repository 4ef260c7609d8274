"""Regress reading times on measures of complexity: Tables 2 and 3 of Wu et al. (2010), on Natural Stories.

The data are mean self-paced reading times of words (stories 1-7). The only random effect is therefore that of the word
form, and stories are fixed effects; the paper has single readings and random effects of subjects. A word with
punctuation or a clitic consists of several tokens: their surprisals are added up, and so are their entropy reductions;
the embedding difference is taken between the depth before the first token and that after the last. The first and the
last word of a sentence are left out (in the paper, of a line), and so are words read in less than 150 or more than
1500 ms. A word that the model does not know has no surprisal of its own, and is left out too.

DATA is a folder with eval_only/naturalstories/parses/penn/all-parses-aligned.txt.penn and processed_wordinfo.tsv, and
with text_en/textbooks.txt.xz and presidential.txt.xz for the bigrams. The package statsmodels is needed (the extra
`ml`).
"""

from __future__ import annotations

import csv
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, experiment, file_of, say
from docs.results.scripts.texts import ngram_model, sentences_of_text
from rerank_plugins import LanguageModel
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel

STORIES = "eval_only/naturalstories"
TREES, TIMES = f"{STORIES}/parses/penn/all-parses-aligned.txt.penn", f"{STORIES}/processed_wordinfo.tsv"
TEXTS = ("text_en/textbooks.txt.xz", "text_en/presidential.txt.xz")
Token = tuple[str, str, tuple[int, int]]  # tag, token, (story, zone)
LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)/(\d+)\.(\d+)(?:\.\d+)?\)")
OPEN = ("NN", "VB", "JJ", "RB", "CD", "FW")  # prefixes of the tags of open-class words
BASE = ("order", "reciprocal_length", "unigram", "bigram")
MEASURES = ("surprisal", "entropy_reduction", "embedding_difference")


def sentences(path: Path) -> Iterator[list[Token]]:
    """Yield each sentence as a list of (tag, token, (story, zone)), without traces."""
    with open_text(path) as lines:
        text = "".join(lines)
    for tree in text.split("(ROOT")[1:]:
        yield [
            (tag, token, (int(story), int(zone))) for tag, token, story, zone in LEAF.findall(tree) if tag != "-NONE-"
        ]


def words(
    path: Path, model: HhmmLanguageModel, bigrams: LanguageModel, unigrams: UnigramLanguageModel, stories: int
) -> Iterator[dict[str, Any]]:
    """Yield one row per word of the first stories: story, form and factors; `…_before` are those of the word before."""
    parsed = [sentence for sentence in sentences(path) if sentence and sentence[0][2][0] <= stories]
    texts = [[token for _, token, _ in sentence] for sentence in parsed]
    measured, bigram = model.complexity(texts), bigrams.score(texts)
    unparsed = sum(float(measures.unparsed.sum()) for measures in measured)
    print(f"{len(texts)} sentences, {sum(map(len, texts))} tokens; unparsed words: {unparsed:.0f}")
    before: dict[str, Any] | None = None
    for sentence, measures, ln_p in zip(parsed, measured, bigram, strict=True):
        keys = [key for _, _, key in sentence]
        distinct = sorted(set(keys), key=keys.index)
        for position, key in enumerate(distinct):
            tokens = [i for i, other in enumerate(keys) if other == key]
            form = "".join(sentence[i][1] for i in tokens)
            row: dict[str, Any] = {
                "key": key,
                "story": key[0],
                "form": form.lower(),
                "open": sentence[tokens[0]][0].startswith(OPEN),
                "known": all(sentence[i][1] in model for i in tokens),
                "edge": position in (0, len(distinct) - 1),
                "order": key[1],
                "reciprocal_length": -math.log(len(form)),
                "unigram": float(unigrams.ln(sentence[tokens[0]][1])),
                "bigram": float(ln_p[tokens[0]]),
                "surprisal": float(measures.surprisal[tokens].sum()),
                "entropy_reduction": float(measures.reduction[tokens].sum()),
                "embedding_difference": float(measures.depth[tokens[-1] + 1] - measures.depth[tokens[0]]),
            }
            for name in MEASURES:
                row[f"{name}_before"] = before[name] if before and before["story"] == key[0] else 0.0
            before = row
            yield row


def reading_times(path: Path) -> dict[tuple[int, int], float]:
    """The mean reading time of each word in milliseconds, by (story, zone)."""
    with open_text(path) as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(int(row["item"]), int(row["zone"])): float(row["meanItemRT"]) for row in rows}


class Fit(NamedTuple):
    """A regression by maximum likelihood: coefficients, standard errors, ln p of the data and number of parameters."""

    params: Any
    bse: Any
    llf: float
    parameters: int

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return float(2 * self.parameters - 2 * self.llf)


def fit(frame: Any, factors: Sequence[str]) -> Fit:
    """Fit a random intercept for each word form and fixed ones for stories; the factors are centred and scaled.

    With λ the ratio of the variances, the model is least squares on y - θ_i mean_i(y), θ_i = 1 - 1 / sqrt(1 + n_i λ),
    for a form i with n_i readings; λ maximises the likelihood.
    """
    import pandas as pd
    import statsmodels.api as sm
    from scipy.optimize import minimize_scalar

    stories = pd.get_dummies(frame["story"], prefix="story", dtype=float)
    columns = pd.concat([frame["time"], stories, frame[list(factors)]], axis=1)
    means = columns.groupby(frame["form"]).transform("mean")
    sizes = frame.groupby("form")["time"].transform("size").to_numpy()

    def at(log_ratio: float) -> tuple[Any, float]:
        ratio = np.exp(log_ratio)
        rest = columns - means.mul(1 - 1 / np.sqrt(1 + sizes * ratio), axis=0)
        fitted = sm.OLS(rest["time"], rest.drop(columns="time")).fit()
        return fitted, fitted.llf - 0.5 * (np.log1p(sizes * ratio) / sizes).sum()

    best = minimize_scalar(lambda log_ratio: -at(log_ratio)[1], bounds=(-12, 6), method="bounded").x
    fitted, llf = at(best)
    return Fit(fitted.params, fitted.bse, llf, len(fitted.params) + 2)


def table(name: str, frame: Any) -> Any:
    """Print coefficients (ms per standard deviation) with t, and the likelihood ratio of each; return correlations."""
    from scipy.stats import chi2

    print(f"\n{name}: {len(frame)} words, mean {frame['time'].mean():.1f} ms")
    factors = [*BASE, *MEASURES, "surprisal_before"]
    frame = frame.copy()
    for factor in [*factors, *(f"{m}_before" for m in MEASURES[1:])]:
        frame[factor] = (frame[factor] - frame[factor].mean()) / frame[factor].std()
    whole = fit(frame, factors)
    print("| factor | coefficient | std. error | t | without it: χ², p, AIC |\n| --- | ---: | ---: | ---: | --- |")
    for factor in factors:
        less = fit(frame, [other for other in factors if other != factor])
        ratio = 2 * (whole.llf - less.llf)
        t = whole.params[factor] / whole.bse[factor]
        row = f"| {factor} | {whole.params[factor]:.2f} | {whole.bse[factor]:.2f} | {t:.2f} |"
        print(f"{row} {ratio:.1f}, {chi2.sf(max(ratio, 0), 1):.2g}, {less.aic:.0f} |", flush=True)
    print(f"AIC of the full model: {whole.aic:.0f}; of the base factors only: {fit(frame, list(BASE)).aic:.0f}")
    return frame[factors].corr()


@experiment("reading_times", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--beam", default=200, help="Keep this many stores of the HHMM after each word.")
@click.option(
    "--model",
    type=FILE,
    help="Use this model, made by `rerank train hhmm` or `train grammar`.  [default: the embedded one]",
)
@click.option("--stories", default=7, help="Take this many stories.")
def main(data: Path, beam: int, model: Path | None, stories: int) -> None:
    """Compute the measures, fit the regressions and print the tables."""
    trees, times = file_of(data, TREES), reading_times(file_of(data, TIMES))
    files = [file_of(data, name) for name in TEXTS]
    import pandas as pd
    import statsmodels.api  # noqa: F401 (a missing package is reported before the work)

    say("training bigrams")
    text = [sentence for path in files for sentence in sentences_of_text(path, 100_000)]
    with tempfile.TemporaryDirectory() as scratch:
        bigrams = ngram_model(text, 2, Path(scratch) / "bigrams")
        say("measuring complexity")
        measured = words(
            trees, HhmmLanguageModel(model, beam=beam, threshold=1e-6), bigrams, UnigramLanguageModel(), stories
        )
        rows = [row for row in measured if row["key"] in times]
    frame = pd.DataFrame(rows)
    frame["time"] = [times[key] for key in frame["key"]]
    frame = frame[~frame["edge"] & frame["time"].between(150, 1500)]
    print(f"{(~frame['known']).sum()} of {len(frame)} words are left out because the model does not know them")
    frame = frame[frame["known"]]
    correlation = table("All words", frame)
    table("Open-class words", frame[frame["open"]])
    table("Closed-class words", frame[~frame["open"]])
    print("\nCorrelations of the factors (all words)")
    print(correlation.round(2).to_string())


if __name__ == "__main__":
    main()
