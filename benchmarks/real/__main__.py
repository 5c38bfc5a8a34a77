"""Real judges' scores, whole data sets: what the product says beside the value known or published.

``python -m benchmarks.real --data DIR``, where DIR holds one folder a data set as its authors published it (see
``slices``). Prints a table and ends with 1 when a value is off.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evaluator.stats import attribute
from evaluator.stats.agreement import intraclass_correlation, krippendorff_alpha, weighted_kappa
from evaluator.stats.reliability import reliability
from evaluator.stats.two_runs import TwoRuns, compare_two_runs

SEEDED_PANELS = 1000
SMALLEST_OF_TEN = 0.225  # a tenth of a point of 1 to 5, on 1 to 10


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One value, what it should be, and how far off it may be. ``wanted`` None: shown, not judged."""

    data: str
    what: str
    found: float | str | None
    wanted: float | str | None
    within: float = 5e-4

    @property
    def is_good(self) -> bool:
        """Whether the value is the one that is wanted."""
        if self.wanted is None:
            return True
        if isinstance(self.wanted, str) or isinstance(self.found, str) or self.found is None:
            return self.found == self.wanted
        return abs(self.found - self.wanted) <= self.within


def shift_figures(data: str, what: str, found: TwoRuns, wanted: tuple[float, float, float]) -> list[Figure]:
    """Estimate and bounds of two runs."""
    values = zip(("", ", low", ", high"), (found.estimate, found.low, found.high), wanted, strict=True)
    return [
        Figure(data=data, what=f"{what}{name}", found=value, wanted=right, within=1e-4) for name, value, right in values
    ]


def wildbench(folder: Path) -> list[Figure]:
    """A judge that was swapped, assistants that joined, grades that were copied."""
    data = "wildbench_judge_switch"
    grades = pd.read_csv(folder / data / "grades.csv")
    wide = grades.pivot_table(index="anchor_id", columns="run", values="score", aggfunc="first")
    tasks = grades.drop_duplicates("anchor_id").set_index("anchor_id")["item_id"].reindex(wide.index)
    plain = compare_two_runs(wide["A"], wide["B"], smallest_change=SMALLEST_OF_TEN)
    clustered = compare_two_runs(wide["A"], wide["B"], smallest_change=SMALLEST_OF_TEN, clusters=list(tasks))
    again = compare_two_runs(wide["B"], wide["C"], smallest_change=SMALLEST_OF_TEN)
    copied = grades[grades["run"] == "C"].set_index("anchor_id")["copied_from_run_b"].reindex(wide.index)
    fresh = wide[copied == 0]
    regraded = compare_two_runs(fresh["B"], fresh["C"], smallest_change=SMALLEST_OF_TEN)
    figures = shift_figures(data, "A to B, paired", plain, (-0.6191, -0.6450, -0.5932))
    figures += [
        Figure(data=data, what="A to B, between tasks, low", found=clustered.low, wanted=-0.655, within=2e-3),
        Figure(data=data, what="A to B, between tasks, high", found=clustered.high, wanted=-0.582, within=2e-3),
        Figure(data=data, what="A to B is called", found=plain.finding.value, wanted="changed_down"),
        Figure(data=data, what="B to C may be copies", found=str(again.may_be_copies), wanted="True"),
        Figure(data=data, what="re-graded only may be copies", found=str(regraded.may_be_copies), wanted="False"),
    ]
    figures += shift_figures(data, "B to C, re-graded only", regraded, (0.1011, 0.0436, 0.1587))
    kappa = weighted_kappa(wide["A"], wide["B"]).value
    figures.append(Figure(data=data, what="quadratic kappa A, B", found=kappa, wanted=0.8137, within=1e-4))
    figures += [_power(wide, n, share) for n, share in ((20, 0.70), (30, 0.84), (60, 0.99), (120, 1.0))]
    return figures + _shares(grades, wide)


def _power(wide: pd.DataFrame, n: int, share: float) -> Figure:
    """How often a random panel of n anchors shows the swap."""
    shared = wide.dropna(subset=["A", "B"])
    rng = np.random.default_rng(n)
    found = 0
    for _ in range(SEEDED_PANELS):
        panel = shared.iloc[rng.permutation(len(shared))[:n]]
        result = compare_two_runs(panel["A"], panel["B"], smallest_change=1e-9)
        found += result.finding.value.startswith("changed")
    what = f"swap seen by {n} anchors"
    return Figure(data="wildbench_judge_switch", what=what, found=found / SEEDED_PANELS, wanted=share, within=0.07)


def _shares(grades: pd.DataFrame, wide: pd.DataFrame) -> list[Figure]:
    """Run means differ by -0.51: the swap by -0.62, two newcomers by about +0.1, no assistant by anything."""
    shared = wide.dropna(subset=["A", "B"])
    panel = shared.iloc[np.random.default_rng(7).permutation(len(shared))[:200]]
    rows = {run: grades[(grades["run"] == run) & ~grades["anchor_id"].isin(panel.index)] for run in ("A", "B")}
    found = attribute(
        before=rows["A"]["score"],
        after=rows["B"]["score"],
        anchors_before=panel["A"].to_numpy()[None, :],
        anchors_after=panel["B"].to_numpy()[None, :],
        segments_before=list(rows["A"]["response_model"]),
        segments_after=list(rows["B"]["response_model"]),
        clusters_before=list(rows["A"]["item_id"]),
        clusters_after=list(rows["B"]["item_id"]),
        scale=(1, 10),
        tolerance=SMALLEST_OF_TEN,
    )
    data = "wildbench_judge_switch"
    covers = found.assistant.low is not None and found.assistant.high is not None
    zero = covers and (found.assistant.low or 0.0) <= 0 <= (found.assistant.high or 0.0)
    return [
        Figure(data=data, what="change of the run mean, raw", found=found.raw.estimate, wanted=None),
        Figure(data=data, what="of it the judge", found=found.judge.estimate, wanted=-0.62, within=0.15),
        Figure(data=data, what="of it the mix of assistants", found=found.mix.estimate, wanted=None),
        Figure(data=data, what="of it the assistant", found=found.assistant.estimate, wanted=None),
        Figure(data=data, what="the assistant's interval holds zero", found=str(zero), wanted="True"),
        Figure(data=data, what="verdict", found=found.verdict, wanted=None),
    ]


def regrades(folder: Path) -> list[Figure]:
    """One judge, three times: no change, and not called steady."""
    data = "gpt4_regrade_1to5"
    scores: dict[str, dict[int, float]] = {}
    with (folder / data / "grades.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            scores.setdefault(row["response_id"], {})[row["repeat"]] = row["score"]
    matrix = np.array([[each[number] for each in scores.values()] for number in (1, 2, 3)], dtype=float)
    figures = []
    for first, second, wanted in (
        (0, 1, (0.0250, -0.0250, 0.0750)),
        (0, 2, (-0.0016, -0.0478, 0.0447)),
        (1, 2, (-0.0266, -0.0759, 0.0228)),
    ):
        found = compare_two_runs(matrix[first], matrix[second], smallest_change=0.1)
        name = f"repeat {first + 1} to {second + 1}"
        figures += shift_figures(data, name, found, wanted)
        figures.append(Figure(data=data, what=f"{name} is called", found=found.finding.value, wanted="no_change_shown"))
    alpha = krippendorff_alpha(matrix).value
    figures.append(Figure(data=data, what="ordinal alpha", found=alpha, wanted=0.7812, within=1e-4))
    icc = intraclass_correlation(matrix).value
    figures.append(Figure(data=data, what="ICC(2,1)", found=icc, wanted=0.852, within=1e-3))
    noise = reliability(matrix).noise_sd
    return [*figures, Figure(data=data, what="spread of one score", found=noise, wanted=0.4425, within=1e-4)]


def snapshots(folder: Path) -> list[Figure]:
    """A yes-no judge that changed under an unchanged name."""
    data = "llmdrift_2023"
    rows = pd.read_csv(folder / data / "prime_verdicts.csv")
    figures = []
    for family, wanted in (("gpt-4", (-0.3290, -0.3735, -0.2845)), ("gpt-3.5", (0.2430, 0.1979, 0.2881))):
        own = rows[rows["model_family"] == family]
        right = own.assign(right=(own["verdict_lenient"] == own["gold"]).astype(float))
        wide = right.pivot_table(index="item_id", columns="snapshot", values="right", aggfunc="first")
        found = compare_two_runs(wide["2023-03"], wide["2023-06"], smallest_change=0.025)
        figures += shift_figures(data, f"accuracy of {family}", found, wanted)
        said = own.assign(yes=own["verdict_lenient"].map({"yes": 1.0, "no": 0.0}))
        rates = said.groupby("snapshot")["yes"].apply(lambda verdicts: verdicts.eq(1.0).mean())
        for month, rate in zip(
            ("2023-03", "2023-06"), {"gpt-4": (0.635, 0.013), "gpt-3.5": (0.031, 0.585)}[family], strict=True
        ):
            figures.append(
                Figure(data=data, what=f"yes-rate of {family}, {month}", found=float(rates[month]), wanted=rate)
            )
    return figures


def stories(folder: Path) -> list[Figure]:
    """Judge prompts changed on fixed stories; people who hardly agree."""
    data = "hanna_stories"
    rows = pd.read_csv(folder / data / "scores.csv")
    figures = []
    for judge, prompt, wanted in (
        ("chatgpt", "p2", (-0.0534, -0.0651, -0.0417)),
        ("chatgpt", "p3", (0.0988, 0.0699, 0.1276)),
        ("mistral-7b", "p4", (-0.3505, -0.3759, -0.3252)),
        ("llama-13b", "p4", (-0.7158, -0.7485, -0.6831)),
        ("beluga-13b", "p4", (-0.3670, -0.3992, -0.3347)),
    ):
        both = rows.dropna(subset=[f"{judge}_p1", f"{judge}_{prompt}"]).groupby("story_id").mean(numeric_only=True)
        found = compare_two_runs(both[f"{judge}_p1"], both[f"{judge}_{prompt}"], smallest_change=0.025)
        figures += shift_figures(data, f"{judge}, {prompt} less p1", found, wanted)
    people = rows[["human_1", "human_2", "human_3"]].to_numpy(dtype=float).T
    alpha = krippendorff_alpha(people, metric="interval").value
    return [*figures, Figure(data=data, what="people, interval alpha", found=alpha, wanted=0.1655, within=1e-4)]


def dialogues(folder: Path) -> list[Figure]:
    """A judge that gives probabilities; several people on the same dialogues."""
    data = "llm_rubric_dialogues"
    people = pd.read_csv(folder / data / "human_scores.csv")
    judge = pd.read_csv(folder / data / "judge_scores.csv")
    figures = []
    for question, bias, rmse in (("Q0", 0.4578, 0.9187), ("Q6", -1.0455, 1.267)):
        human = people[(people["split"] == "real") & (people["criterion"] == question) & (people["human"] >= 1)]
        own = judge[(judge["split"] == "real") & (judge["criterion"] == question)]
        both = human.merge(own, on="text_id")
        error = sum(level * both[f"p{level}"] for level in (1, 2, 3, 4)) - both["human"]
        rmse_found = float(np.sqrt((error**2).mean()))
        name = f"{question}, judge less person"
        figures.append(Figure(data=data, what=name, found=float(error.mean()), wanted=bias, within=1e-3))
        name = f"{question}, root mean squared error"
        figures.append(Figure(data=data, what=name, found=rmse_found, wanted=rmse, within=1e-3))
    synthetic = people[(people["split"] == "synth") & (people["criterion"] == "Q0") & (people["human"] >= 1)]
    # nine times a person scored a dialogue twice: the first counts
    synthetic = synthetic.drop_duplicates(["annotator_id", "text_id"])
    matrix = synthetic.pivot_table(index="annotator_id", columns="text_id", values="human").to_numpy()
    for metric, wanted in (("ordinal", 0.053), ("interval", 0.065)):
        alpha = krippendorff_alpha(matrix, metric=metric).value  # type: ignore[arg-type]  # one of two names
        figures.append(Figure(data=data, what=f"people, {metric} alpha", found=alpha, wanted=wanted))
    return figures


SETS: dict[str, Callable[[Path], list[Figure]]] = {
    "wildbench": wildbench, "regrades": regrades, "snapshots": snapshots, "stories": stories, "dialogues": dialogues
}  # fmt: skip


def text(value: float | str | None) -> str:
    """A cell."""
    return f"{value:.4f}" if isinstance(value, float) else "-" if value is None else str(value)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a value is off."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets as published")
    parser.add_argument("--only", choices=sorted(SETS), action="append", help="one of them (repeat for several)")
    arguments = parser.parse_args(words)
    print(f"{'data set':<24} {'what':<40} {'found':>16} {'known':>16}")
    n_off = 0
    for name in arguments.only or SETS:
        for figure in SETS[name](arguments.data):
            mark = "" if figure.is_good else "  OFF"
            n_off += not figure.is_good
            print(f"{figure.data:<24} {figure.what:<40} {text(figure.found):>16} {text(figure.wanted):>16}{mark}")
    print(f"{n_off} off" if n_off else "all as known")
    return 1 if n_off else 0


if __name__ == "__main__":
    sys.exit(main())
