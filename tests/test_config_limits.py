"""The section ``[limits]``: what it takes, what it refuses, and what the analysis is told."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluator.analysis.settings import Limit
from evaluator.config import Config, parse_config
from evaluator.errors import ConfigError
from evaluator.scoring.slot import analysis_settings

BASE = '[judge]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
EVERY = """
[limits]
mean_under = 3.5
share_at_or_under = { level = 2, share = 0.1 }
unscored_share = 0.2
segments = [{ segment = "topic=billing * language=de", mean_under = 3 }]
"""


def config(text: str) -> Config:
    """A configuration with some section added."""
    return parse_config(tomllib.loads(BASE + text), folder=Path(), name="judgewatch.toml")


def test_every_limit_reaches_the_analysis():
    """In the order of the file; a segment's own after those of all answers."""
    found = analysis_settings(config(EVERY), datetime(2026, 3, 1, tzinfo=UTC)).limits
    assert found == (
        Limit(kind="mean_under", bound=3.5),
        Limit(kind="share_at_or_under", bound=0.1, level=2.0),
        Limit(kind="unscored_share", bound=0.2),
        Limit(kind="mean_under", bound=3.0, segment="topic=billing * language=de"),
    )


def test_no_section_is_no_limit():
    """The default; and the settings of an analysis then are what they were."""
    assert config("").limits.listed() == []
    assert analysis_settings(config(""), datetime(2026, 3, 1, tzinfo=UTC)).limits == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[limits]\nunscored_share = 20", "limits.unscored_share = 20: must be less than 1"),
        (
            "[limits]\nshare_at_or_under = { level = 2, share = 0 }",
            "limits.share_at_or_under.share = 0: must be greater",
        ),
        ("[limits]\nshare_at_or_under = { share = 0.1 }", "limits.share_at_or_under.level is missing"),
        ('[limits]\nmean_under = "low"', "limits.mean_under = 'low': a number is needed"),
        ("[limits]\nmean_over = 3", "did you mean 'mean_under'?"),
        ('[limits]\nsegments = [{ segment = "topic=a" }]', "a limit is missing; set mean_under"),
        ('[limits]\nsegments = [{ segment = "topic", mean_under = 3 }]', "name a segment like 'topic=billing'"),
        ('[limits]\nsegments = [{ segment = "a=1*b=2*c=3", mean_under = 3 }]', "name a segment like"),
        (
            '[limits]\nsegments = [{ segment = "a=1", mean_under = 3 }, { segment = "a=1", unscored_share = 0.1 }]',
            "limits.segments names a=1 more than once",
        ),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused_with_the_fix(text, message):
    """Each message names the key."""
    with pytest.raises(ConfigError) as caught:
        config(text)
    assert message in str(caught.value)
