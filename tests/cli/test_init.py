"""``judgewatch init``: flags, questions, what it writes, what it says, and what it refuses."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evaluator.cli import cli
from evaluator.config import load_config
from tests.cli.conftest import invoke, ok, ok_json, refused, some_answers, write_answers
from tests.first_hour.house_judge import JUDGE_PROMPT

MODEL = "gpt-4.1-mini-2025-04-14"
PROMPT = 'Question: {{input}}\nAnswer: {{output}}\nReply {"score": number from 0 to 10}'


def values(path: Path = Path("judgewatch.toml")) -> dict[str, Any]:
    """What a configuration says."""
    return tomllib.loads(path.read_text("utf-8"))


# ---------------------------------------------------------------- with flags


def test_model_alone_makes_a_configuration() -> None:
    """Everything else has a default; the budget comes from the forecast."""
    text = ok("init", "--model", MODEL, "--yes")
    config = load_config("judgewatch.toml")
    config.check_budget()
    assert config.judge.model == MODEL
    assert config.traffic.answers_per_day == 100
    assert config.budget.usd_per_day is not None
    assert f"the budget ends a day at ${config.budget.usd_per_day:.2f}" in text.replace("00\n", "\n")
    assert [file.name for file in Path().iterdir()] == ["judgewatch.toml"]


def test_all_flags_reach_the_configuration() -> None:
    """In the folder that was named; paths as the configuration sees them."""
    Path("prompt.txt").write_text(PROMPT, "utf-8")
    write_answers(Path("a.jsonl"), some_answers(3))
    ok(
        "init", "team", "--model", "judge-9", "--base-url", "http://127.0.0.1:9/v1/", "--key-env", "TEAM_KEY",
        "--prompt-file", "prompt.txt", "--scale", "0", "10", "--traffic", "*.jsonl", "--answers-per-day", "40",
        "--schedule", "weekdays at 7:30", "--zone", "Europe/Berlin", "--usd-per-day", "2.5", "--price", "1", "2",
        "--alert-url", "https://hooks.example/x", "--app", "shop", "--no-input",
    )  # fmt: skip
    assert values(Path("team/judgewatch.toml")) == {
        "app": {"name": "shop"},
        "judge": {
            "model": "judge-9",
            "base_url": "http://127.0.0.1:9/v1/",
            "api_key_env": "TEAM_KEY",
            "prompt_file": "../prompt.txt",
            "scale": [0, 10],
        },
        "traffic": {"files": "../*.jsonl", "answers_per_day": 40},
        "schedule": {"cron": "30 7 * * 1-5", "zone": "Europe/Berlin"},
        "budget": {"usd_per_day": 2.5},
        "alerts": {"url": "https://hooks.example/x"},
        "prices": {"judge-9": {"input_usd_per_million": 1, "output_usd_per_million": 2}},
    }


@pytest.mark.parametrize("scale", [("0", "1"), ("0", "100"), ("1", "5")])
def test_own_prompt_is_forecast_on_its_own_scale(scale: tuple[str, str]) -> None:
    """With the shipped anchors, whose own scores are on 1 to 5."""
    Path("prompt.txt").write_text(PROMPT, "utf-8")
    found = ok_json("init", "--model", MODEL, "--prompt-file", "prompt.txt", "--scale", *scale)
    assert found["scale"] == [float(scale[0]), float(scale[1])]
    points = found["judge"]["within_soon"] / (float(scale[1]) - float(scale[0]))
    assert points == pytest.approx(0.0251, abs=0.002)


def test_prompt_that_says_it_all_needs_no_further_flag() -> None:
    """Scale and place of the score are read off it, told, and written."""
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    result = invoke("init", "--model", MODEL, "--prompt-file", "prompt.txt", "--yes")
    assert result.exit_code == 0, result.output
    judge = values()["judge"]
    assert (judge["scale"], judge["score_field"]) == ([0, 10], "grading.points")
    assert "from 0 to 10, so scale is set to that" in result.stderr
    assert 'note: score_field = "grading.points": the example' in result.stderr
    assert "your own come with `judgewatch anchors pick`" in result.stdout
    lines = Path("judgewatch.toml").read_text("utf-8").splitlines()
    keys = [line.partition(" = ")[0] for line in lines]
    assert keys[keys.index("prompt_file") :][:3] == ["prompt_file", "scale", "score_field"]


def test_flags_say_otherwise_than_the_prompt() -> None:
    """And nothing is told of it but what speaks against them."""
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    own = ("--model", MODEL, "--prompt-file", "prompt.txt", "--scale", "0", "20")
    assert "from 0 to 10" not in invoke("init", "a", *own, "--score-field", "points", "--yes").stderr
    assert values(Path("a/judgewatch.toml"))["judge"]["score_field"] == "points"
    doubted = invoke("init", "b", *own, "--score-field", "grade", "--yes").stderr
    assert "no number at 'grade', but at grading.points" in doubted
    invoke("init", "c", *own, "--score-pattern", r"(?i)points\W+(\d+)", "--yes")
    assert values(Path("c/judgewatch.toml"))["judge"]["score_pattern"] == r"(?i)points\W+(\d+)"
    assert "score_field" not in values(Path("c/judgewatch.toml"))["judge"]


@pytest.mark.parametrize("given", ["prompt.txt", "up/../prompt.txt", "absolute"])
@pytest.mark.parametrize("folder", [".", "team", "far/off"])
def test_prompt_is_named_from_the_working_folder(given: str, folder: str) -> None:
    """Wherever the configuration goes, it names the same file: relative to itself, an absolute one as it is."""
    Path("up").mkdir()
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    path = str(Path("prompt.txt").absolute()) if given == "absolute" else given
    ok("init", folder, "--model", MODEL, "--prompt-file", path, "--yes")
    config = load_config(Path(folder) / "judgewatch.toml")
    assert config.judge.prompt_file is not None
    assert (config.folder / config.judge.prompt_file).samefile("prompt.txt")
    assert Path(config.judge.prompt_file).is_absolute() is (given == "absolute")
    if given != "absolute":
        assert config.judge.prompt_file == {".": "", "team": "../", "far/off": "../../"}[folder] + "prompt.txt"


def test_command_stands_in_for_files() -> None:
    """One or the other."""
    ok("init", "--model", MODEL, "--command", "python fetch.py --day today", "--yes")
    assert values()["traffic"]["command"] == "python fetch.py --day today"
    assert "--traffic and --command" in refused(
        "init", "x", "--model", MODEL, "--command", "a", "--traffic", "b", "--yes", code=64
    )


def test_what_it_will_cost_and_show_is_said() -> None:
    """Anchors and traffic apart, day and month, about and at most, what will be seen, the first alarm, what next."""
    result = invoke("init", "--model", MODEL, "--yes")
    assert result.exit_code == 0
    for said in (
        "a day, anchors: 112 calls of about ",
        "a day, traffic: 100 calls of about ",
        "together: 212 calls a day, ",
        " a month, at most $",
        "price: the price table of 20",
        "no answers at hand",
        "  judge, 112 anchors: a change of 0.",
        "  assistant, 100 answers a day: a change of 0.",
        "first possible alarm: 20",
        "judgewatch doctor",
        "judgewatch import --verdicts FILE",
        "judgewatch recheck FILE",
        "judgewatch run once --dry-run",
    ):
        assert said in result.stdout, said
    assert "this version sends no alerts" in result.stderr
    assert "`judgewatch check --fail-on judge,quality`" in result.stderr


def test_alert_address_is_kept_and_said_to_be_idle() -> None:
    """No promise that is not kept."""
    result = invoke("init", "--model", MODEL, "--alert-url", "https://hooks.example/x", "--yes")
    assert "alerts.url is kept for a later version" in result.stderr
    assert "https://hooks.example/x" not in result.output


def test_json_holds_the_forecast() -> None:
    """For programs that set up many."""
    found = ok_json("init", "--model", MODEL)
    assert found["path"] == "judgewatch.toml"
    assert found["kept"] is None
    assert found["calls_per_day"] == pytest.approx(212, abs=0.5)
    assert 0 < found["about_usd_per_day"] < found["most_usd_per_day"] < found["budget_usd_per_day"]
    assert found["judge"]["within_soon"] > found["judge"]["within_later"] > 0
    assert found["first_alarm"] > found["first_run"]
    assert found["configuration"]["judge"]["model"] == MODEL
    assert {"command": "judgewatch run watch", "why": "grade every scheduled run"} in found["next"]


def test_json_holds_what_is_said_beside_it() -> None:
    """What was read off the prompt, what was written, why no dollars are counted."""
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    found = ok_json("init", "team", "--model", "judge-9", "--prompt-file", "prompt.txt")
    assert found["configuration"]["judge"]["score_field"] == "grading.points"
    assert found["configuration"]["judge"]["scale"] == [0, 10]
    assert found["next"][0] == {"command": "cd team", "why": ""}
    notes = "\n".join(found["notes"])
    for said in ("scale is set to that", "score_field = ", "dollars cannot be counted", "sends no alerts"):
        assert said in notes
    assert (found["about_usd_per_day"], found["budget_calls_per_day"]) == (None, 820)


def test_model_without_a_known_price_is_budgeted_in_calls() -> None:
    """Also where dollars were asked for: they could not be kept."""
    result = invoke("init", "--model", "judge-9", "--usd-per-day", "2", "--yes")
    assert result.exit_code == 0
    assert values()["budget"] == {"calls_per_day": 820}
    assert '[prices."judge-9"]' in result.stderr
    assert "calls_per_day = 820" in result.stderr
    assert "the price is not known" in result.stdout
    assert "820 calls: room for a day's runs, a recheck of 200 answers and a pick of 100 anchors" in result.stdout
    load_config("judgewatch.toml").check_budget()


def test_budget_under_a_usual_day_is_said() -> None:
    """Kept as it was asked for."""
    result = invoke("init", "--model", MODEL, "--usd-per-day", "0.01", "--yes")
    assert values()["budget"]["usd_per_day"] == 0.01
    assert "more than the budget" in result.stderr


def test_files_that_are_not_there_yet_are_said() -> None:
    """They may come later."""
    assert "note: traffic.files = 'traffic/*.jsonl'" in (
        invoke("init", "--model", MODEL, "--traffic", "traffic/*.jsonl", "--yes").stderr
    )


def test_written_configuration_is_what_the_next_command_reads(tmp_path: Path) -> None:
    """The dry run, on the same prices, without a key."""
    ok("init", "--model", MODEL, "--yes")
    text = ok("run", "once", "--dry-run")
    assert "112 anchors" in text
    assert f"price of {MODEL}: the price table of 20" in text


# ---------------------------------------------------------------- what is there stays


def test_existing_configuration_stays() -> None:
    """Without --force; with it the old one is kept."""
    Path("judgewatch.toml").write_text("mine", "utf-8")
    assert "--force" in refused("init", "--model", MODEL, "--yes", code=64)
    assert Path("judgewatch.toml").read_text("utf-8") == "mine"
    assert "kept as judgewatch.toml.bak" in ok("init", "--model", MODEL, "--yes", "--force")
    assert Path("judgewatch.toml.bak").read_text("utf-8") == "mine"


BAD = [
    ((), "--model is needed"),
    (("--model", " "), "judge.model"),
    (("--model", MODEL, "--base-url", "api.openai.com"), "http"),
    (("--model", MODEL, "--key-env", "sk-proj-abcdef"), "not the key itself"),
    (("--model", MODEL, "--zone", "Mars/Base"), "'Mars/Base': unknown zone"),
    (("--model", MODEL, "--schedule", "now and then"), '"daily at 06:00"'),
    (("--model", MODEL, "--schedule", "61 6 * * *"), "not a cron expression"),
    (("--model", MODEL, "--answers-per-day", "0"), "traffic.answers_per_day = 0"),
    (("--model", MODEL, "--usd-per-day", "-1"), "budget.usd_per_day = -1"),
    (("--model", MODEL, "--usd-per-day", "nan"), "budget.usd_per_day"),
    (("--model", "judge-9", "--calls-per-day", "-5"), "budget.calls_per_day = -5"),
    (("--model", "judge-9", "--price", "-1", "2"), "input_usd_per_million = -1"),
    (("--model", MODEL, "--prompt-file", "no.txt", "--scale", "1", "5"), "there is no prompt file no.txt"),
    (("--model", MODEL, "--prompt-file", "no-scale.txt"), "--scale MIN MAX"),
    (("--model", MODEL, "--prompt-file", "two-scales.txt"), "1 to 5 and 0 to 10"),
    (("--model", MODEL, "--prompt-file", "two-numbers.txt"), "at style, facts; say which"),
    (("--model", MODEL, "--score-field", "points"), "--score-field belongs to"),
    (("--model", MODEL, "--score-pattern", "(.)"), "--score-pattern belongs to"),
    (("--model", MODEL, "--prompt-file", "prompt.txt", "--score-field", "a", "--score-pattern", "(.)"), "give one"),
    (("--model", MODEL, "--prompt-file", "prompt.txt", "--score-pattern", "(.)(.)"), "exactly one group"),
    (("--model", MODEL, "--prompt-file", "prompt.txt", "--score-pattern", "("), "not a regular expression"),
    (("--model", MODEL, "--scale", "1", "5"), "--scale belongs to"),
    (("--model", MODEL, "--prompt-file", "blank.txt", "--scale", "1", "5"), "{{output}}"),
    (("--model", MODEL, "--app", ""), "app.name"),
]


@pytest.mark.parametrize(("args", "said"), BAD, ids=lambda value: " ".join(value)[:40])
def test_bad_value_is_refused_before_anything_is_written(args: tuple[str, ...], said: str) -> None:
    """One line with the value and the fix; wrong usage."""
    Path("prompt.txt").write_text(PROMPT, "utf-8")
    Path("blank.txt").write_text("Grade this.", "utf-8")
    Path("no-scale.txt").write_text("How good is {{output}}? End with the score.", "utf-8")
    Path("two-scales.txt").write_text("Score style from 1 to 5 and facts from 0 to 10. {{output}}", "utf-8")
    Path("two-numbers.txt").write_text('Score 1 to 5: {{output}} {"style": 2, "facts": 3}', "utf-8")
    line = refused("init", *args, "--no-input", code=64)
    assert said in line
    assert "sk-proj" not in line
    assert not Path("judgewatch.toml").exists()


def test_refused_value_leaves_no_folder_behind() -> None:
    """As if never begun."""
    refused("init", "new/folder", "--model", MODEL, "--zone", "Mars/Base", "--yes", code=64)
    assert list(Path().iterdir()) == []


def test_folder_that_is_a_file_is_refused() -> None:
    """Named."""
    Path("file").write_text("", "utf-8")
    assert "file is a file" in refused("init", "file", "--model", MODEL, "--yes", code=64)


# ---------------------------------------------------------------- questions


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone is there to answer."""
    monkeypatch.setattr("evaluator.cli.init._is_terminal", lambda: True)


def answering(*lines: str, args: tuple[str, ...] = ()) -> Result:
    """Run init and answer its questions."""
    return CliRunner().invoke(cli, ["init", *args], input="".join(f"{line}\n" for line in lines))


@pytest.mark.usefixtures("terminal")
def test_defaults_are_taken_by_pressing_return() -> None:
    """Only the model has none."""
    result = answering("", MODEL, *[""] * 9)
    assert result.exit_code == 0, result.output
    found = values()
    assert found["judge"]["model"] == MODEL
    assert found["schedule"] == {"cron": "0 6 * * *"}
    assert found["budget"]["usd_per_day"] > 0


@pytest.mark.usefixtures("terminal")
def test_question_is_asked_again_until_its_answer_can_be_used() -> None:
    """What is wrong is said in the configuration's own words."""
    Path("prompt.txt").write_text(PROMPT, "utf-8")
    Path("blank.txt").write_text("Grade this.", "utf-8")
    result = answering(
        MODEL, "localhost:8000", "http://127.0.0.1:8000/v1", "a lot", "0.1 0.2", "sk-1234-secret", "none", "no.txt",
        "blank.txt", ".",
        "prompt.txt", "ten", "0 10", "traffic/*.jsonl", "0", "many", "25", "whenever", "weekdays at 6:30", "Mars",
        "Europe/Berlin", "none", "-3", "2",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for said in ("an address that starts with", "no number", "not the key itself", "there is no prompt file no.txt",
                 "blank.txt has no {{output}}", ". cannot be read",
                 "two numbers are needed", "answers_per_day = 0", "no whole number", '"daily at 06:00"', "unknown zone",
                 "usd_per_day = -3"):  # fmt: skip
        assert said in result.stderr, said
    assert values() == {
        "judge": {
            "model": MODEL, "base_url": "http://127.0.0.1:8000/v1", "api_key_env": "", "prompt_file": "prompt.txt",
            "scale": [0, 10],
        },
        "traffic": {"files": "traffic/*.jsonl", "answers_per_day": 25},
        "schedule": {"cron": "30 6 * * 1-5", "zone": "Europe/Berlin"},
        "budget": {"usd_per_day": 2},
        "alerts": {},
        "prices": {MODEL: {"input_usd_per_million": 0.1, "output_usd_per_million": 0.2}},
    }  # fmt: skip


@pytest.mark.usefixtures("terminal")
def test_flags_are_not_asked_for() -> None:
    """Each question only where no flag answers it."""
    args = ("--model", MODEL, "--base-url", "https://api.openai.com/v1", "--command", "cat a.jsonl", "--zone", "UTC")
    result = answering(*[""] * 6, args=args)
    assert result.exit_code == 0, result.output
    for word in ("Model that judges", "Address of its server", "Files with answers", "Zone of the schedule"):
        assert word not in result.stderr
    assert "Answers to grade of each day" in result.stderr


@pytest.mark.usefixtures("terminal")
def test_what_the_prompt_says_is_proposed() -> None:
    """Taken by pressing return, or answered otherwise."""
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    args = ("--model", MODEL, "--zone", "UTC", "--command", "cat a")
    result = answering("", "", "prompt.txt", *[""] * 6, args=args)
    assert result.exit_code == 0, result.output
    assert "score of that prompt (it speaks of 0 to 10) [0 10]:" in result.stderr
    assert "(the numbers of its example: grading.points) [grading.points]:" in result.stderr
    assert values()["judge"]["score_field"] == "grading.points"
    other = answering("", "", "prompt.txt", "0 20", "points", *[""] * 4, args=("x", *args))
    assert other.exit_code == 0, other.output
    judge = values(Path("x/judgewatch.toml"))["judge"]
    assert (judge["scale"], judge["score_field"]) == ([0, 20], "points")


@pytest.mark.usefixtures("terminal")
def test_prompt_that_is_not_clear_is_asked_about_without_a_proposal() -> None:
    """Return is no answer then; with a form in prose the pattern is proposed."""
    Path("two.txt").write_text('Score style 1-5, facts 0-9: {"style": 2, "facts": 3} {{output}}', "utf-8")
    args = ("--model", MODEL, "--zone", "UTC", "--command", "cat a", "--answers-per-day", "5", "--schedule", "hourly")
    result = answering("", "", "two.txt", "", "0 9", "", "facts", "", "", args=args)
    assert result.exit_code == 0, result.output
    assert "(it speaks of 1 to 5 and 0 to 9):" in result.stderr
    assert "(the numbers of its example: style, facts):" in result.stderr
    assert values()["judge"]["score_field"] == "facts"
    Path("form.txt").write_text("Rate 1-5, end with Rating: [[N]] {{output}}", "utf-8")
    form = answering("", "", "form.txt", *[""] * 4, args=("x", *args))
    assert form.exit_code == 0, form.output
    assert values(Path("x/judgewatch.toml"))["judge"]["score_pattern"].startswith(r"\[\[")


@pytest.mark.usefixtures("terminal")
def test_prompt_from_a_flag_is_asked_the_rest() -> None:
    """One that cannot be used is refused before anything is asked."""
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    result = answering(*[""] * 10, args=("--model", MODEL, "--prompt-file", "prompt.txt"))
    assert result.exit_code == 0, result.output
    assert values()["judge"]["scale"] == [0, 10]
    gone = answering(args=("x", "--prompt-file", "gone.txt"))
    assert gone.exit_code == 64
    assert "Model that judges" not in gone.stderr
    assert not Path("x").exists()


@pytest.mark.usefixtures("terminal")
def test_scale_from_a_flag_asks_for_the_prompt_it_belongs_to() -> None:
    """Without one it has no meaning, so none is no answer."""
    Path("prompt.txt").write_text(JUDGE_PROMPT, "utf-8")
    args = ("--model", MODEL, "--scale", "0", "10")
    result = answering("", "", "none", "prompt.txt", *[""] * 7, args=args)
    assert result.exit_code == 0, result.output
    assert "--scale belongs to a prompt of your own" in result.stderr
    assert values()["judge"]["prompt_file"] == "prompt.txt"


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("n_answers", range(1, 11))
def test_input_that_ends_writes_nothing(n_answers: int) -> None:
    """Stopped half way, at whichever question, is as if never begun."""
    result = answering(*[MODEL, *[""] * 9][:n_answers], args=("new/folder",))
    assert (result.exit_code, Path("new").exists()) == ((0, True) if n_answers == 10 else (1, False))


@pytest.mark.parametrize("key", [b"\x03", b"\x04"], ids=["ctrl-c", "ctrl-d"])
def test_key_that_ends_it_on_a_terminal_leaves_nothing(tmp_path: Path, key: bytes) -> None:
    """In a process of its own, on a pseudo terminal."""
    code, shown = on_terminal(("new/folder",), tmp_path, [MODEL.encode() + b"\n", key])
    assert "Address of its server" in shown
    assert "stopped" in shown
    assert "Traceback" not in shown
    assert code == 1
    assert list(tmp_path.iterdir()) == []


# keys reach a process through the terminal that it takes as its own
ON_A_TERMINAL = (
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); import evaluator.cli; evaluator.cli.main()"
)


def on_terminal(args: tuple[str, ...], folder: Path, keys: list[bytes]) -> tuple[int, str]:
    """Run init on a pseudo terminal; each entry is typed when a question has been asked."""
    ours, theirs = pty.openpty()
    program = [sys.executable, "-c", ON_A_TERMINAL, "init", *args]
    process = subprocess.Popen(program, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown, last, waited_s = b"", b"", 0.0
    try:
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            if not select.select([ours], [], [], 0.1)[0]:
                waited_s += 0.1
                if last and waited_s % 3 < 0.1:  # a key that comes while the terminal changes its mode can be lost
                    os.write(ours, last)
                if waited_s > 60:
                    break
                continue
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if keys and shown.endswith(b": "):
                last = keys.pop(0) if len(keys) == 1 else b""
                os.write(ours, last or keys.pop(0))
        return process.wait(timeout=20), shown.decode()
    finally:
        os.close(ours)
        process.kill()
        process.wait()
