"""Does the name of the model stand for one version, or for whatever the provider serves under it today? Pure."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from evaluator.config.judge import LOCAL
from evaluator.doctor.base import Check, ok, warn

NAME = "model version"

# -2024-08-06, -20250929, @20240620, -0613; a size like 8x22b or a version like 4.1 is no date
_DATE = re.compile(
    r"[-@:_](?:20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01]))\b"
)
_FLOATS = re.compile(r"[-:](?:latest|preview|stable)$")
_NO_VERSION = "set judge.model to the name of one version, with its date, if the provider has one"
_OWN_ENDINGS = (".local", ".internal", ".lan", ".localdomain", ".svc")


def is_dated(model: str) -> bool:
    """Whether a name carries the date of a version."""
    return _DATE.search(model) is not None


def is_own_server(base_url: str) -> bool:
    """Whether an address is of this machine or of one's own network: nobody else changes what answers there."""
    if base_url == LOCAL:
        return True
    host = urlsplit(base_url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_OWN_ENDINGS)
    return address.is_private or address.is_loopback


def check_alias(asked: str, returned: str | None, *, base_url: str, is_deployment: bool = False) -> Check:
    """Compare the model that answered with the one that was asked for.

    Args:
        asked: ``judge.model``.
        returned: What the server calls the model that answered; None when it says nothing.
        base_url: Whose server it is.
        is_deployment: Whether the address, and not the name, decides what answers.
    """
    if returned is None:
        return warn(
            NAME,
            "the server does not say which model answered, so a change of it cannot be told from other causes",
            "log changes of the model by hand with `judgewatch event add`",
        )
    if is_deployment:
        return ok(NAME, f"the deployment serves {returned}; its own settings say whether that is updated by itself")
    if _bare(asked) == _bare(returned):
        return _same_name(asked, is_own=is_own_server(base_url))
    # a gateway of one's own passes on what a provider serves
    stands_for = is_dated(returned) and not is_dated(asked) and _bare(returned).startswith(_bare(asked))
    if is_own_server(base_url) and not stands_for:
        return ok(NAME, f"asked for {asked}, your own server calls it {returned}")
    if is_dated(asked):
        return warn(
            NAME, f"{returned} answered, not {asked}", "ask the provider or gateway why it serves another model"
        )
    pin = f'pin it: judge.model = "{returned}" (a new judge setup begins with that)'
    return warn(
        NAME,
        f"{asked} stands for {returned} today and may stand for another version tomorrow, without notice",
        pin if is_dated(returned) else _NO_VERSION,
    )


def _same_name(model: str, *, is_own: bool) -> Check:
    if _FLOATS.search(model) is not None and not is_own:
        return warn(
            NAME,
            f"{model} floats by its name, and the server does not say which version answered",
            _NO_VERSION,
        )
    if is_dated(model):
        return ok(NAME, f"{model} is one version")
    return ok(NAME, f"{model}, and the server says the same; whether that stands for one version it does not tell")


def _bare(model: str) -> str:
    """A name without the provider before it: openai/gpt-x is gpt-x."""
    return model.rpartition("/")[2]
