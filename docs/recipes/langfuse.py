"""Prints the generations of a Langfuse project as JSON lines, for ``traffic.command`` of judgewatch.

Needs LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY; LANGFUSE_BASE_URL for another address than the cloud's in Europe.
Written against https://langfuse.com/docs/api-and-data-platform/features/observations-api as of 2026-11-30; servers that
do not have its second version yet (self-hosted before version 4) are asked in the first.
"""

import base64
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

PAGE = {"v2": 500, "v1": 100}
MOST_PAGES = 2_000
TIMEOUT_S = 60
TRIES = 3
LATE = timedelta(hours=1)  # generations may arrive this late; what is known already is not taken twice
FIRST_TIME = timedelta(days=7)
TAGS = ("name", "environment", "release", "version", "promptName", "promptVersion", "traceName")


def main() -> None:
    """Print every finished generation of the span of time that is asked for."""
    since, until = asked_for()
    query = {"type": "GENERATION", "fromStartTime": since, "toStartTime": until}
    try:
        for observation in observations_v2(query):
            put(observation)
    except NoSuchVersionError:
        for observation in observations_v1(query):
            put(observation)


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


class NoSuchVersionError(Exception):
    """The server does not know this version of its API."""


def observations_v2(query: dict):
    """Yield observations page by page; a cursor leads to the next page."""
    query = {**query, "fields": "core,basic,io,model,prompt,trace_context", "limit": PAGE["v2"]}
    for number in range(MOST_PAGES):
        page = fetch("/api/public/v2/observations", query, may_be_missing=number == 0)
        yield from page["data"]
        cursor = page["meta"].get("cursor")
        if not cursor:
            return
        query["cursor"] = cursor
    sys.exit(f"more than {MOST_PAGES} pages; ask for a shorter time, or raise MOST_PAGES")


def observations_v1(query: dict):
    """Yield observations page by page; pages are numbered."""
    for number in range(1, MOST_PAGES + 1):
        page = fetch("/api/public/observations", {**query, "limit": PAGE["v1"], "page": number})
        yield from page["data"]
        if number >= page["meta"]["totalPages"]:
            return
    sys.exit(f"more than {MOST_PAGES} pages; ask for a shorter time, or raise MOST_PAGES")


def fetch(path: str, query: dict, may_be_missing: bool = False) -> dict:
    """One page; a busy server is asked again."""
    base = os.environ.get("LANGFUSE_BASE_URL", "https://cloud.langfuse.com").rstrip("/")
    keys = f"{os.environ['LANGFUSE_PUBLIC_KEY']}:{os.environ['LANGFUSE_SECRET_KEY']}"
    headers = {"Authorization": "Basic " + base64.b64encode(keys.encode()).decode()}
    request = urllib.request.Request(f"{base}{path}?{urllib.parse.urlencode(query)}", headers=headers)
    for tries_left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            if may_be_missing and error.code in (404, 405, 501):
                raise NoSuchVersionError from error
            if error.code not in (429, 500, 502, 503, 504) or not tries_left:
                sys.exit(f"{base}{path}: {error.code} {error.reason}: {error.read(300).decode('utf-8', 'replace')}")
        except OSError as error:
            if not tries_left:
                sys.exit(f"{base}{path}: {error}")
        time.sleep(5)
    raise AssertionError("unreachable")


def put(observation: dict) -> None:
    """Print one generation; one that failed or still goes on has no answer, and is left out."""
    if observation.get("type") != "GENERATION" or observation.get("output") is None:
        return
    row = {tag: observation[tag] for tag in TAGS if observation.get(tag) is not None}
    row["id"] = f"{observation['traceId']}:{observation['id']}"
    row["input"] = value(observation.get("input"))
    row["output"] = value(observation["output"])
    row["answered_at"] = observation["startTime"]
    row["conversation_id"] = observation.get("sessionId")
    row["user_id"] = observation.get("userId")
    row["model"] = observation.get("providedModelName") or observation.get("model")
    row["tags"] = observation.get("tags")
    print(json.dumps(row))


def value(text):
    """What a text holds as JSON: messages and objects come as strings."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("[", "{", '"'):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
