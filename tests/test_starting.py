"""The first configuration: schedules in words, the nine settings, putting them in place, cost and sensitivity."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluator.config import load_config
from evaluator.errors import ConfigError, JudgewatchError, UsageError
from evaluator.starting.choices import Choices, relative_to_config
from evaluator.starting.forecast import Forecast, forecast
from evaluator.starting.placing import check_place, no_folder_left, place_config
from evaluator.starting.schedules import EXAMPLES, parse_schedule
from evaluator.starting.text import config_text
from evaluator.stats.detector import alarm_threshold
from evaluator.stats.planning import anchor_stream, smallest_visible_change
from tests.cli.conftest import some_answers, write_answers

MODEL = "gpt-4.1-mini-2025-04-14"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SETTING = re.compile(r"^#? ?[a-z_]+ = ", re.MULTILINE)
FULL = Choices(
    model='judge "9" \\ é',
    base_url="http://127.0.0.1:9/v1",
    api_key_env="",
    files="traffic/*.jsonl",
    answers_per_day=40,
    cron="30 7 * * 1-5",
    zone="Europe/Berlin",
    usd_per_day=1.25,
    alert_url="https://hooks.example/x?a=1",
    app="shop",
    price=(0.4, 1.6),
)


def look_at(choices: Choices, folder: Path) -> Forecast:
    """The forecast of choices on a fixed day."""
    return forecast(choices.config(folder), now=NOW)


# ---------------------------------------------------------------- schedules


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("daily at 06:00", "0 6 * * *"),
        ("  Daily  at 6 ", "0 6 * * *"),
        ("every day at 23:59", "59 23 * * *"),
        ("weekdays at 7:30", "30 7 * * 1-5"),
        ("weekends at 9:05", "5 9 * * 0,6"),
        ("mondays at 06:00", "0 6 * * 1"),
        ("weekly on sunday at 6:00", "0 6 * * 0"),
        ("every sat at 6:00", "0 6 * * 6"),
        ("hourly", "0 * * * *"),
        ("every 6 hours", "0 */6 * * *"),
        ("every 24 hours", "0 0 * * *"),
        ("0 6 * * *", "0 6 * * *"),
        ("*/15  8-18 * * MON-FRI", "*/15 8-18 * * MON-FRI"),
    ],
)
def test_schedule_is_read_as_people_say_it(text: str, cron: str) -> None:
    """Words become cron; cron stays."""
    assert parse_schedule(text) == cron


@pytest.mark.parametrize(
    "text", ["", "sometimes", "daily", "daily at noon", "mondaies at 6:00", "at 6:00", "every day"]
)
def test_words_that_are_not_understood_show_some_that_are(text: str) -> None:
    """Named, with examples."""
    with pytest.raises(UsageError) as caught:
        parse_schedule(text)
    assert repr(text) in str(caught.value)
    assert EXAMPLES in str(caught.value)


@pytest.mark.parametrize("text", ["daily at 24:00", "daily at 6:75", "every 5 hours", "every 0 hours"])
def test_times_that_do_not_exist_are_refused(text: str) -> None:
    """Cron would take some of them and mean something else."""
    with pytest.raises(UsageError, match=r"does not divide the day|no time of day"):
        parse_schedule(text)


def test_every_example_is_understood() -> None:
    """What the message shows must work."""
    for example in re.findall(r'"([^"]+)"', EXAMPLES):
        assert len(parse_schedule(example).split()) == 5


# ---------------------------------------------------------------- the text


def test_first_configuration_has_nine_settings(tmp_path: Path) -> None:
    """Each with its meaning; what is left out stands there as a comment."""
    text = config_text(Choices(model=MODEL, usd_per_day=1.0))
    assert len(SETTING.findall(text)) == 9
    assert all("  # " in line for line in text.splitlines() if SETTING.match(line))
    assert [line.split(" = ")[0] for line in text.splitlines() if line.startswith("# ") and " = " in line] == [
        "# prompt_file",
        "# files",
        "# url",
    ]


@pytest.mark.parametrize(
    "choices",
    [
        Choices(model=MODEL, usd_per_day=1.0),
        Choices(model="m", calls_per_day=300),
        FULL,
        replace(FULL, files=None, command="python -c 'print(1)'", scale=(0.0, 1.0), prompt_file="p.txt"),
        Choices(model="m", scale=(0.0, 10.0), prompt_file="p.txt", score_field="grading.points"),
        Choices(model="m", scale=(0.0, 10.0), prompt_file="p.txt", score_pattern=r"(?i)\bPoints:\s*(\d+)"),
        Choices(model="m", scale=(0.0, 10.0), prompt_file="p.txt", score_pattern="it's \\((\\d+)\t"),
    ],
)
def test_text_says_what_was_chosen(choices: Choices) -> None:
    """Read back, it is the same choices; nothing else is set."""
    values = tomllib.loads(config_text(choices))
    wanted = {section: keys for section, keys in choices.sections().items() if keys}
    if choices.app == "default":
        del wanted["app"]
    if choices.zone == "UTC":
        del wanted["schedule"]["zone"]
    if choices.price is not None:
        wanted["prices"] = {choices.model: {"input_usd_per_million": 0.4, "output_usd_per_million": 1.6}}
    assert {section: keys for section, keys in values.items() if keys} == wanted


def test_comments_turn_into_settings_when_the_mark_is_taken_away() -> None:
    """The examples are written as they would be read."""
    text = (
        config_text(Choices(model=MODEL, usd_per_day=1.0)).replace("\n# files", "\nfiles").replace("\n# url", "\nurl")
    )
    values = tomllib.loads(text)
    assert values["traffic"]["files"] == "traffic/*.jsonl"
    assert values["alerts"]["url"].startswith("https://")


# ---------------------------------------------------------------- in place


def test_configuration_is_put_in_place(tmp_path: Path) -> None:
    """Readable by all, and nothing else is left in the folder."""
    path = check_place(tmp_path / "new" / "folder", force=False)
    assert place_config(config_text(FULL), path) is None
    assert load_config(path).judge.model == FULL.model
    assert [file.name for file in path.parent.iterdir()] == ["judgewatch.toml"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_existing_configuration_is_kept_as_a_copy(tmp_path: Path) -> None:
    """Every one that was ever replaced."""
    path = tmp_path / "judgewatch.toml"
    path.write_text("first", "utf-8")
    with pytest.raises(UsageError, match="--force"):
        check_place(tmp_path, force=False)
    assert check_place(tmp_path, force=True) == path
    assert place_config(config_text(FULL), path) == tmp_path / "judgewatch.toml.bak"
    second = path.read_text("utf-8")
    assert place_config(config_text(FULL), path) == tmp_path / "judgewatch.toml.bak2"
    assert (tmp_path / "judgewatch.toml.bak").read_text("utf-8") == "first"
    assert (tmp_path / "judgewatch.toml.bak2").read_text("utf-8") == second


def test_bad_configuration_changes_nothing(tmp_path: Path) -> None:
    """It is checked before it is put in place; the message names the file, not a temporary one."""
    path = tmp_path / "judgewatch.toml"
    path.write_text("old", "utf-8")
    with pytest.raises(ConfigError) as caught:
        place_config("[judge]\nmodel = 1\n", path)
    assert str(caught.value).startswith(f"{path}: judge.model = 1")
    assert path.read_text("utf-8") == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["judgewatch.toml"]


def test_place_that_is_a_file_is_refused(tmp_path: Path) -> None:
    """And so is a folder where the file should be."""
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(UsageError, match="is a file"):
        check_place(tmp_path / "file", force=True)
    with pytest.raises(JudgewatchError, match="cannot be made"):
        check_place(tmp_path / "file" / "below", force=False)
    (tmp_path / "judgewatch.toml").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        check_place(tmp_path, force=True)


def test_folder_without_the_right_to_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked."""
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(JudgewatchError, match="nothing can be written"):
        check_place(tmp_path, force=False)


def test_paths_are_named_as_the_configuration_sees_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that was given from the working folder starts at the configuration's."""
    monkeypatch.chdir(tmp_path)
    assert relative_to_config("traffic/*.jsonl", Path()) == "traffic/*.jsonl"
    assert relative_to_config("team/traffic/*.jsonl", Path("team")) == "traffic/*.jsonl"
    assert relative_to_config("p.txt", Path("team/a")) == "../../p.txt"
    assert relative_to_config("/data/*.jsonl", Path("team")) == "/data/*.jsonl"


def test_path_outside_climbs_from_where_a_linked_folder_really_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system follows the link before it climbs; read from the configuration's folder it is the same file."""
    (tmp_path / "work").mkdir()
    (tmp_path / "elsewhere" / "real").mkdir(parents=True)
    (tmp_path / "work" / "team").symlink_to(tmp_path / "elsewhere" / "real")
    (tmp_path / "work" / "p.txt").write_text("here", "utf-8")
    monkeypatch.chdir(tmp_path / "work")
    named = relative_to_config("p.txt", Path("team"))
    assert (Path("team") / named).read_text("utf-8") == "here"
    assert relative_to_config("team/t/*.jsonl", Path("team")) == "t/*.jsonl"


def test_home_folder_is_known_where_no_shell_was_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a question is answered."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert relative_to_config("~/p.txt", Path()) == str(tmp_path / "p.txt")
    assert relative_to_config("~nobody-at-all/p.txt", Path()) == "~nobody-at-all/p.txt"


def make_and_end(folder: Path, error: BaseException | None, *, beside: Path | None = None) -> None:
    """Make a folder and end, perhaps with an error, perhaps after another made a file."""
    with no_folder_left(folder):
        check_place(folder, force=False)
        if beside is not None:
            beside.write_text("", "utf-8")
        if error is not None:
            raise error


def test_folders_that_were_made_are_taken_away_when_it_ends_early(tmp_path: Path) -> None:
    """But none that was there, and none that something else stands in by now."""
    (tmp_path / "old").mkdir()
    with pytest.raises(KeyboardInterrupt):
        make_and_end(tmp_path / "old" / "a" / "b", KeyboardInterrupt())
    assert list(tmp_path.rglob("*")) == [tmp_path / "old"]
    with pytest.raises(UsageError):
        make_and_end(tmp_path / "c" / "d", UsageError("bad"), beside=tmp_path / "c" / "note")
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "c", tmp_path / "c" / "note", tmp_path / "old"]
    make_and_end(tmp_path / "kept", None)
    assert (tmp_path / "kept").is_dir()


# ---------------------------------------------------------------- the forecast


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Forecast:
    """The forecast of a daily schedule with the shipped anchors and no traffic yet."""
    return look_at(Choices(model=MODEL, answers_per_day=100), tmp_path_factory.mktemp("folder"))


def test_cost_is_tokens_times_price(look: Forecast) -> None:
    """By hand, from the tokens and the list price of 0.40 and 1.60 dollars a million."""
    assert look.anchors.calls == pytest.approx(look.n_anchors)
    assert look.traffic.calls == 100
    about = (look.anchors.about_tokens * 0.4 + 150 * 1.6) * look.n_anchors / 1e6
    assert look.anchors.about_usd == pytest.approx(about)
    most = (look.anchors.most_tokens * 0.4 + 700 * 1.6) * look.n_anchors / 1e6
    assert look.anchors.most_usd == pytest.approx(most, rel=0.005)  # the marks around a text are drawn at random
    assert look.about_usd_a_day == pytest.approx((look.anchors.about_usd or 0) + (look.traffic.about_usd or 0))


def test_usual_cost_lies_under_the_most(look: Forecast) -> None:
    """Both parts, and the suggested budget above both: with room for a recheck of 200 and a pick of 100 anchors."""
    for load in (look.anchors, look.traffic):
        assert 0 < (load.about_usd or 0) < (load.most_usd or 0)
        assert load.about_tokens < load.most_tokens
    assert look.suggested_usd_per_day is not None
    assert look.most_usd_a_day is not None
    with_first_hour = look.most_usd_a_day * (212 + 200 + 400) / 212
    assert with_first_hour <= look.suggested_usd_per_day <= 1.1 * with_first_hour
    assert look.suggested_calls_per_day == 820


def test_first_alarm_is_the_eleventh_run(look: Forecast) -> None:
    """Ten are learnt first."""
    assert look.first_run == datetime(2026, 12, 1, 6, tzinfo=UTC)
    assert look.first_alarm == datetime(2026, 12, 11, 6, tzinfo=UTC)


def test_first_alarm_of_a_weekly_schedule_is_ten_weeks_on(tmp_path: Path) -> None:
    """In the zone of the schedule, over the change of its clocks."""
    found = look_at(Choices(model=MODEL, cron="0 6 * * 1", zone="Europe/Berlin"), tmp_path)
    assert found.first_run == datetime(2026, 12, 7, 5, tzinfo=UTC)
    assert found.first_alarm == datetime(2027, 2, 15, 5, tzinfo=UTC)
    assert found.judge is not None
    assert found.judge.soon_days == pytest.approx(21, rel=0.01)
    assert (found.assistant.soon_days, found.assistant.later_days) == (pytest.approx(7, rel=0.01), 14)


def test_runs_every_two_hours_show_the_judge_sooner_and_the_assistant_no_sooner(tmp_path: Path) -> None:
    """Anchors are graded in every run; the mean of a day's answers is one value a day."""
    found = look_at(Choices(model=MODEL, cron="0 */2 * * *"), tmp_path)
    assert found.judge is not None
    assert found.judge.soon_days == pytest.approx(0.25)
    assert found.assistant.soon_days == 3


def test_what_will_be_seen_is_told_at_the_judges_share_of_false_alarms(look: Forecast) -> None:
    """The same number as the planning formula at the level's part of 0.35; more anchors or answers show more."""
    threshold = alarm_threshold(runs_per_year=365.25, false_alarms_per_year=1.0, weight=0.35 * 0.5)
    wanted = smallest_visible_change(3, anchor_stream(look.n_anchors), threshold=threshold)
    assert look.judge is not None
    assert look.judge.within_soon == pytest.approx(wanted)
    assert (look.judge.within_later or 0) < (look.judge.within_soon or 0)
    assert (look.assistant.within_soon or 0) > (look.judge.within_soon or 0)


def test_visible_changes_are_in_units_of_the_scale(tmp_path: Path) -> None:
    """A rubric from 0 to 100 has 25 of its units in a point."""
    (tmp_path / "rubric.json").write_text(
        '{"name": "r", "question": "How good?", "scale": {"min": 0, "max": 100}, "levels": ['
        '{"score": 0, "name": "bad", "description": "bad"}, {"score": 100, "name": "good", "description": "good"}]}',
        "utf-8",
    )
    (tmp_path / "set.jsonl").write_text(
        "".join(f'{{"anchor_id": "a{n}", "inputs": "q", "outputs": "a"}}\n' for n in range(20)), "utf-8"
    )
    config = Choices(model=MODEL).config(tmp_path)
    wide = config.model_copy(
        update={
            "judge": config.judge.model_copy(update={"rubric": "rubric.json"}),
            "anchors": config.anchors.model_copy(update={"set": "set.jsonl"}),
        }
    )
    found = forecast(wide, now=NOW)
    threshold = alarm_threshold(runs_per_year=365.25, false_alarms_per_year=1.0, weight=0.35 * 0.5)
    change = smallest_visible_change(3, anchor_stream(20), threshold=threshold)
    assert found.judge is not None
    assert change is not None
    assert found.judge.within_soon == pytest.approx(25 * change)


def test_length_of_an_answer_is_told_from_the_first_file(tmp_path: Path) -> None:
    """Long answers cost more, and the words say what was read."""
    rows = some_answers(5, output="word " * 4_000)
    write_answers(tmp_path / "day-1.jsonl", rows)
    write_answers(tmp_path / "day-2.jsonl", some_answers(5))
    found = look_at(Choices(model=MODEL, files="*.jsonl"), tmp_path)
    assert found.traffic_basis == f"length of an answer: the first 5 of {tmp_path / 'day-1.jsonl'}"
    assert found.traffic.about_tokens > 5_000 > found.anchors.about_tokens


@pytest.mark.parametrize("content", ["", "{broken", '{"id": 1}\n', "\x00\x01"])
def test_file_that_cannot_be_read_is_said_and_assumed(tmp_path: Path, content: str) -> None:
    """The first configuration must not fail because of a file that comes later."""
    (tmp_path / "a.jsonl").write_text(content, "utf-8")
    found = look_at(Choices(model=MODEL, files="a.jsonl"), tmp_path)
    assert "as long as the anchors" in found.traffic_basis
    assert "a.jsonl" in found.traffic_basis
    assert found.traffic.about_tokens == found.anchors.about_tokens


def test_without_a_price_calls_are_told_and_no_dollars(tmp_path: Path) -> None:
    """None, never zero."""
    found = look_at(Choices(model="judge-9"), tmp_path)
    assert found.about_usd_a_day is None
    assert found.most_usd_a_day is None
    assert found.suggested_usd_per_day is None
    assert found.calls_a_day == pytest.approx(found.n_anchors + 100)
    assert found.price_source == 'not known; [prices."judge-9"] sets it'


def test_forecast_needs_no_key_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No database, no folder, no call."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    look_at(Choices(model=MODEL, base_url="http://127.0.0.1:1/v1"), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "way",
    [{"proxy": "http://${NOT_SET_HERE}@h:1"}, {"proxy": "socks5://h:1"}, {"ca_file": "company.pem"}],
)
def test_forecast_needs_no_way_to_the_judge(tmp_path: Path, way: dict[str, object]) -> None:
    """A proxy whose password is not set here, a package or certificates that are missing: nobody is called."""
    config = Choices(model=MODEL, base_url="http://127.0.0.1:1/v1").config(tmp_path)
    found = forecast(config.model_copy(update={"judge": config.judge.model_copy(update=way)}), now=NOW)
    assert found.calls_a_day > 0
