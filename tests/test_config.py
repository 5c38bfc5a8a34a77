"""The configuration: every bad value one line with key, value and fix; no secret in any message."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from evaluator.config import Config, load_config, parse_config
from evaluator.errors import ConfigError

JUDGE = '[judge]\nmodel = "m"\n'
SECRET = "sk-live-0123456789abcdef"


def parse(text: str) -> Config:
    """A configuration from its text."""
    return parse_config(tomllib.loads(text), folder=Path("folder"), name="judgewatch.toml")


def fault_of(text: str) -> str:
    """The message about a configuration that cannot be used."""
    with pytest.raises(ConfigError) as caught:
        parse(text)
    return str(caught.value)


def test_model_is_all_that_is_needed() -> None:
    """Everything else has a documented default."""
    config = parse(JUDGE)
    assert (config.app.name, config.store_path, config.judge.base_url) == (
        "default",
        Path("folder/data/judgewatch.db"),
        "https://api.openai.com/v1",
    )
    assert (config.schedule.cron, config.schedule.zone, config.schedule.missed) == ("0 6 * * *", "UTC", "skip")
    assert (config.traffic.answers_per_day, config.traffic.lookback_days, config.anchors.set) == (None, 7, "general")
    assert (config.alarms.false_alarms_per_year, config.alarms.smallest_change) == (1.0, 0.1)
    assert config.price is None


def test_whole_numbers_do_where_any_number_does() -> None:
    """5 is as good as 5.0; the other way round is not."""
    assert parse(JUDGE + "timeout_s = 5\n[budget]\nusd_per_day = 2").budget.usd_per_day == 2


def test_documented_example_of_every_section() -> None:
    """All sections at once."""
    config = parse(
        """
        [app]
        name = "shop"
        [store]
        path = "elsewhere.db"
        [judge]
        model = "judge-1.5"
        base_url = "http://localhost:8000/v1/"
        api_key_env = ""
        headers = { x-team = "a" }
        [traffic]
        sample_rate = 0.1
        floors = [{ key = "topic", value = "billing", answers_per_day = 20 }]
        segments = ["topic", "topic*language"]
        [schedule]
        cron = "*/15 8-18 * * 1-5"
        zone = "Europe/Berlin"
        missed = "catch_up"
        [budget]
        usd_per_day = 1.5
        [alarms]
        false_alarms_per_year = 2
        [prices."judge-1.5"]
        input_usd_per_million = 1
        output_usd_per_million = 4.0
        """
    )
    assert config.judge.base_url == "http://localhost:8000/v1"
    assert config.traffic.segment_keys() == [("topic", ""), ("topic", "language")]
    assert config.traffic.floors[0].answers_per_day == 20
    assert config.price is not None
    config.check_budget()
    assert config.api_key() == "none"


# ---------------------------------------------------------------- bad values: the key, the value, the fix

BAD_VALUES = {
    "judge": [
        ('model = ""', "judge.model = ''", "not blank"),
        ("model = 5", "judge.model = 5", "a text in quotes"),
        ('model = "m"\nbase_url = "localhost:8000"', "judge.base_url", "starts with http://"),
        ('model = "m"\nbase_url = "https://"', "judge.base_url", "starts with http://"),
        ('model = "m"\nbase_url = "https://me:pass@host/v1"', "judge.base_url", "judge.headers"),
        ('model = "m"\nrubric = 5', "judge.rubric = 5", "a text in quotes"),
        ('model = "m"\ntemperature = 3', "judge.temperature = 3", "less than or equal to 2"),
        ('model = "m"\ntemperature = "low"', "judge.temperature = 'low'", "a number"),
        ('model = "m"\nseed = 1.5', "judge.seed = 1.5", "a whole number"),
        ('model = "m"\nmax_tokens = 1', "judge.max_tokens = 1", "greater than or equal to 16"),
        ('model = "m"\ntimeout_s = 0', "judge.timeout_s = 0", "greater than 0"),
        ('model = "m"\ntimeout_s = nan', "judge.timeout_s = nan", "a finite number"),
        ('model = "m"\nmax_attempts = 0', "judge.max_attempts = 0", "greater than or equal to 1"),
        ('model = "m"\nmax_wait_s = -1', "judge.max_wait_s = -1", "greater than or equal to 0"),
        ('model = "m"\nconcurrency = 0', "judge.concurrency = 0", "greater than or equal to 1"),
        ('model = "m"\nconcurrency = true', "judge.concurrency = True", "a whole number"),
        ('model = "m"\nconcurrency = "8"', "judge.concurrency = '8'", "a whole number"),
        ('model = "m"\ncalls_per_minute = 0', "judge.calls_per_minute = 0", "greater than 0"),
        ('model = "m"\ncalls_per_minute = inf', "judge.calls_per_minute = inf", "a finite number"),
        ('model = "m"\noutput_mode = "xml"', "judge.output_mode = 'xml'", "'auto', 'schema', 'json' or 'text'"),
        ('model = "m"\nmax_prompt_chars = 10', "judge.max_prompt_chars = 10", "greater than or equal to 1000"),
        ('model = "m"\nheaders = "x: y"', "judge.headers", "a table of names and values"),
        ('model = "m"\nquery = { v = 1 }', "judge.query.v", "a text in quotes"),
    ],
    "traffic": [
        ("answers_per_day = 0", "traffic.answers_per_day = 0", "greater than or equal to 1"),
        ("sample_rate = 0", "traffic.sample_rate = 0", "greater than 0"),
        ("sample_rate = 1.5", "traffic.sample_rate = 1.5", "less than or equal to 1"),
        ("answers_per_day = 5\nsample_rate = 0.5", "traffic: ", "answers_per_day or sample_rate, not both"),
        ("lookback_days = 0", "traffic.lookback_days = 0", "greater than or equal to 1"),
        ('naive_zone = "Mars/Base"', "traffic.naive_zone = 'Mars/Base'", "a name like 'UTC'"),
        ('segments = "topic"', "traffic.segments = 'topic'", "a list in brackets"),
        ('segments = ["a * b * c"]', "'a * b * c'", "two crossed as 'topic * language'"),
        ('segments = ["a * "]', "'a * '", "two crossed as 'topic * language'"),
        ('segments = [""]', "''", "name one key"),
        (
            'floors = [{ key = "a", value = "b", answers_per_day = 0 }]',
            "traffic.floors.0.answers_per_day = 0",
            "or equal",
        ),
        ('floors = [{ key = "a", value = "b" }]', "traffic.floors.0.answers_per_day is missing", "set it"),
        ("floors = 5", "traffic.floors = 5", "a list in brackets"),
    ],
    "schedule": [
        ('cron = "daily"', "schedule.cron = 'daily'", "five fields, like '0 6 * * *'"),
        ('cron = "61 * * * *"', "schedule.cron = '61 * * * *'", "five fields"),
        ('cron = "0 0 30 2 *"', "schedule.cron = '0 0 30 2 *'", "five fields"),
        ('cron = "*/5 * * * * *"', "schedule.cron = '*/5 * * * * *'", "seconds are too fine"),
        ('zone = "Mars/Base"', "schedule.zone = 'Mars/Base'", "a name like 'UTC' or 'Europe/Berlin'"),
        ('zone = ""', "schedule.zone = ''", "a name like 'UTC'"),
        ('missed = "later"', "schedule.missed = 'later'", "'skip' or 'catch_up'"),
    ],
    "budget": [
        ("usd_per_day = 0", "budget.usd_per_day = 0", "greater than 0"),
        ("usd_per_day = inf", "budget.usd_per_day = inf", "a finite number"),
        ("calls_per_day = 0", "budget.calls_per_day = 0", "greater than or equal to 1"),
        ("calls_per_day = 1.5", "budget.calls_per_day = 1.5", "a whole number"),
    ],
    "alarms": [
        ("false_alarms_per_year = 0", "alarms.false_alarms_per_year = 0", "greater than 0"),
        ("false_alarms_per_year = 400", "alarms.false_alarms_per_year = 400", "less than or equal to 365"),
        ("smallest_change = -0.1", "alarms.smallest_change = -0.1", "greater than 0"),
    ],
    "app": [
        ('name = " "', "app.name = ' '", "not blank"),
        (f'name = "{"x" * 81}"', "app.name = ", "at most 80"),
    ],
    "store": [("path = 5", "store.path = 5", "a text in quotes")],
    "anchors": [("set = true", "anchors.set = True", "a text in quotes")],
    "prices.m": [
        (
            "input_usd_per_million = -1\noutput_usd_per_million = 1",
            "prices.m.input_usd_per_million = -1",
            "or equal to 0",
        ),
        ("input_usd_per_million = 1", "prices.m.output_usd_per_million is missing", "set it"),
    ],
}


@pytest.mark.parametrize(
    ("section", "text", "key_and_value", "fix"),
    [(section, *case) for section, cases in BAD_VALUES.items() for case in cases],
    ids=lambda value: str(value)[:30],
)
def test_bad_value_is_one_line_with_key_value_and_fix(section: str, text: str, key_and_value: str, fix: str) -> None:
    """Whoever reads it knows what to change to what."""
    message = fault_of(f"[{section}]\n{text}\n" + ("" if section == "judge" else JUDGE))
    assert message.startswith("judgewatch.toml: ")
    assert key_and_value in message
    assert fix in message
    assert "\n" not in message
    assert "Input should" not in message


def test_every_key_has_a_bad_value_above() -> None:
    """A key that is added later is looked at as well."""
    tried = " ".join(text for cases in BAD_VALUES.values() for text, _, _ in cases)
    free_texts = {"function", "spool", "api_key_env"}  # any text will do, or it has a test of its own
    keys = {
        name
        for section in ("judge", "traffic", "schedule", "budget", "alarms", "app", "store", "anchors")
        for name in Config.model_fields[section].annotation.model_fields  # type: ignore[union-attr]  # all are sections
    }
    assert {name for name in keys - free_texts if name not in tried} == set()


def test_several_faults_stand_in_one_message() -> None:
    """So that a file is put right in one go."""
    message = fault_of('[judge]\nconcurrency = 0\n[budget]\ncalls_per_day = 0\n[shedule]\ncron = "x"')
    for part in (
        "judge.model is missing",
        "judge.concurrency = 0",
        "budget.calls_per_day = 0",
        "unknown key 'shedule'",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[shedule]\nzone = 'UTC'\n" + JUDGE, "unknown key 'shedule'; did you mean 'schedule'?"),
        (JUDGE + "temprature = 0", "unknown key 'judge.temprature'; did you mean 'temperature'?"),
        (JUDGE + "api_key = 'x'", "unknown key 'judge.api_key'; did you mean 'api_key_env'?"),
        (JUDGE + "[traffic]\nfloors = [{ ky = 'a' }]", "unknown key 'traffic.floors.0.ky'; did you mean 'key'?"),
        (
            JUDGE + "[prices.m]\ninput_usd = 1",
            "unknown key 'prices.m.input_usd'; did you mean 'input_usd_per_million'?",
        ),
        (JUDGE + "[budget]\nzebra = 1", "unknown key 'budget.zebra'; known here: calls_per_day, usd_per_day"),
        ("zebra = 1\n" + JUDGE, "known here: alarms, anchors, app, budget, judge, prices, schedule, store, traffic"),
        ("folder = 'x'\n" + JUDGE, "unknown key 'folder'"),
        ("judge = 'gpt'", "judge has to be a section, written as [judge]"),
        ("", "judge is missing"),
    ],
)
def test_unknown_key_suggests_the_one_that_was_meant(text: str, said: str) -> None:
    """Or names those there are."""
    assert said in fault_of(text)


# ---------------------------------------------------------------- secrets


@pytest.mark.parametrize(
    "text",
    [
        f'api_key = "{SECRET}"',
        f'api_key_env = "{SECRET}"',
        f'headers = "Authorization: Bearer {SECRET}"',
        f'headers = {{ Authorization = ["{SECRET}"] }}',
        f'query = {{ key = {{ a = "{SECRET}" }} }}',
        f'base_url = "{SECRET}"',
        f'base_url = "https://user:{SECRET}@host/v1"',
    ],
)
def test_secret_in_the_wrong_place_is_not_repeated(text: str) -> None:
    """Messages end up in logs and issues."""
    message = fault_of(JUDGE + text)
    assert SECRET not in message
    assert "judge." in message


def test_secrets_are_not_in_the_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the key nor what stands in headers and query."""
    monkeypatch.setenv("JUDGE_KEY", SECRET)
    config = parse(
        JUDGE
        + f'api_key_env = "JUDGE_KEY"\nheaders = {{ Authorization = "Bearer {SECRET}" }}\nquery = {{ k = "{SECRET}" }}'
    )
    assert config.api_key() == SECRET
    assert SECRET not in repr(config)
    assert SECRET not in str(config)


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_key_that_is_not_set_is_said_with_its_variable(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    """And with the two ways out."""
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("JUDGE_KEY", value)
    with pytest.raises(ConfigError, match=r"variable JUDGE_KEY is not set; put the judge's key there, or set judge"):
        parse(JUDGE + 'api_key_env = "JUDGE_KEY"').api_key()


def test_key_that_passes_for_the_name_of_a_variable_is_not_repeated() -> None:
    """A hexadecimal key could be a name; it does not look like one."""
    key = "abcdef0123456789abcdef0123456789"
    with pytest.raises(ConfigError, match=r"the environment variable named by judge.api_key_env is not set") as caught:
        parse(JUDGE + f'api_key_env = "{key}"').api_key()
    assert key not in str(caught.value)


def test_headers_take_secrets_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """``${NAME}`` is replaced when the request is built; what is not set is named, and other signs stay as they are."""
    monkeypatch.setenv("TOKEN", SECRET)
    config = parse(
        JUDGE + 'headers = { a = "Bearer ${TOKEN}", b = "$TOKEN {x} ${}" }\nquery = { c = "${NOT_SET_HERE}" }'
    )
    assert config.request_headers() == {"a": f"Bearer {SECRET}", "b": "$TOKEN {x} ${}"}
    with pytest.raises(ConfigError, match=r"judge.query refers to the environment variable NOT_SET_HERE, which"):
        config.request_query()


# ---------------------------------------------------------------- the budget

PRICE = "[prices.m]\ninput_usd_per_million = 1\noutput_usd_per_million = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        JUDGE + "[budget]\ncalls_per_day = 5",
        JUDGE + "[budget]\nusd_per_day = 5\n" + PRICE,
        JUDGE + "[budget]\nusd_per_day = 5\ncalls_per_day = 5\n" + PRICE,
        JUDGE + 'function = "package:f"',
    ],
)
def test_budget_that_can_be_kept(text: str) -> None:
    """Calls can always be counted, dollars where the price is known; a function's costs are its own affair."""
    parse(text).check_budget()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (JUDGE, "there is no limit to what a day may cost; set budget.usd_per_day or budget.calls_per_day"),
        (JUDGE + PRICE, "there is no limit to what a day may cost"),
        (JUDGE + "[budget]\nusd_per_day = 5", "or set budget.calls_per_day instead"),
        (JUDGE + "[budget]\nusd_per_day = 5\ncalls_per_day = 9", "or leave budget.usd_per_day out"),
    ],
)
def test_budget_that_cannot_be_kept_is_refused(text: str, said: str) -> None:
    """A limit in dollars that nobody can count would be no limit."""
    with pytest.raises(ConfigError) as caught:
        parse(text).check_budget()
    assert said in str(caught.value)


# ---------------------------------------------------------------- the file


def test_file_is_read_with_its_folder(tmp_path: Path) -> None:
    """Relative paths start there, wherever the command is run; a mark of the encoding does no harm."""
    path = tmp_path / "judgewatch.toml"
    path.write_text(JUDGE, encoding="utf-8-sig")
    config = load_config(path)
    assert config.folder == tmp_path
    assert config.store_path == tmp_path / "data" / "judgewatch.db"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no configuration at "),
        (b"[judge\nmodel = 1", "is not valid TOML: "),
        (b'[judge]\nmodel = "m"\nmodel = "n"', "is not valid TOML: "),
        ("[judge]\nmodel = 'ü'".encode("latin-1"), "cannot be read: "),
        (b'[judge]\nconcurrency = "many"', "judge.model is missing"),
    ],
)
def test_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    """Missing, broken, of another encoding, or with a bad value."""
    path = tmp_path / "judgewatch.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_folder_instead_of_a_file_is_said(tmp_path: Path) -> None:
    """Not a traceback."""
    with pytest.raises(ConfigError, match=r"cannot be read"):
        load_config(tmp_path)
