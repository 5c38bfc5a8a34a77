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
        ('model = "m"\ntemperature = 3', "judge.temperature = 3", "a number from 0 to 2 is needed, or 'unset'"),
        ('model = "m"\ntemperature = "low"', "judge.temperature = 'low'", "a number"),
        ('model = "m"\ntemperature = true', "judge.temperature = True", "a number from 0 to 2"),
        ('model = "m"\nseed = 1.5', "judge.seed = 1.5", "a whole number is needed, or 'unset'"),
        ('model = "m"\nseed = "none"', "judge.seed = 'none'", "a whole number is needed, or 'unset'"),
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
        ('model = "m"\napi_key_command = ""', "judge.api_key_command", "a command is needed"),
        ('model = "m"\napi_key_command = "az \'"', "judge.api_key_command", "write it as a list of its words"),
        ('model = "m"\napi_key_ttl_s = 0', "judge.api_key_ttl_s = 0", "greater than 0"),
        ('model = "m"\nazure_deployment = "a/b"\nazure_api_version = "1"', "judge.azure_deployment = 'a/b'", "as it"),
        ('model = "m"\nazure_api_version = "1&2"', "judge.azure_api_version = '1&2'", "as it stands"),
        ('model = "m"\nproxy = "host:3128"', "judge.proxy", "an address like http://host:3128"),
        ('model = "m"\nca_file = " "', "judge.ca_file = ' '", "not blank"),
        ('model = "m"\nbase_url = "local"\ngguf = ""', "judge.gguf = ''", "not blank"),
        ('model = "m"\nfunction = "grade"', "judge.function = 'grade'", "python:package.module:function"),
        ('model = "m"\nfunction = "a b:c"', "judge.function = 'a b:c'", "python:package.module:function"),
        ('model = "m"\nprompt_file = ""', "judge.prompt_file = ''", "not blank"),
        ('model = "m"\nscore_field = " "', "judge.score_field = ' '", "not blank"),
        ('model = "m"\nscore_pattern = "["', "judge.score_pattern = '['", "not a regular expression"),
        ('model = "m"\nscore_pattern = "Score"', "judge.score_pattern = 'Score'", "exactly one group"),
        ('model = "m"\nscore_pattern = "(a)(b)"', "judge.score_pattern = '(a)(b)'", "this has 2"),
        ('model = "m"\nscale = [5, 1]', "judge.scale = [5, 1]", "like [1, 5]"),
        ('model = "m"\nscale = [1]', "judge.scale = [1]", "like [1, 5]"),
        ('model = "m"\nscale = [1, inf]', "judge.scale = [1, inf]", "like [1, 5]"),
        ('model = "m"\nscale = "1-5"', "judge.scale = '1-5'", "like [1, 5]"),
        ('model = "m"\nlevels = ["fail", "pass"]', "judge.levels", "like { fail = 0, pass = 1 }"),
        ('model = "m"\nlevels = { fail = 0, pass = nan }', "judge.levels", "names with their scores"),
        ('model = "m"\nlevels = { pass = 1 }', "judge.levels", "two levels or more"),
        ('model = "m"\nlevels = { pass = 1, ok = 1 }', "judge.levels", "a score of its own"),
        ('model = "m"\nlevels = { pass = 1, Pass = 0 }', "judge.levels", "a name and a score of its own"),
        ('model = "m"\nlevels = { 5 = 1, 1 = 5 }', "judge.levels", "reads as a number but stands for"),
        ('model = "m"\ncriterion = ""', "judge.criterion = ''", "not blank"),
        ('model = "m"\noutput_limit = "tokens"', "judge.output_limit = 'tokens'", "'max_completion_tokens'"),
        ('model = "m"\nextra_body = "x"', "judge.extra_body = 'x'", "a table of names and values"),
        ('model = "m"\nextra_body = { stream = true }', "judge.extra_body", "'stream' is filled in by judgewatch"),
        ('model = "m"\nextra_body = { seed = 3 }', "judge.extra_body", "use judge.seed"),
        ('model = "m"\nextra_body = { day = 2026-01-01 }', "judge.extra_body", "only what JSON can say"),
        ('model = "m"\nextra_body = { top_p = nan }', "judge.extra_body", "only what JSON can say"),
        ('model = "m"\nlogprobs = 5', "judge.logprobs = 5", "true or false"),
        ('model = "m"\ntoo_long = "drop"', "judge.too_long = 'drop'", "'unscored' or 'cut'"),
    ],
    "traffic": [
        ("files = 5", "traffic.files = 5", "a list in brackets"),
        ('files = ["a.jsonl", " "]', "traffic.files", "not a blank text"),
        ('verdicts = ""', "traffic.verdicts", "not a blank text"),
        ('command = ""', "traffic.command", "a command is needed"),
        ("command_timeout_s = 0", "traffic.command_timeout_s = 0", "greater than 0"),
        ("fields = 5", "traffic.fields = 5", "a table of names and values"),
        ("fields = { input = 1 }", "traffic.fields.input = 1", "a text in quotes"),
        ('time_format = ""', "traffic.time_format = ''", "not blank"),
        ('redact = ["name"]', "traffic.redact.0 = 'name'", "'email', 'phone', 'card' or 'key'"),
        ("redact_patterns = { order = 'ORD-[' }", "traffic.redact_patterns", "'order' is not a regular expression"),
        ("redact_patterns = { order = 'x*' }", "traffic.redact_patterns", "'order' fits the empty text"),
        ("redact_patterns = { '' = 'x' }", "traffic.redact_patterns", "each pattern needs a name"),
        ('redact_hook = "scrub"', "traffic.redact_hook = 'scrub'", "python:package.module:function"),
        ("store_text = 1", "traffic.store_text = 1", "true or false"),
        ('store_reasons = "no"', "traffic.store_reasons = 'no'", "true or false"),
        ('item_url = "crm/{item_id}"', "traffic.item_url = 'crm/{item_id}'", "starts with http://"),
        ('item_url = "https://crm/a"', "traffic.item_url = 'https://crm/a'", "{external_id} or {item_id}"),
        ('item_url = "https://crm/{id}"', "traffic.item_url = 'https://crm/{id}'", "nothing else in braces"),
        ("spool = 5", "traffic.spool = 5", "a text in quotes"),
        ('grade = "yes"', "traffic.grade = 'yes'", "true or false"),
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
    "alerts": [("url = 5", "alerts.url", "a text in quotes"), ('url = ""', "alerts.url", "not blank")],
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
    free_texts = {"api_key_env"}  # it has tests of its own
    keys = {
        name
        for section in ("judge", "traffic", "schedule", "budget", "alarms", "alerts", "app", "store", "anchors")
        for name in Config.model_fields[section].annotation.model_fields  # type: ignore[union-attr]  # all are sections
    }
    assert {name for name in keys - free_texts if name not in tried} == set()


OWN = JUDGE + 'prompt_file = "p.md"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (JUDGE + "scale = [1, 5]", "judge.scale is for a prompt or function of your own; the shipped prompt is built"),
        (JUDGE + "levels = { no = 0, yes = 1 }", "judge.levels is for a prompt or function of your own"),
        (JUDGE + 'criterion = "tone"', "judge.criterion is for a prompt or function of your own"),
        (JUDGE + 'score_field = "grade"', "judge.score_field is for a prompt or function of your own"),
        (JUDGE + "score_pattern = '(5)'", "judge.score_pattern is for a prompt or function of your own"),
        (OWN, "judge.prompt_file needs to know the scale its scores are on; set judge.scale = [1, 5]"),
        (OWN + 'criterion = "tone"', "judge.prompt_file needs to know the scale"),
        (OWN + 'rubric = "general"\nscale = [1, 5]', "judge.rubric = 'general' brings its own scale; drop it or judge"),
        (OWN + 'rubric = "general"\ncriterion = "tone"', "drop it or judge.criterion"),
        (OWN + 'scale = [1, 5]\nfunction = "a:b"', "judge.prompt_file and judge.function are both set"),
        (OWN + 'scale = [1, 5]\ntoo_long = "cut"', "judge.too_long = 'cut' would change a prompt"),
        (OWN + "scale = [0, 1]\nlevels = { no = 0, yes = 2 }", "judge.levels.yes = 2 is off judge.scale = [0, 1]"),
        (
            OWN + "scale = [1, 5]\nscore_field = 'a'\nscore_pattern = '(5)'",
            "score_field and judge.score_pattern are both",
        ),
        (OWN + "scale = [1, 5]\nscore_field = 'a.b'\noutput_mode = 'schema'", "judge.score_field would find nothing"),
        (
            OWN + "scale = [1, 5]\nscore_pattern = '(5)'\noutput_mode = 'schema'",
            "judge.score_pattern would find nothing",
        ),
        (JUDGE + 'function = "a:b"\ncriterion = "tone"', "set one of them too"),
        (JUDGE + 'azure_deployment = "d"', "go together; set judge.azure_api_version too"),
        (JUDGE + 'azure_api_version = "1"', "go together; set judge.azure_deployment too"),
        (
            JUDGE + 'azure_deployment = "d"\nazure_api_version = "1"',
            "needs judge.base_url = 'https://NAME.openai.azure",
        ),
        (
            JUDGE + 'azure_deployment = "d"\nazure_api_version = "1"\nbase_url = "https://x.example/openai/v1"',
            "judge.base_url has to end before /openai",
        ),
        (JUDGE + 'gguf = "m.gguf"', "judge.gguf is a file for judge.base_url = 'local'"),
        (
            JUDGE + 'api_key_env = "K"\napi_key_command = "token"',
            "judge.api_key_command and judge.api_key_env are both",
        ),
    ],
)
def test_settings_of_the_judge_that_do_not_fit_together_are_refused(text: str, said: str) -> None:
    """With the reason and the way out, in one line."""
    message = fault_of(text)
    assert said in message
    assert message.startswith("judgewatch.toml: judge.")
    assert "\n" not in message


@pytest.mark.parametrize(
    "text",
    [
        OWN + "scale = [1, 5]",
        OWN + "levels = { fail = 0, pass = 1 }\nscore_pattern = 'Verdict: (.+)'",
        OWN + 'rubric = "general"\noutput_mode = "schema"\nscore_field = "grade"',
        OWN + "scale = [0, 1]\nlevels = { no = 0.0, yes = 1 }\nscore_field = 'a[0].b'\noutput_mode = 'json'",
        OWN + "scale = [1, 5]\ntemperature = 'unset'\nseed = 'unset'",
        JUDGE + 'function = "python:a.b:c"\nscale = [0, 10]\ncriterion = "tone"',
        JUDGE + 'azure_deployment = "d"\nazure_api_version = "2026-01-01-preview"\nbase_url = "https://x.example"',
        JUDGE + 'base_url = "local"\ngguf = "m.gguf"',
        JUDGE + "api_key_command = 'az account get-access-token'\nproxy = 'socks5://p:1080'",
        JUDGE + "api_key_env = ''\napi_key_command = ['token', 'two words']\nproxy = '${PROXY}'",
        JUDGE + "extra_body = { top_p = 0.5, reasoning_effort = 'low', nested = { a = [1, 2] } }",
    ],
)
def test_settings_of_the_judge_that_fit_together(text: str) -> None:
    """Every documented way to ask is taken."""
    assert parse(text).judge.model == "m"


def test_numbers_of_a_scale_are_numbers_of_one_kind() -> None:
    """1 and 1.0 are one scale: they must not make two judge setups."""
    whole, broken = (parse(OWN + f"scale = {ends}").judge.scale for ends in ("[1, 5]", "[1.0, 5.0]"))
    assert whole == broken == (1.0, 5.0)
    assert all(isinstance(end, float) for end in whole or ())
    assert isinstance(parse(JUDGE + "temperature = 1").judge.temperature, float)


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
        (
            "zebra = 1\n" + JUDGE,
            "known here: alarms, alerts, anchors, app, budget, judge, limits, prices, schedule, store, traffic",
        ),
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
        f'proxy = "user:{SECRET}@host"',
        f'api_key_command = ["", "{SECRET}"]',
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
    hidden = f"proxy = 'http://u:{SECRET}@host'\napi_key_command = 'echo {SECRET}'\n"
    assert SECRET not in repr(parse(JUDGE + hidden + f"[traffic]\ncommand = 'get --token {SECRET}'"))


def test_password_of_a_proxy_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Like any other secret; without a proxy there is nothing to fill in."""
    monkeypatch.setenv("PROXY_PASSWORD", SECRET)
    config = parse(JUDGE + "proxy = 'http://me:${PROXY_PASSWORD}@host:3128'")
    assert config.proxy_address() == f"http://me:{SECRET}@host:3128"
    assert parse(JUDGE).proxy_address() is None


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_key_that_is_not_set_is_said_with_its_variable(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    """And with the two ways out."""
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("JUDGE_KEY", value)
    with pytest.raises(ConfigError, match=r"variable JUDGE_KEY is not set; put the judge's key there, or set judge"):
        parse(JUDGE + 'api_key_env = "JUDGE_KEY"').api_key()


@pytest.mark.parametrize("text", ["api_key_command = 'token'", "base_url = 'local'"])
def test_no_variable_is_asked_for_where_the_key_comes_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A command prints it, or the model runs here and needs none."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert parse(JUDGE + text).api_key() == "none"


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
