"""Prints the calls of models of an Arize Phoenix project as spans, one a line, for ``traffic.command`` of judgewatch.

PHOENIX_BASE_URL is its address (http://localhost:6006 unless set), PHOENIX_PROJECT the project ("default" unless set),
PHOENIX_API_KEY its key, where one is needed. Written against
https://arize.com/docs/phoenix/sdk-api-reference/rest-api/api-reference/spans/list-spans-with-simple-filters-no-dsl as of
2026-11-30. The lines are read as format "otel".
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

PAGE = 500
MOST_PAGES = 2_000
TIMEOUT_S = 60
TRIES = 3
LATE = timedelta(hours=1)  # spans may arrive this late; what is known already is not taken twice
FIRST_TIME = timedelta(days=7)
KEPT = ("name", "context", "span_kind", "start_time", "status_code", "attributes", "events")


def main() -> None:
    """Print every call of a model of the span of time that is asked for."""
    since, until = asked_for()
    project = urllib.parse.quote(os.environ.get("PHOENIX_PROJECT", "default"), safe="")
    # older servers do not know span_kind and send all spans, so kinds are looked at here as well
    query = {"start_time": since, "end_time": until, "span_kind": "LLM", "limit": PAGE}
    for _ in range(MOST_PAGES):
        page = fetch(f"/v1/projects/{project}/spans", query)
        for span in page["data"]:
            if span.get("span_kind", "LLM") == "LLM":
                print(json.dumps({name: span[name] for name in KEPT if name in span}))
        if not page.get("next_cursor"):
            return
        query["cursor"] = page["next_cursor"]
    sys.exit(f"more than {MOST_PAGES} pages; ask for a shorter time, or raise MOST_PAGES")


def asked_for() -> tuple[str, str]:
    """The span of time, from the variables that judgewatch sets."""
    now = datetime.now(timezone.utc).isoformat()
    until = moment(os.environ.get("JUDGEWATCH_UNTIL") or now)
    since = os.environ.get("JUDGEWATCH_SINCE")
    start = moment(since) - LATE if since else until - FIRST_TIME
    return start.isoformat(), until.isoformat()


def moment(text: str) -> datetime:
    """A time in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def fetch(path: str, query: dict) -> dict:
    """One page; a busy server is asked again."""
    base = os.environ.get("PHOENIX_BASE_URL", "http://localhost:6006").rstrip("/")
    key = os.environ.get("PHOENIX_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(f"{base}{path}?{urllib.parse.urlencode(query)}", headers=headers)
    for tries_left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 500, 502, 503, 504) or not tries_left:
                sys.exit(f"{base}{path}: {error.code} {error.reason}: {error.read(300).decode('utf-8', 'replace')}")
        except OSError as error:
            if not tries_left:
                sys.exit(f"{base}{path}: {error}")
        time.sleep(5)
    raise AssertionError("unreachable")


if __name__ == "__main__":
    main()
