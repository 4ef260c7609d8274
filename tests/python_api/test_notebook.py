"""What notebooks do with the API: searches by scikit-learn, frames, and results that print themselves."""

import numpy as np
import pytest

from rerank_adapters import FeatureTable, NBestList, Pipeline, evaluate, similarity

HYPOTHESES = [["so is it", "so it is"], ["here i am", "i am here", "here am i"], ["he sees her", "him sees she"]] * 8
REFERENCES = ["so it is", "i am here", "he sees her"] * 8


@pytest.fixture(scope="module")
def lists():
    return [NBestList.from_texts(texts, np.arange(len(texts)) * -1.0) for texts in HYPOTHESES]


@pytest.fixture(scope="module")
def fitted(lists):
    return Pipeline(["reciprocal-rank", "unigram"], tuner="mert", metric="wer").fit(lists, REFERENCES)


@pytest.mark.parametrize("metric", ["wer", "chrf"])
def test_the_score_is_that_of_an_evaluation(lists, metric):
    pipeline = Pipeline("reciprocal-rank", tuner="mert", metric=metric).fit(lists, REFERENCES)
    evaluation = evaluate({"x": pipeline.predict(lists)}, REFERENCES, metrics=metric)
    wanted = evaluation.metrics[0].of("x").score * (-1 if metric == "wer" else 1)
    assert pipeline.score(lists, REFERENCES) == pytest.approx(wanted)
    assert pipeline.score(lists, dict(enumerate(REFERENCES))) == pipeline.score(lists, REFERENCES)


def test_a_perfect_error_rate_is_no_negative_zero(lists):
    pipeline = Pipeline("reciprocal-rank", tuner="mert", metric="wer").fit(lists, [texts[0] for texts in HYPOTHESES])
    assert str(pipeline.score(lists, [texts[0] for texts in HYPOTHESES])) == "0.0"


def test_searches_of_scikit_learn(lists, fitted):
    selection = pytest.importorskip("sklearn.model_selection")
    fitted = fitted.__class__(**{**fitted.get_params(), "tuner": "mert,restarts=1"})
    grid = {
        "tuner": ["mert,restarts=1", "mira,passes=2"],
        "seed": np.arange(1, 3),
        "features": [["reciprocal-rank"], ["reciprocal-rank", "unigram"]],
    }
    search = selection.GridSearchCV(fitted, grid, cv=2, error_score="raise").fit(lists, REFERENCES)
    assert isinstance(search.best_estimator_, Pipeline)
    assert search.best_score_ == pytest.approx(max(search.cv_results_["mean_test_score"]))
    scores = selection.cross_val_score(fitted, lists, REFERENCES, cv=2, error_score="raise")
    assert scores.shape == (2,)
    tried = [fitted.__class__(**{**fitted.get_params(), **one}) for one in selection.ParameterGrid(grid)]
    assert len(tried) == 8


def test_frames_of_results(lists, fitted):
    pandas = pytest.importorskip("pandas")
    reranked = fitted.predict(lists)
    frame = pandas.concat([one.to_pandas() for one in reranked])
    assert list(frame.columns) == ["segment", "row", "text", "score"]
    assert frame.groupby("segment", sort=False)["text"].first().tolist() == [one.best for one in reranked]
    rows = fitted.cross_validate(lists, REFERENCES, folds=3)
    assert rows.to_pandas()["name"].tolist() == [row["name"] for row in rows.table()]
    with pytest.raises(TypeError, match="found a data frame: give zip"):
        similarity(frame[["text", "text"]], "tfidf.words")


def test_results_print_themselves(lists, fitted):
    assert repr(fitted.tuning_).startswith("wer on the tuning set: 1-best ")
    rows = fitted.cross_validate(lists, REFERENCES, folds=3)
    assert repr(rows).splitlines()[0].split()[:2] == ["name", "held_out"]
    assert rows._repr_html_().startswith("<table>")
    explanation = fitted.explain(next(one for one in fitted.predict(lists) if one.order[0]))
    assert repr(explanation).startswith("Segment ")
    assert "weight × (value of A − value of B)" in repr(explanation)


def test_a_loaded_pipeline_prints_a_short_call(fitted, tmp_path):
    fitted.save(tmp_path / "w.toml")
    loaded = Pipeline.load(tmp_path / "w.toml")
    assert repr(loaded) == "Pipeline(['reciprocal-rank', 'unigram'], tuner='mert', metric='wer', config=…)"


def test_lists_are_systems(lists, fitted):
    systems = {"1-best": lists, "texts": [texts[0] for texts in HYPOTHESES], "new": fitted.predict(lists)}
    result = evaluate(systems, REFERENCES, metrics="wer", nbests=lists)
    assert result.metrics[0].of("1-best").score == result.metrics[0].of("texts").score
    with pytest.raises(TypeError, match="system 'x': wanted texts, found 7"):
        evaluate({"x": [7] * len(lists)}, REFERENCES)


def test_tables_are_saved_under_a_text(lists, tmp_path):
    table = Pipeline("length").transform(lists)
    table.save(str(tmp_path / "t.npz"))
    assert np.array_equal(FeatureTable.load(str(tmp_path / "t.npz")).values, table.values)
