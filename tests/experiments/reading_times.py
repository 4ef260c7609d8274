"""Reading times regressed on measures of complexity: Tables 2 and 3 of Wu et al. (2010), on Natural Stories.

    python -m tests.experiments.reading_times ../shared/data [BEAM [MODEL]]        needs the extra `ml` (statsmodels)

The data are mean self-paced reading times of words (stories 1-7), so the random effect is of the word form alone and
stories are fixed effects; the paper has single readings, and random effects of subjects. A word with punctuation or a
clitic is several tokens: surprisals add up, entropy reductions too, embedding is before the first and after the last.
Left out are the first and last word of a sentence (the paper: of a line), and words read in under 150 or over 1500 ms.
"""

import csv
import math
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.models.hhmm_model import HhmmModel
from rerank_plugins.models.unigram_model import UnigramModel
from tests.experiments.hhmm_table import lines_of, ngram

LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)/(\d+)\.(\d+)(?:\.\d+)?\)")
OPEN = ("NN", "VB", "JJ", "RB", "CD", "FW")  # tags of open-class words begin so
BASE = ("order", "reciprocal_length", "unigram", "bigram")
MEASURES = ("surprisal", "entropy_reduction", "embedding_difference")


def sentences(folder):
    """Each sentence as (tag, token, (story, zone)); traces are left out."""
    text = (folder / "parses/penn/all-parses-aligned.txt.penn").read_text(encoding="utf-8")
    for tree in text.split("(ROOT")[1:]:
        yield [
            (tag, token, (int(story), int(zone))) for tag, token, story, zone in LEAF.findall(tree) if tag != "-NONE-"
        ]


def words(folder, model, bigrams, unigrams):
    """One row a word: story, form and factors; those of the word before as `…_before`."""
    parsed = [sentence for sentence in sentences(folder) if sentence]
    texts = [[token for _, token, _ in sentence] for sentence in parsed]
    measured, bigram = model.complexity(texts), bigrams.score(texts)
    lost = sum(float(each.lost.sum()) for each in measured)
    print(f"{len(texts)} sentences, {sum(map(len, texts))} tokens; lost words: {lost:.0f}")
    before = None
    for sentence, measures, ln_p in zip(parsed, measured, bigram, strict=True):
        keys = [key for _, _, key in sentence]
        places = sorted(set(keys), key=keys.index)
        for place, key in enumerate(places):
            tokens = [i for i, other in enumerate(keys) if other == key]
            form = "".join(sentence[i][1] for i in tokens)
            row = {
                "key": key,
                "story": key[0],
                "form": form.lower(),
                "open": sentence[tokens[0]][0].startswith(OPEN),
                "edge": place in (0, len(places) - 1),
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


def reading_times(folder):
    with open(folder / "processed_wordinfo.tsv", encoding="utf-8") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(int(row["item"]), int(row["zone"])): float(row["meanItemRT"]) for row in rows}


class Fit(NamedTuple):
    """A regression by maximum likelihood: coefficients, their standard errors, ln p of the data, parameters."""

    params: Any
    bse: Any
    llf: float
    count: int

    @property
    def aic(self):
        return 2 * self.count - 2 * self.llf


def fit(frame, factors):
    """A random intercept for each word form, fixed ones for stories; factors are centred and scaled.

    With λ the ratio of variances, the model is least squares on y - θ_i mean_i(y), θ_i = 1 - 1 / sqrt(1 + n_i λ), for
    a form i with n_i readings; λ is where the likelihood is highest.
    """
    import pandas as pd
    import statsmodels.api as sm
    from scipy.optimize import minimize_scalar

    stories = pd.get_dummies(frame["story"], prefix="story", dtype=float)
    columns = pd.concat([frame["time"], stories, frame[factors]], axis=1)
    means = columns.groupby(frame["form"]).transform("mean")
    sizes = frame.groupby("form")["time"].transform("size").to_numpy()

    def at(log_ratio):
        ratio = np.exp(log_ratio)
        rest = columns - means.mul(1 - 1 / np.sqrt(1 + sizes * ratio), axis=0)
        fitted = sm.OLS(rest["time"], rest.drop(columns="time")).fit()
        return fitted, fitted.llf - 0.5 * (np.log1p(sizes * ratio) / sizes).sum()

    best = minimize_scalar(lambda log_ratio: -at(log_ratio)[1], bounds=(-12, 6), method="bounded").x
    fitted, llf = at(best)
    return Fit(fitted.params, fitted.bse, llf, len(fitted.params) + 2)


def table(name, frame):
    """Coefficients (ms for one standard deviation) and t, then what each measure adds to all others."""
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
    print(f"AIC of the whole: {whole.aic:.0f}; of the base factors alone: {fit(frame, list(BASE)).aic:.0f}")
    return frame[factors].corr()


def main(data, beam, model=None):
    import pandas as pd

    folder = data / "eval_only/naturalstories"
    times = reading_times(folder)
    text = [s for name in ("textbooks", "presidential") for s in lines_of(data / f"text_en/{name}.txt.xz", 100_000)]
    with tempfile.TemporaryDirectory() as scratch:
        bigrams = ngram("text", text, 2, scratch)
        rows = [
            row for row in words(folder, HhmmModel(model, beam=beam), bigrams, UnigramModel()) if row["key"] in times
        ]
    frame = pd.DataFrame(rows)
    frame["time"] = [times[key] for key in frame["key"]]
    frame = frame[~frame["edge"] & frame["time"].between(150, 1500)]
    correlation = table("All words", frame)
    table("Open-class words", frame[frame["open"]])
    table("Closed-class words", frame[~frame["open"]])
    print("\nCorrelations of the factors (all words)")
    print(correlation.round(2).to_string())


if __name__ == "__main__":
    main(
        Path(sys.argv[1]),
        int(sys.argv[2]) if len(sys.argv) > 2 else 500,
        Path(sys.argv[3]) if len(sys.argv) > 3 else None,
    )
