"""The statistics on scores of real judges, where the right answer is known or published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evaluator.stats.agreement import intraclass_correlation, krippendorff_alpha, weighted_kappa
from evaluator.stats.intervals import Finding
from evaluator.stats.reliability import reliability
from evaluator.stats.two_runs import compare_two_runs

DATA = Path(__file__).resolve().parents[1] / "data" / "real_judges"
TEN = 2.25 * 0.1  # a tenth of a point of 1 to 5, on 1 to 10


def table(name: str) -> pd.DataFrame:
    """One of the slices."""
    return pd.read_csv(DATA / f"{name}.csv")


# ---------------------------------------------------------------- a judge that was swapped


@pytest.fixture(scope="module")
def switch() -> pd.DataFrame:
    """Run a by the old judge, b and c by the new one."""
    return table("switch")


def test_the_swap_is_found_and_sized_on_shared_anchors(switch: pd.DataFrame) -> None:
    """Over all 6,133 shared answers it is -0.62: held by the interval between tasks, not by one between answers."""
    found = compare_two_runs(switch["a"], switch["b"], smallest_change=TEN, clusters=list(switch["task"]))
    assert found.finding is Finding.CHANGED_DOWN
    assert found.low is not None
    assert found.high is not None
    assert found.low < -0.62 < found.high
    assert found.n_down > 3 * found.n_up
    # six answers to one task are no six measurements of the judge
    alone = compare_two_runs(switch["a"], switch["b"], smallest_change=TEN)
    assert alone.high is not None
    assert not alone.high > -0.62


def test_assistants_that_joined_are_not_taken_for_drift(switch: pd.DataFrame) -> None:
    """Two of eight have no grade by the old judge: they are counted, and compared with nothing."""
    found = compare_two_runs(switch["a"], switch["b"], smallest_change=TEN)
    joined = switch.groupby("model")["a"].apply(lambda scores: scores.isna().all())
    assert found.n_only_after >= int(switch["model"].isin(joined[joined].index).sum()) > 0
    plain = switch["b"].mean() - switch["a"].mean()
    assert found.estimate is not None
    # the plain difference of the two means is off by what the newcomers bring
    assert abs(plain - found.estimate) > 0.05


def test_every_assistant_shows_the_same_drift(switch: pd.DataFrame) -> None:
    """The drift is no change of their order, but for two that lie close together."""
    shared = switch.dropna(subset=["a", "b"]).groupby("model")[["a", "b"]].mean()
    assert shared["a"].corr(shared["b"], method="spearman") > 0.9
    for _, rows in switch.dropna(subset=["a", "b"]).groupby("model"):
        assert (compare_two_runs(rows["a"], rows["b"], smallest_change=TEN).estimate or 0) < -0.2


def test_a_run_made_of_copies_is_noticed(switch: pd.DataFrame) -> None:
    """Nine tenths of run c were published again from run b; those really graded again are no copies."""
    found = compare_two_runs(switch["b"], switch["c"], smallest_change=TEN)
    assert found.may_be_copies
    fresh = switch[switch["copied"] == 0]
    assert len(fresh) >= 50
    assert not compare_two_runs(fresh["b"], fresh["c"], smallest_change=TEN).may_be_copies


# ---------------------------------------------------------------- a judge that did not change


@pytest.fixture(scope="module")
def grades() -> np.ndarray:
    """Three gradings of 640 answers."""
    return table("regrades")[["grade_1", "grade_2", "grade_3"]].to_numpy(dtype=float).T


@pytest.mark.parametrize(
    ("first", "second", "estimate", "low", "high"),
    [(0, 1, 0.0250, -0.0250, 0.0750), (0, 2, -0.0016, -0.0478, 0.0447), (1, 2, -0.0266, -0.0759, 0.0228)],
)
def test_repeats_show_no_change_and_are_not_called_steady(
    grades: np.ndarray, first: int, second: int, estimate: float, low: float, high: float
) -> None:
    """Shifts and intervals as computed independently."""
    found = compare_two_runs(grades[first], grades[second], smallest_change=0.1)
    assert (found.estimate, found.low, found.high) == pytest.approx((estimate, low, high), abs=6e-5)
    assert found.finding is Finding.NO_CHANGE_SHOWN


@pytest.mark.parametrize(
    ("first", "second", "quadratic", "plain"), [(0, 1, 0.8399, 0.5165), (0, 2, 0.8663, 0.5751), (1, 2, 0.8482, 0.5248)]
)
def test_kappas_of_the_repeats(grades: np.ndarray, first: int, second: int, quadratic: float, plain: float) -> None:
    """Quadratic and plain."""
    assert weighted_kappa(grades[first], grades[second]).value == pytest.approx(quadratic, abs=6e-5)
    unweighted = weighted_kappa(grades[first], grades[second], weights="unweighted").value
    assert unweighted == pytest.approx(plain, abs=6e-5)


def test_alpha_correlation_and_flips_of_the_repeats(grades: np.ndarray) -> None:
    """As computed independently; 53.1 % of the answers got the same grade three times."""
    assert krippendorff_alpha(grades).value == pytest.approx(0.7812, abs=6e-5)
    assert krippendorff_alpha(grades, metric="interval").value == pytest.approx(0.8516, abs=6e-5)
    assert intraclass_correlation(grades).value == pytest.approx(0.852, abs=6e-4)
    found = reliability(grades)
    assert 1 - found.n_flipped / found.n_items == pytest.approx(0.531, abs=6e-4)
    assert found.noise_sd == pytest.approx(0.4425, abs=6e-5)
    assert found.reliability == pytest.approx(0.852, abs=1e-3)


# ---------------------------------------------------------------- a judge of yes and no


@pytest.fixture(scope="module")
def snapshots() -> pd.DataFrame:
    """Is the number prime? Two models, March and June."""
    return table("snapshots")


def test_accuracy_hides_what_moved(snapshots: pd.DataFrame) -> None:
    """Accuracy of gpt-4 fell by 0.33; its yes-rate fell by 0.62, which is what a monitor of its scores sees."""
    truth = (snapshots["kind"] == "prime").astype(float)
    right = [(snapshots[f"gpt4_{month}_lenient"] == truth).astype(float) for month in ("march", "june")]
    accuracy = compare_two_runs(*right, smallest_change=0.025)
    assert (accuracy.estimate, accuracy.low, accuracy.high) == pytest.approx((-0.3290, -0.3735, -0.2845), abs=6e-5)
    assert (accuracy.n_down, accuracy.n_up) == (476, 147)
    said_yes = compare_two_runs(
        snapshots["gpt4_march_lenient"], snapshots["gpt4_june_lenient"], smallest_change=0.025
    )  # fmt: skip
    assert (said_yes.estimate or 0) < -0.6
    assert said_yes.finding is Finding.CHANGED_DOWN


def test_a_judge_that_agrees_with_itself_no_better_than_chance(snapshots: pd.DataFrame) -> None:
    """Kappa between the snapshots of each model."""
    for model, kappa in (("gpt4", 0.015), ("gpt35", 0.021)):
        found = weighted_kappa(snapshots[f"{model}_march_lenient"], snapshots[f"{model}_june_lenient"])
        assert found.value == pytest.approx(kappa, abs=2e-3)


def test_verdicts_that_cannot_be_read_are_missing_and_counted(snapshots: pd.DataFrame) -> None:
    """Strictly read, gpt-3.5 left 16.6 % unreadable in June: no zero is made of them."""
    found = compare_two_runs(snapshots["gpt35_march_strict"], snapshots["gpt35_june_strict"], smallest_change=0.025)
    assert snapshots["gpt35_june_strict"].isna().mean() == pytest.approx(0.166, abs=6e-4)
    assert found.n + found.n_only_before == snapshots["gpt35_march_strict"].notna().sum()
    assert found.n_only_before > 100


# ---------------------------------------------------------------- people and judges


def test_a_change_of_the_judge_prompt_is_found_on_stories() -> None:
    """The same judge under another prompt, on the same stories."""
    stories = table("stories")
    for judge, prompt, estimate, low, high in (
        ("chatgpt", "p2", -0.0534, -0.0651, -0.0417),
        ("beluga-13b", "p2", -0.1079, -0.1265, -0.0893),
        ("beluga-13b", "p4", -0.3670, -0.3992, -0.3347),
    ):
        found = compare_two_runs(stories[f"{judge}_p1"], stories[f"{judge}_{prompt}"], smallest_change=0.025)
        assert (found.estimate, found.low, found.high) == pytest.approx((estimate, low, high), abs=2e-4)


def test_people_who_hardly_agree_are_a_low_ceiling() -> None:
    """Alpha of three people on the complexity of a story."""
    people = table("stories")[["human_1", "human_2", "human_3"]].to_numpy(dtype=float).T
    assert krippendorff_alpha(people).value == pytest.approx(0.266, abs=6e-4)
    assert krippendorff_alpha(people, metric="interval").value == pytest.approx(0.278, abs=6e-4)


def test_expected_score_of_a_judge_that_gives_probabilities() -> None:
    """Mean and error against people, as its authors published them; "not applicable" is no score."""
    rows = table("dialogues")
    for question, human_mean, bias, rmse in (("q0", 2.8251, 0.4578, 0.9187), ("q6", None, -1.0455, 1.267)):
        known = rows[rows[f"human_{question}"] >= 1]
        expected = sum(level * known[f"{question}_p{level}"] for level in (1, 2, 3, 4))
        error = expected - known[f"human_{question}"]
        assert error.mean() == pytest.approx(bias, abs=1e-3)
        assert float(np.sqrt((error**2).mean())) == pytest.approx(rmse, abs=1e-3)
        if human_mean is not None:
            assert known[f"human_{question}"].mean() == pytest.approx(human_mean, abs=1e-4)
