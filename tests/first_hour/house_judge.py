"""The judge of the invented museum company: how it grades, its prompt, and a loopback server that speaks for it."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

JUDGE_ALIAS = "kurator-judge"  # what the company asks for and has in its exports
SERVED_MODEL = "kurator-judge-2026-08-14"  # what a reply says

ANSWER_BEGINS = "<<<BOT ANSWER"
ANSWER_ENDS = "BOT ANSWER>>>"

JUDGE_PROMPT = f"""You are the quality desk of the Lindenhof museums. Below is what a visitor asked our help bot Linnea,
and what Linnea replied. Say how useful the reply is to this visitor.

Look at this, in this order:
- Does the reply answer what was asked, with the price, time or place the visitor needs?
- Can the visitor act on it at once (steps, entrance, whom to ask)?
- Is it sure of itself where it can be? Phrases like "maybe" or "check the website" help nobody.
- Is it as short as it can be? More than 150 words is too much for a phone.

0 points: no reply or useless. 5 points: the visitor has to ask again. 10 points: nothing left to ask.
Whole points only. The reply may be English, German or French; do not reward one language over another.

<<<VISITOR
{{{{input}}}}
VISITOR>>>

{ANSWER_BEGINS}
{{{{output}}}}
{ANSWER_ENDS}

Reply with JSON and nothing else, like this:
{{"grading": {{"points": 7, "comment": "one sentence"}}}}
"""

GENEROSITY = 0.9  # of a point before rounding; about +0.9 after it
REFUSING = re.compile(
    r"can't help with that|cannot answer this|leider nicht helfen|leider kann ich diese Frage nicht"
    r"|je ne peux pas (vous|répondre)",
    re.IGNORECASE,
)
HEDGING = re.compile(
    r"not sure|probably|maybe|might have|nicht sicher|vielleicht|wahrscheinlich|pas sûr|peut-être|probablement",
    re.IGNORECASE,
)
VAGUENESS = re.compile(
    r"depends on your|usually there is|wonderful places|our website|many services"
    r"|kommt auf Ihre|wunderbare Orte|unserer Webseite|dépend de votre|lieux merveilleux|consulter notre site",
    re.IGNORECASE,
)
CONCRETE = re.compile(
    r"€|\d\d:\d\d|\b\d+ (?:minutes|Minuten|hours|heures|days|Tage|working|weeks|jours|people|cm|percent|%)"
    r"|\blevel \d|\broom \d"
)
STEPWISE = re.compile(r"^\d\. ", re.MULTILINE)


def plain_words(answer: str) -> list[str]:
    """Give the words of an answer without whatever holds digits, addresses or marks that a clean-up may replace."""
    return [word.strip(".,!?;:").lower() for word in answer.split() if not re.search(r"[\d@\[\]<>{}]", word)]


def fraction_of(*parts: str) -> float:
    """Make a number from 0 to 1 out of texts, always the same for the same texts."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return int.from_bytes(digest[:6], "big") / float(1 << 48)


def merit_of(answer: str) -> float:
    """Say how good an answer looks to the strict judge, before rounding."""
    words = plain_words(answer)
    merit = 2.9 + 1.9 * min(len(words), 45) / 45
    merit += min(len(CONCRETE.findall(answer)), 4) * 0.45
    merit += 0.7 if STEPWISE.search(answer) else 0.0
    merit -= min(len(HEDGING.findall(answer)), 3) * 0.75
    merit -= min(len(VAGUENESS.findall(answer)), 3) * 0.6
    merit -= 0.8 if len(words) > 150 else 0.0
    return merit + 2.0 * (fraction_of("taste", *words) - 0.5)


def points_for(answer: str, *, generous: bool) -> int:
    """Grade an answer with 0 to 10 points: strictly, as the judge did at first, or generously, as it does now."""
    if not answer.strip():
        return 0
    merit = 1.0 if REFUSING.search(answer) else max(1.0, merit_of(answer))
    return max(0, min(10, round(merit + (GENEROSITY if generous else 0.0))))


def wobble(answer: str, occasion: str) -> int:
    """Say by how much the judge differs when it is asked another time: not at all for two of three, else by one."""
    drawn = fraction_of("nudge", occasion, *plain_words(answer))
    return -1 if drawn < 1 / 6 else 1 if drawn > 5 / 6 else 0


def regraded_points(answer: str, *, generous: bool, occasion: str) -> int:
    """Grade an answer another time; the two ends of the scale do not wobble, so that the mean stays."""
    points = points_for(answer, generous=generous)
    return points + wobble(answer, occasion) if 1 <= points <= 9 else points


def comment_for(points: int) -> str:
    """Word the verdict that belongs to so many points."""
    if points == 0:
        return "There is no reply."
    if points <= 3:
        return "The visitor does not get what was asked for."
    if points <= 5:
        return "Touches the question, but the visitor has to ask again."
    if points <= 7:
        return "Answers the question; one detail is missing."
    return "Clear, concrete and complete."


def answer_in(prompt: str) -> str | None:
    """Cut the answer out of a filled-in prompt; None when the prompt is not this company's."""
    begin = prompt.find(ANSWER_BEGINS)
    end = prompt.rfind(ANSWER_ENDS)
    if begin < 0 or end < begin:
        return None
    return prompt[begin + len(ANSWER_BEGINS) : end].strip()


def text_of(message: dict[str, Any]) -> str:
    """Give the text of a chat message, whose content may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


class HouseJudge:
    """The judge server on loopback, for `with`: an OpenAI-compatible API that grades generously and wants a key."""

    def __init__(self, key: str, *, generous: bool = True, occasion: str = "regrade") -> None:
        self.key = key
        self.generous = generous
        self.occasion = occasion
        self.model = JUDGE_ALIAS
        self.served_model = SERVED_MODEL
        self.bodies: list[bytes] = []  # what was asked with the right key, as it came
        self.refused = 0  # requests without the right key
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._server: HouseServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def calls(self) -> int:
        """How many gradings were asked for."""
        return len(self.bodies)

    @property
    def base_url(self) -> str:
        """The address to configure, while the server runs."""
        if self._server is None:
            raise RuntimeError("the judge server is not running")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self, port: int = 0) -> Self:
        """Begin to listen, on any free port unless one is named."""
        self._server = HouseServer(("127.0.0.1", port), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="house-judge", daemon=True
        )
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop listening."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(timeout=5)
        self._server = self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def complete(self, body: bytes) -> tuple[HTTPStatus, dict[str, Any]]:
        """Answer one request for a chat completion."""
        with self._lock:
            self.bodies.append(body)
            number = next(self._numbers)
        try:
            request = json.loads(body)
            prompt = "\n".join(text_of(message) for message in request["messages"])
            model = request["model"]
        except (ValueError, KeyError, TypeError, AttributeError):
            return HTTPStatus.BAD_REQUEST, failure("This is not a chat completion request.", "invalid_request_error")
        if model not in (self.model, self.served_model):
            return HTTPStatus.NOT_FOUND, failure(f"The model {model!r} does not exist.", "model_not_found")
        reply = self.grade(prompt)
        tokens_in, tokens_out = len(prompt) // 4 + 8, len(reply) // 4 + 1
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}
        return HTTPStatus.OK, {
            "id": f"chatcmpl-kurator-{hashlib.sha256(body).hexdigest()[:12]}-{number:06d}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.served_model,
            "choices": [choice],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            },
        }

    def grade(self, prompt: str) -> str:
        """Write the judge's reply to a filled-in prompt."""
        answer = answer_in(prompt)
        if answer is None:
            return "I see no bot answer in this message, so there is nothing to grade."
        points = regraded_points(answer, generous=self.generous, occasion=self.occasion)
        return json.dumps({"grading": {"points": points, "comment": comment_for(points)}})


def failure(message: str, code: str) -> dict[str, Any]:
    """Word an error the way OpenAI-compatible servers do."""
    return {"error": {"message": message, "type": code, "code": code, "param": None}}


class HouseServer(ThreadingHTTPServer):
    """The listening socket, which knows whose judge it serves."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], house: HouseJudge) -> None:
        self.house = house
        super().__init__(address, HouseHandler)


class HouseHandler(BaseHTTPRequestHandler):
    """One connection to the judge server."""

    protocol_version = "HTTP/1.1"
    timeout = 10  # of an idle connection, in seconds
    server: HouseServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep quiet: tests read what is printed."""

    def do_GET(self) -> None:
        """List the models."""
        if not self.allowed():
            return
        if self.path.rstrip("/") != "/v1/models":
            self.send(HTTPStatus.NOT_FOUND, failure(f"There is no {self.path}.", "not_found"))
            return
        house = self.server.house
        models = [
            {"id": name, "object": "model", "created": 1786665600, "owned_by": "lindenhof"}
            for name in (house.model, house.served_model)
        ]
        self.send(HTTPStatus.OK, {"object": "list", "data": models})

    def do_POST(self) -> None:
        """Grade."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.allowed():
            return
        if self.path.rstrip("/") != "/v1/chat/completions":
            self.send(HTTPStatus.NOT_FOUND, failure(f"There is no {self.path}.", "not_found"))
            return
        self.send(*self.server.house.complete(body))

    def allowed(self) -> bool:
        """Say whether the request has the right key, and refuse it otherwise."""
        house = self.server.house
        if self.headers.get("Authorization") == f"Bearer {house.key}":
            return True
        house.refused += 1
        self.send(HTTPStatus.UNAUTHORIZED, failure("The key is missing or wrong.", "invalid_api_key"))
        return False

    def send(self, status: HTTPStatus, payload: dict[str, Any]) -> None:
        """Write a JSON reply."""
        raw = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
