"""Makes ``tests/data/real_judges`` from the data sets as their authors published them: numbers only, no texts.

``python -m benchmarks.real.slices --data DIR``, where DIR holds one folder a data set (its README there names the
columns). Rows are drawn by a hash of their names, so the slices come out the same everywhere.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

SLICES = Path(__file__).resolve().parents[2] / "tests" / "data" / "real_judges"
SWITCH_ITEMS = 110
JUDGES = ("chatgpt", "beluga-13b")

Row = dict[str, str]


def read_rows(path: Path) -> list[Row]:
    """Rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def hashed(name: str) -> str:
    """An order that knows nothing of scores."""
    return hashlib.sha256(name.encode()).hexdigest()


def switch(data: Path) -> list[Row]:
    """WildBench: one row an anchor; run A by the old judge, B by the new one, C by the new one again."""
    anchors: dict[str, Row] = {}
    for row in read_rows(data / "wildbench_judge_switch" / "grades.csv"):
        anchor = anchors.setdefault(row["anchor_id"], {"task": row["item_id"], "model": row["response_model"]})
        anchor[row["run"].lower()] = row["score"]
        if row["run"] == "C":
            anchor["copied"] = row["copied_from_run_b"]
    tasks = sorted({row["task"] for row in anchors.values()}, key=hashed)[:SWITCH_ITEMS]
    return [row for _, row in sorted(anchors.items()) if row["task"] in tasks]


def regrades(data: Path) -> list[Row]:
    """Prometheus-Eval: one row a response, three gradings by one judge."""
    folder = data / "gpt4_regrade_1to5"
    rows: dict[str, Row] = {}
    with (folder / "responses.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            fields = {"bench": row["bench"], "category": row["category"], "model": row["response_model"]}
            rows[row["response_id"]] = fields
    with (folder / "grades.jsonl").open(encoding="utf-8") as file:
        for line in file:
            grade = json.loads(line)
            rows[grade["response_id"]][f"grade_{grade['repeat']}"] = str(grade["score"])
    return [rows[name] for name in sorted(rows)]


def snapshots(data: Path) -> list[Row]:
    """LLMDrift: one row a number; is it prime, said two models in March and in June, strictly and leniently read."""
    rows: dict[str, Row] = {}
    for row in read_rows(data / "llmdrift_2023" / "prime_verdicts.csv"):
        family = row["model_family"].replace("-", "").replace(".", "")
        month = {"2023-03": "march", "2023-06": "june"}[row["snapshot"]]
        found = rows.setdefault(row["item_id"], {"kind": row["kind"]})
        for reading in ("strict", "lenient"):
            verdict = row[f"verdict_{reading}"]
            found[f"{family}_{month}_{reading}"] = {"yes": "1", "no": "0"}.get(verdict, "")
    return [rows[name] for name in sorted(rows)]


def stories(data: Path) -> list[Row]:
    """HANNA: one row a story; three people on complexity, and each judge's mean over the criteria by judge prompt."""
    rows: dict[str, Row] = {}
    sums: dict[tuple[str, str], list[float]] = {}
    for row in read_rows(data / "hanna_stories" / "scores.csv"):
        found = rows.setdefault(row["story_id"], {"writer": row["story_model"]})
        if row["criterion"] == "complexity":
            found |= {f"human_{number}": row[f"human_{number}"] for number in (1, 2, 3)}
        for judge in JUDGES:
            for prompt in ("p1", "p2", "p4"):
                if row[f"{judge}_{prompt}"]:
                    sums.setdefault((row["story_id"], f"{judge}_{prompt}"), []).append(float(row[f"{judge}_{prompt}"]))
    for (story, column), values in sums.items():
        rows[story][column] = f"{sum(values) / len(values):.4f}"
    return [rows[name] for name in sorted(rows)]


def dialogues(data: Path) -> list[Row]:
    """LLM-Rubric, real dialogues: a person's score of 1 to 4 and the judge's probabilities, on two questions."""
    folder = data / "llm_rubric_dialogues"
    rows: dict[str, Row] = {}
    for row in read_rows(folder / "human_scores.csv"):
        if row["split"] == "real" and row["criterion"] in ("Q0", "Q6"):
            rows.setdefault(row["text_id"], {})[f"human_{row['criterion'].lower()}"] = row["human"]
    for row in read_rows(folder / "judge_scores.csv"):
        if row["split"] == "real" and row["criterion"] in ("Q0", "Q6"):
            found = rows[row["text_id"]]
            found |= {f"{row['criterion'].lower()}_p{level}": row[f"p{level}"] for level in (1, 2, 3, 4)}
    return [rows[name] for name in sorted(rows)]


SETS = {
    "switch": switch, "regrades": regrades, "snapshots": snapshots, "stories": stories, "dialogues": dialogues
}  # fmt: skip


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows with all columns that occur, in the order they first do."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(words: Iterable[str] | None = None) -> None:
    """Write every slice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    arguments = parser.parse_args(None if words is None else list(words))
    SLICES.mkdir(parents=True, exist_ok=True)
    for name, make in SETS.items():
        rows = make(arguments.data)
        write_rows(SLICES / f"{name}.csv", rows)
        print(f"{name}.csv: {len(rows)} rows")


if __name__ == "__main__":
    main()
