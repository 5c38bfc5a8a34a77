"""Settings are checked as one, faults are spread evenly, counts stay bounded."""

from __future__ import annotations

import pytest

from evaluator.judges.practice import state as state_module
from evaluator.judges.practice.state import Faults, PracticeState, Settings


def test_changes_are_partial() -> None:
    """What is not named stays."""
    settings = Settings().changed({"day": 7, "generosity": 0.35}).changed({"latency_ms": 5, "day": 8})
    assert (settings.mood.day, settings.mood.generosity, settings.faults.latency_ms) == (8, 0.35, 5)


def test_every_setting_can_be_set_to_what_it_is() -> None:
    """The names read are the names written."""
    assert Settings().changed(Settings().as_dict()) == Settings()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dya": 1}, "no setting is called 'dya'; there are day,"),
        ({"position_bias": 0.1}, "no setting is called 'position_bias'"),
        ({"day": 1.5}, "day must be a whole number, not 1.5"),
        ({"day": True}, "day must be a whole number, not True"),
        ({"generosity": "much"}, "generosity must be a number, not 'much'"),
        ({"generosity": float("nan")}, "generosity must be a finite number"),
        ({"noise_factor": -1}, "noise_factor must be 0 or more"),
        ({"resolved_model": None}, "resolved_model must be a text"),
        ({"latency_ms": -1}, "latency_ms must be between"),
        ({"fail_rate": 1.01}, "fail_rate must be between 0 and 1"),
        ({"fail_status": 200}, "fail_status must be an HTTP error"),
        ({"hang": 1}, "hang must be true or false"),
    ],
)
def test_wrong_changes_are_refused_by_name(changes: dict[str, object], message: str) -> None:
    """The message names the setting and the value."""
    with pytest.raises(ValueError, match=message):
        Settings().changed(changes)


def test_fingerprint_may_be_missing() -> None:
    """Some providers send none."""
    assert Settings().changed({"fingerprint": None}).mood.fingerprint is None


@pytest.mark.parametrize(("rate", "n_failed"), [(0.0, 0), (0.1, 10), (0.25, 25), (0.5, 50), (1.0, 100)])
def test_failures_are_spread_evenly(rate: float, n_failed: int) -> None:
    """The share is met exactly and in every stretch."""
    failed = [Faults(fail_rate=rate).fails(number) for number in range(1, 101)]
    assert sum(failed) == n_failed
    assert abs(sum(failed[:50]) - n_failed / 2) <= 1


def test_texts_beyond_the_bound_share_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run must not fill the memory."""
    monkeypatch.setattr(state_module, "MAX_TEXTS_COUNTED", 2)
    state = PracticeState()
    for key in ("a", "b", "c", "a", "d"):
        state.count_text(key)
    assert state.as_dict()["calls_by_text"] == {"a": 2, "b": 1}
    assert state.as_dict()["calls_of_other_texts"] == 2
