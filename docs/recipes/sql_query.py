"""Prints the rows of a database query as JSON lines, for ``traffic.command`` of judgewatch.

DATABASE_URL is a file of SQLite (sqlite:///answers.db), or an address of PostgreSQL (postgresql://..., which needs
``pip install "psycopg[binary]"``); other databases with a Python driver need one more line in ``connect``. QUERY is
what to change: its columns become fields and tags by their names. Written against
https://docs.python.org/3/library/sqlite3.html and https://www.psycopg.org/psycopg3/docs/basic/usage.html as of
2026-11-30.
"""

import json
import os
import sys
from datetime import date, datetime, timedelta, timezone

# {since} and {until} are places of parameters, filled in by the driver; any other brace is written twice, and with
# PostgreSQL any % too: LIKE 'a%%'
QUERY = """
SELECT id, question AS input, answer AS output, created_at AS answered_at, conversation_id, user_id, topic
FROM answers
WHERE created_at >= {since} AND created_at < {until}
ORDER BY created_at
"""
BATCH = 1_000
TIMEOUT_S = 60
LATE = timedelta(hours=1)  # rows may be written this late; what is known already is not taken twice
FIRST_TIME = timedelta(days=7)


def main() -> None:
    """Print every row of the span of time that is asked for, with flat memory."""
    connection, cursor, mark = connect(os.environ.get("DATABASE_URL", "sqlite:///answers.db"))
    try:
        cursor.execute(QUERY.format(since=mark, until=mark), asked_for())
        names = [column[0] for column in cursor.description]
        while rows := cursor.fetchmany(BATCH):
            for row in rows:
                print(json.dumps(dict(zip(names, row)), default=plain))
    finally:
        connection.close()


def connect(url: str):
    """A connection, a cursor of it, and how its driver marks the place of a parameter."""
    if url.startswith("sqlite:///"):
        import sqlite3

        path = url.removeprefix("sqlite:///")
        if not os.path.exists(path):
            sys.exit(f"there is no database {path}; set DATABASE_URL")
        connection = sqlite3.connect(path, timeout=TIMEOUT_S)
        return connection, connection.cursor(), "?"
    if url.startswith(("postgresql://", "postgres://")):
        import psycopg

        options = f"-c statement_timeout={TIMEOUT_S * 1000}"
        connection = psycopg.connect(url, connect_timeout=TIMEOUT_S, options=options)
        return connection, connection.cursor("answers"), "%s"  # one with a name leaves the rows on the server
    sys.exit("DATABASE_URL starts with sqlite:/// or postgresql://; for another driver change connect()")


def asked_for() -> tuple[str, str]:
    """The span of time, from the variables that judgewatch sets, as texts in UTC: 2026-03-01T06:00:00Z.

    Where times are stored in another form, write them here in that form.
    """
    now = datetime.now(timezone.utc).isoformat()
    until = moment(os.environ.get("JUDGEWATCH_UNTIL") or now)
    since = os.environ.get("JUDGEWATCH_SINCE")
    start = moment(since) - LATE if since else until - FIRST_TIME
    return start.strftime("%Y-%m-%dT%H:%M:%SZ"), until.strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(text: str) -> datetime:
    """A time in UTC."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def plain(value):
    """Times as texts, anything else that JSON does not know as its text."""
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


if __name__ == "__main__":
    main()
