"""Every state in words, as people read them: golden sentences, and rules that hold for all of them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from evaluator.analysis.headlines import headline, tone
from evaluator.analysis.phrases import counted, day_text, days_text, number, signed, since_text, size_text
from evaluator.analysis.wording import assistant_sentence, sentences, unscored_sentences
from evaluator.findings import Findings
from tests.analysis.findings import LEARNING_JUDGE, MOVED_JUDGE, SHARES, WORSE, findings, segment

DELIVERY = segment(5, "delivery", **(WORSE | {"estimate": -0.83, "low": -1.06, "high": -0.6}))
BETTER = WORSE | {"direction": "better", "estimate": 0.3, "low": 0.2, "high": 0.4}
MIXED = SHARES | {"raw": -0.52, "judge": 0.01, "assistant": 0.07, "mix": -0.6, "mix_low": -0.7, "mix_high": -0.5}
UNSURE = {"state": "cannot_tell", "estimate": 0.06, "low": 0.01, "high": 0.11}
SHOWN = {"state": "no_change_shown", "estimate": 0.05, "low": -0.03, "high": 0.13}

# findings, headline, tone
HEADLINES: dict[str, tuple[Findings, str, str]] = {
    "no anchors at all": (
        findings(judge={"state": "no_data", "n_runs": 0, "estimate": None}),
        "The judge is not watched: no run has graded anchors.",
        "unknown",
    ),
    "too few anchors in every run": (
        findings(judge={"state": "no_data", "n_runs": 3, "estimate": None}),
        "The judge is not watched yet: no run has graded enough anchors.",
        "unknown",
    ),
    "learning": (
        findings(judge=LEARNING_JUDGE, assistant={"state": "learning"}),
        "Learning: run 6 of 10; first alarm possible on 14 Nov.",
        "unknown",
    ),
    "learning while answers got worse": (
        findings(judge=LEARNING_JUDGE, assistant=WORSE),
        "Learning: run 6 of 10; first alarm possible on 14 Nov. Meanwhile, your assistant got worse on 3 Nov.",
        "look",
    ),
    "learning a new setup": (
        findings(judge=LEARNING_JUDGE, assistant={"state": "learning"}, setup=3),
        (
            "Judge setup v3 is new, and its scores do not compare with those before. Learning: run 6 of 10; first alarm"
            " possible on 14 Nov."
        ),
        "unknown",
    ),
    "more generous": (findings(judge=MOVED_JUDGE), "The judge became more generous on 12 Oct.", "look"),
    "stricter": (
        findings(judge=MOVED_JUDGE | {"direction": "stricter", "estimate": -0.3}),
        "The judge became stricter on 12 Oct.",
        "look",
    ),
    "both moved": (
        findings(judge=MOVED_JUDGE, assistant=WORSE),
        "Both moved: the judge became more generous on 12 Oct, and your assistant got worse on 3 Nov.",
        "look",
    ),
    "judge and a segment": (
        findings(judge=MOVED_JUDGE, segments=[DELIVERY]),
        "The judge became more generous on 12 Oct; apart from that, answers in delivery got worse on 3 Nov.",
        "look",
    ),
    "judge, assistant and the segment it comes from": (
        findings(judge=MOVED_JUDGE, assistant=WORSE | {"n_after": 1200}, segments=[DELIVERY]),
        "Both moved: the judge became more generous on 12 Oct, and answers in delivery got worse on 3 Nov.",
        "look",
    ),
    "assistant worse, judge steady": (
        findings(assistant=WORSE),
        "Your assistant got worse on 3 Nov; the judge is steady.",
        "look",
    ),
    "assistant better, judge shows no change": (
        findings(judge=SHOWN, assistant=BETTER),
        "Your assistant got better on 3 Nov; the judge shows no change.",
        "look",
    ),
    "assistant worse, judge not known": (
        findings(judge=UNSURE, assistant=WORSE),
        "Your assistant got worse on 3 Nov; whether the judge moved too cannot be told yet.",
        "look",
    ),
    "a segment, judge steady": (
        findings(segments=[DELIVERY]),
        "Answers in delivery got worse on 3 Nov; the judge is steady.",
        "look",
    ),
    "both steady": (findings(), "The judge is steady, and so is your assistant.", "quiet"),
    "neither shows a change": (
        findings(judge=SHOWN, assistant=SHOWN),
        "The judge shows no change, and nor does your assistant.",
        "unknown",
    ),
    "judge steady, assistant shows no change": (
        findings(assistant=SHOWN),
        "The judge is steady; your assistant shows no change.",
        "quiet",
    ),
    "judge shows no change, assistant steady": (
        findings(judge=SHOWN),
        "The judge shows no change; your assistant is steady.",
        "unknown",
    ),
    "judge steady, assistant not known": (
        findings(assistant=UNSURE),
        "The judge is steady; your assistant may have changed, which is not sure enough yet for an alert.",
        "unknown",
    ),
    "judge steady, no answers": (findings(assistant={"state": "no_data"}), "The judge is steady.", "quiet"),
    "judge steady, too few days": (findings(assistant={"state": "learning"}), "The judge is steady.", "quiet"),
    "a changed mix": (
        findings(shares=MIXED),
        "The judge is steady, and so is your assistant; a changed mix of questions moved the mean score by −0.60.",
        "quiet",
    ),
    "too few runs to compare": (
        findings(judge={"state": "cannot_tell", "estimate": None, "n_runs_after": 1}),
        "Cannot tell yet whether the judge moved: about 4 more runs needed.",
        "unknown",
    ),
    "one run short": (
        findings(judge={"state": "cannot_tell", "estimate": None, "n_runs_after": 4}),
        "Cannot tell yet whether the judge moved: about 1 more run needed.",
        "unknown",
    ),
    "not sure enough": (
        findings(judge=UNSURE),
        "The judge may have moved; it is not sure enough yet for an alert.",
        "unknown",
    ),
}

JUDGE_SENTENCES: dict[str, tuple[dict[str, Any], str]] = {
    "changed": (
        MOVED_JUDGE,
        (
            "Judge: since 12 Oct (10–13 Oct) it gives +0.31, between 0.22 and 0.40, for the same answers (60 anchors,"
            " 60 runs)."
        ),
    ),
    "changed on a day that is certain": (
        MOVED_JUDGE | {"since_first_day": "2026-10-12", "since_last_day": "2026-10-12", "n_runs_counted": 1},
        "Judge: since 12 Oct it gives +0.31, between 0.22 and 0.40, for the same answers (60 anchors, 1 run).",
    ),
    "changed twice": (
        MOVED_JUDGE
        | {
            "direction": "stricter",
            "estimate": -0.3,
            "low": -0.36,
            "high": -0.24,
            "earlier_days": ["2026-10-01"],
            "against_first_runs": 0.01,
            "against_first_runs_low": -0.03,
            "against_first_runs_high": 0.05,
        },
        (
            "Judge: since 12 Oct (10–13 Oct) it gives −0.30, between −0.36 and −0.24, for the same answers (60 anchors,"
            " 60 runs). It had moved before, on 1 Oct; against its first runs it now gives +0.01, between −0.03"
            " and 0.05."
        ),
    ),
    "steady": (
        {},
        (
            "Judge: steady within ±0.10; +0.01, between −0.03 and 0.06, for the same answers as in its first runs"
            " (60 anchors, 60 runs)."
        ),
    ),
    "no change shown": (
        SHOWN,
        (
            "Judge: no change shown; +0.05, between −0.03 and 0.13, for the same answers as in its first runs"
            " (60 anchors, 60 runs)."
        ),
    ),
    "not sure enough": (
        UNSURE,
        (
            "Judge: not sure enough yet for an alert; +0.06, between 0.01 and 0.11, for the same answers as in"
            " its first runs (60 anchors, 60 runs)."
        ),
    ),
    "no bounds yet": (
        {"state": "cannot_tell", "estimate": 0.2, "low": None, "high": None},
        (
            "Judge: not sure enough yet for an alert; +0.20 (no interval yet), for the same answers as in its"
            " first runs (60 anchors, 60 runs)."
        ),
    ),
    "learning": (
        LEARNING_JUDGE,
        "Judge: 4 more runs needed before a change can be told from chance (60 anchors, 6 runs).",
    ),
    "nothing to compare": (
        {"state": "cannot_tell", "estimate": None},
        "Judge: too few runs after the first 10 to compare (60 anchors, 60 runs).",
    ),
    "no data": (
        {"state": "no_data", "estimate": None},
        (
            "Judge: a run counts when it has graded at least ten anchors and half of those it was to grade; so"
            " far none of 62 runs has."
        ),
    ),
}

ASSISTANT_SENTENCES: dict[str, tuple[dict[str, Any], str]] = {
    "changed": (
        WORSE,
        (
            "Your assistant: worse since 3 Nov, −0.31, between −0.45 and −0.17, with the judge's own change taken out"
            " (2,220 answers before, 4,440 after)."
        ),
    ),
    "steady": (
        {},
        (
            "Your assistant, day by day: steady within ±0.10; 0.00, between −0.07 and 0.06"
            " (2,220 answers before, 4,440 after)."
        ),
    ),
    "no change shown": (
        SHOWN,
        (
            "Your assistant, day by day: no change shown; +0.05, between −0.03 and 0.13"
            " (2,220 answers before, 4,440 after)."
        ),
    ),
    "not sure enough": (
        UNSURE | {"n_before": 1},
        (
            "Your assistant, day by day: not sure enough yet for an alert; +0.06, between 0.01 and 0.11"
            " (1 answer before, 4,440 after)."
        ),
    ),
    "learning": ({"state": "learning"}, "Your assistant: too few days yet to tell a change from chance."),
    "nothing after": (
        {"state": "cannot_tell", "estimate": None},
        "Your assistant: too few days yet to tell a change from chance.",
    ),
    "no data": (
        {"state": "no_data", "estimate": None},
        "Your assistant: no day can be compared yet; that takes answers graded in runs that count.",
    ),
}

JARGON = re.compile(
    r"time-uniform|interval inverted|HC3|Kitagawa|affine|e-value|p-value|regime|epoch|rollup|stretch|posterior|ruler"
    r"|heteroscedastic|Welch|Student|cluster|threshold|evidence|baseline",
    re.IGNORECASE,
)


class TestHeadline:
    """One sentence, or two while learning."""

    @pytest.mark.parametrize("case", HEADLINES)
    def test_reads_as_agreed(self, case):
        """The golden table."""
        found, expected, _ = HEADLINES[case]
        assert headline(found) == expected

    @pytest.mark.parametrize("case", HEADLINES)
    def test_has_the_tone_of_its_finding(self, case):
        """Quiet needs a steady judge; what changed needs a look."""
        found, _, expected = HEADLINES[case]
        assert tone(found) == expected

    def test_a_small_mix_or_an_unsure_one_is_not_told(self):
        """Under what matters, or an interval that holds zero."""
        for changes in ({"mix": -0.05, "mix_low": -0.06, "mix_high": -0.04}, {"mix_high": 0.1}, {"mix_low": None}):
            assert "mix" not in headline(findings(shares=MIXED | changes))


class TestSentences:
    """Numbers, intervals, dates and counts."""

    @pytest.mark.parametrize("case", JUDGE_SENTENCES)
    def test_judge(self, case):
        """The golden table of the judge."""
        changes, expected = JUDGE_SENTENCES[case]
        assert sentences(findings(judge=changes))[0] == expected

    @pytest.mark.parametrize("case", ASSISTANT_SENTENCES)
    def test_assistant(self, case):
        """The golden table of the assistant."""
        changes, expected = ASSISTANT_SENTENCES[case]
        assert sentences(findings(assistant=changes))[1] == expected

    def test_causes_stand_behind_what_they_explain(self):
        """The judge's after the judge, the assistant's after the assistant."""
        found = sentences(
            findings(
                judge=MOVED_JUDGE | {"likely_cause": "another model answers, logged on 12 Oct"},
                assistant=WORSE | {"likely_cause": "release 4.1, logged on 2 Nov"},
            )
        )
        assert found[1] == "Likely cause: another model answers, logged on 12 Oct."
        assert found[3] == "Likely cause: release 4.1, logged on 2 Nov."

    def test_shares_add_up_in_words(self):
        """Periods with counts, three shares, and which of them could be zero."""
        assert sentences(findings(shares=SHARES))[2] == (
            "Of +0.40 in the mean score of all answers (1–20 Sep, n 2,220, against 12 Oct–5 Nov, n 2,400), the judge"
            " accounts for +0.31, between 0.22 and 0.40; the assistant for +0.07, between −0.04 and 0.18 (could be"
            " zero); a changed mix of questions for +0.02, between 0.01 and 0.03."
        )

    def test_segments_come_last(self):
        """With their cause."""
        row = segment(5, "billing", value2="German", **WORSE) | {"likely_cause": "release 4.1, logged on 2 Nov"}
        assert sentences(findings(segments=[row]))[-1] == (
            "billing · German: worse since 3 Nov, −0.31, between −0.45 and −0.17, with the judge's own change taken out"
            " (n 400 before, 400 after). Likely cause: release 4.1, logged on 2 Nov."
        )

    def test_plain_words_everywhere(self):
        """No term of the statistics, no hyphen for a minus, no None, no doubled space or stray comma."""
        cases = [found for found, _, _ in HEADLINES.values()]
        cases += [findings(judge=changes) for changes, _ in JUDGE_SENTENCES.values()]
        for changes, _ in ASSISTANT_SENTENCES.values():
            cases.append(findings(assistant=changes, shares=SHARES, segments=[DELIVERY]))
        for found in cases:
            for text in (headline(found), *sentences(found)):
                assert not JARGON.search(text), text
                assert not re.search(r"(?<![\w.])-\d|None|nan|  | ,|,,|\.\.", text), text
                assert text[0].isupper() or text.startswith(("delivery", "billing")), text
                assert text.endswith("."), text


class TestUnscored:
    """Scores that are missing."""

    RUN = {"day": "2026-11-05", "n_anchors": 20}  # noqa: RUF012 - read only

    def test_many_missing_scores_are_told_with_their_reasons(self):
        """Of the newest run's anchors and of the newest day's answers."""
        found = findings(judge={"runs": [self.RUN]}, days=[{"day": "2026-11-04", "n": 40, "n_unscored": 8}])
        told = unscored_sentences(
            found,
            anchors={"2026-11-05": {"timeout": 2, "server_error": 1}},
            answers={"2026-11-04": {"refusal": 8}},
        )
        assert told == [
            "The judge left 3 of 20 anchors without a score on 5 Nov: 2 timeout, 1 server error.",
            "The judge left 8 of 48 answers of 4 Nov without a score: 8 refusal.",
        ]

    @pytest.mark.parametrize(
        ("reasons", "told"),
        [
            ({"no_answer_text": 3}, ["3 of 30 answers of 4 Nov have no text and were not graded."]),
            (
                {"no_answer_text": 3, "timeout": 5},
                [
                    "The judge left 5 of 27 answers of 4 Nov without a score: 5 timeout.",
                    "3 of 30 answers of 4 Nov have no text and were not graded.",
                ],
            ),
            (
                {"no_answer_text": 1, "timeout": 5},
                ["The judge left 5 of 29 answers of 4 Nov without a score: 5 timeout."],
            ),
        ],
    )
    def test_answers_without_a_text_are_no_failure_of_the_judge(self, reasons, told):
        """It was never asked for them."""
        n_unscored = sum(reasons.values())
        day = {"day": "2026-11-04", "n": 30 - n_unscored, "n_unscored": n_unscored}
        assert unscored_sentences(findings(days=[day]), anchors={}, answers={"2026-11-04": reasons}) == told

    def test_one_answer_without_a_text(self):
        """Of five."""
        day = {"day": "2026-11-04", "n": 4, "n_unscored": 1}
        told = unscored_sentences(findings(days=[day]), anchors={}, answers={"2026-11-04": {"no_answer_text": 1}})
        assert told == ["1 of 5 answers of 4 Nov has no text and was not graded."]

    def test_a_few_are_not(self):
        """One anchor of twenty, four answers of forty-eight."""
        found = findings(judge={"runs": [self.RUN]}, days=[{"day": "2026-11-04", "n": 44, "n_unscored": 4}])
        assert unscored_sentences(found, anchors={"2026-11-05": {"timeout": 1}}, answers={}) == []

    def test_nothing_is_said_of_nothing(self):
        """No run and no day."""
        assert unscored_sentences(findings(), anchors={}, answers={}) == []


class TestPhrases:
    """The bricks."""

    @pytest.mark.parametrize(
        ("value", "text"), [(0.3149, "+0.31"), (-0.04, "−0.04"), (0.004, "0.00"), (-0.004, "0.00"), (-12.5, "−12.50")]
    )
    def test_changes_have_a_sign_and_a_real_minus(self, value, text):
        """Zero has none."""
        assert signed(value) == text

    def test_bounds_have_no_plus(self):
        """A lower bound of minus nothing is nothing."""
        assert size_text(0.0, -0.001, 0.4) == "0.00, between 0.00 and 0.40"
        assert size_text(-0.1, None, None) == "−0.10 (no interval yet)"
        assert number(-1.005) == "−1.00"

    @pytest.mark.parametrize(
        ("first", "last", "text"),
        [
            ("2026-10-12", "2026-10-12", "12 Oct"),
            ("2026-10-10", "2026-10-13", "10–13 Oct"),
            ("2026-09-29", "2026-10-02", "29 Sep–2 Oct"),
            ("2025-12-30", "2026-01-02", "30 Dec–2 Jan"),
            (None, "2026-10-13", "13 Oct"),
        ],
    )
    def test_spans_of_days(self, first, last, text):
        """The month is named once where it is one."""
        assert days_text(first, last) == text

    def test_unknown_day_and_certain_day(self):
        """No day is no crash, and a certain one needs no span."""
        assert day_text(None) == "an unknown day"
        assert since_text("2026-10-12", "2026-10-12", "2026-10-12") == "since 12 Oct"

    @pytest.mark.parametrize(("n", "text"), [(0, "0 runs"), (1, "1 run"), (1204, "1,204 runs")])
    def test_counts_agree_with_their_noun(self, n, text):
        """One is not many."""
        assert counted(n, "run") == text


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        ({"more_days": 12}, "takes about 12 more days."),
        ({"more_days": 1, "more_anchors": 40}, "takes about 1 more day or 40 more anchors."),
        ({"more_days": 9, "more_anchors": 40, "more_together": True}, "takes about 9 more days and 40 more anchors."),
        ({"more_days": None, "more_anchors": None}, "after)."),
        ({"more_days": 0}, "after)."),
        ({}, "after)."),
    ],
)
def test_what_it_takes_to_tell_is_said_of_the_assistant(needed: dict[str, Any], said: str) -> None:
    """More days, more anchors, or both; nothing when it is enough, or when nothing would do."""
    found = findings(assistant={"state": "no_change_shown", **needed})
    assert assistant_sentence(found).endswith(said)
