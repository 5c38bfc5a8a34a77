"""``run once`` behind a gateway that caches: the run says that it does not count, and ``check`` says it again."""

from __future__ import annotations

import json

from tests.cli.conftest import invoke, ok, ok_json, write_anchors, write_config
from tests.doctor.conftest import Served, good_replies
from tests.judges.caching_proxy import CachingProxy

CONFIG = """
[app]
name = "shop"
[judge]
model = "judge-2026-01-05"
base_url = "ADDRESS"
api_key_env = ""
[anchors]
set = "anchors.jsonl"
[budget]
calls_per_day = 500
"""


def test_run_behind_a_cache_says_that_it_does_not_count() -> None:
    """What was found, what to do, in the report, in its JSON, and in check's headline until a run counts again."""
    write_anchors()
    with Served(good_replies(score=lambda _: 3)) as server, CachingProxy(server.base_url) as proxy:
        write_config(CONFIG, ADDRESS=proxy.base_url)
        first = invoke("run", "once", "--slot", "2026-03-01T06:00", "--quiet")
        second = invoke("run", "once", "--slot", "2026-03-02T06:00", "--quiet")
        looked = ok("check")
        third = ok_json("run", "once", "--slot", "2026-03-03T06:00", "--quiet")
        proxy.is_on = False
        ok("run", "once", "--slot", "2026-03-04T06:00", "--quiet")
        again = ok_json("check")
    assert (first.exit_code, "do not count" in first.output) == (0, False)
    assert second.exit_code == 0
    assert second.stderr.splitlines()[-1] == (
        "warning: the anchors of this run do not count: a gateway answered 12 of 12 anchors from its cache (repeated"
        " completion ids); switch its cache off for the judge; `judgewatch doctor` names the settings and shows"
        " whether it is off"
    )
    assert "The run of 2 Mar does not count." in looked
    assert "Needs a look:" in looked
    assert third["not_counted"].startswith("a gateway answered 12 of 12 anchors")
    assert "does not count" not in json.dumps(again["headline"])
    assert [run["not_counted"] != "" for run in again["judge"]["runs"]] == [False, True, True, False]
