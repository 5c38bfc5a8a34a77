"""How a judge is reached: Azure's addresses and headers, a proxy, certificates of one's own."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from evaluator.errors import ConfigError
from evaluator.judges.clients import check_network
from evaluator.judges.keys import CommandKey
from evaluator.judges.settings import AzureDeployment, JudgeSettings
from evaluator.records import Item, StopReason, UnscoredReason
from tests.judges.conftest import MakeJudge, Serve
from tests.judges.fakes import RUBRIC, FakeGate
from tests.judges.server import FakeServer, completion, failure, in_turn

AZURE = AzureDeployment(name="my-judge", api_version="2026-02-01-preview")


def resource(server: FakeServer) -> str:
    """The address of an Azure resource: without a version path."""
    return server.base_url.removesuffix("/v1")


# ---------------------------------------------------------------- Azure


@pytest.fixture
def azure_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that the client library reads by itself."""
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key-of-somebody-else")
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token-of-somebody-else")
    monkeypatch.setenv("OPENAI_API_VERSION", "1999-01-01")


@pytest.mark.usefixtures("azure_in_the_environment")
async def test_azure_is_asked_at_its_deployment(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """Exact path and query, the key in its own header, and nothing out of the environment."""
    server = await serve(completion())
    judge = make_judge(resource(server), azure=AZURE, default_query={"x": "1"})
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    request = server.requests[0]
    assert request.path == "/openai/deployments/my-judge/chat/completions?x=1&api-version=2026-02-01-preview"
    assert request.headers["api-key"] == "key-of-the-test"
    assert "authorization" not in request.headers
    assert request.headers["content-type"] == "application/json"
    assert request.body["model"] == "judge-x"
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4


@pytest.mark.usefixtures("azure_in_the_environment")
async def test_azure_takes_a_token_that_a_command_prints(
    serve: Serve, make_judge: MakeJudge, item: Item, tmp_path: Path
) -> None:
    """As a bearer, without the header of keys; a token that is refused is renewed."""
    server = await serve(failure(401, code="401", message="Access token has expired."), completion())
    command = ["sh", "-c", 'echo x >> n; printf "{\\"accessToken\\": \\"entra-%s\\"}" $(wc -l < n)']
    judge = make_judge(resource(server), azure=AZURE, api_key=CommandKey(command, ttl_s=60.0, folder=tmp_path))
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer entra-1", "Bearer entra-2"]
    assert "api-key" not in server.requests[0].headers
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4


async def test_deployment_that_is_not_there_stops_the_run(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """One call."""
    server = await serve(failure(404, code="DeploymentNotFound", message="The API deployment does not exist."))
    outcome = await make_judge(resource(server), azure=AZURE).grade(item, item_id="i", gate=FakeGate())
    assert outcome.stop is StopReason.MODEL_NOT_FOUND
    assert len(server.requests) == 1


def test_deployment_is_no_part_of_the_ruler() -> None:
    """The way to a model is not the model: moving to another resource starts no new judge setup."""
    plain, azure = (
        JudgeSettings(model="m", base_url=url, api_key="k", rubric=RUBRIC, fence_secret="s", azure=deployment)
        for url, deployment in (("https://a/v1", None), ("https://b", AZURE))
    )
    assert plain.ruler.ruler_id == azure.ruler.ruler_id


# ---------------------------------------------------------------- a proxy


async def test_calls_go_through_the_proxy(serve: Serve, make_judge: MakeJudge, item: Item) -> None:
    """The judge's own host is asked for there, with the proxy's password; it is not looked up here."""
    proxy = await serve(completion())
    address = resource(proxy).replace("http://", "http://me:secret-of-the-proxy@")
    judge = make_judge("http://judge.invalid/v1", proxy=address)
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert proxy.requests[0].path == "http://judge.invalid/v1/chat/completions"
    assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")
    assert proxy.requests[0].headers["authorization"] == "Bearer key-of-the-test"
    assert outcome.verdict is not None
    assert outcome.verdict.score == 4
    assert "secret-of-the-proxy" not in repr((judge.settings, outcome))


async def test_proxy_that_is_not_there_hides_its_password(make_judge: MakeJudge, item: Item) -> None:
    """A lost connection like any other."""
    judge = make_judge("http://judge.invalid/v1", proxy="http://me:secret-of-the-proxy@127.0.0.1:9", max_attempts=1)
    outcome = await judge.grade(item, item_id="i", gate=FakeGate())
    assert outcome.verdict is not None
    assert outcome.verdict.unscored_reason is UnscoredReason.CONNECTION
    assert "secret-of-the-proxy" not in repr(outcome)


def network(**changes: Any) -> JudgeSettings:
    """Settings of a way to the judge."""
    return JudgeSettings(
        model="m", base_url="http://127.0.0.1:1/v1", api_key="k", rubric=RUBRIC, fence_secret="s", **changes
    )


def test_socks_proxy_names_the_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first call."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r'judge\.proxy .*pip install "httpx2\[socks\]"'):
        check_network(network(proxy="socks5://host:1080"))
    check_network(network(proxy="http://host:3128"))


@pytest.mark.parametrize("name", ["ALL_PROXY", "https_proxy", "HTTP_PROXY"])
def test_socks_proxy_of_the_environment_is_named_with_its_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who set it for the whole machine looks for it in the configuration."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setenv(name, "socks5h://host:1080")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(ConfigError, match=rf'{name.upper()} is a SOCKS proxy.*pip install "httpx2\[socks\]"'):
        check_network(network())
    check_network(network(proxy="http://host:3128"))
    monkeypatch.setenv("NO_PROXY", "*")
    check_network(network())


# ---------------------------------------------------------------- certificates


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """Someone who signs certificates, whom no machine trusts by itself."""
    return trustme.CA()


async def test_own_certificates_are_trusted(
    make_judge: MakeJudge, item: Item, authority: trustme.CA, tmp_path: Path
) -> None:
    """With ca_file the call goes through; without it the fault names the setting."""
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    async with FakeServer(in_turn(completion()), tls=tls) as server:
        assert server.base_url.startswith("https://")
        trusting = make_judge(server, ca_file=str(ca_file))
        good = await trusting.grade(item, item_id="i", gate=FakeGate())
        bad = await make_judge(server, max_attempts=1).grade(item, item_id="i", gate=FakeGate())
        await trusting.close()
    assert good.verdict is not None
    assert good.verdict.score == 4
    assert len(server.requests) == 1
    assert bad.verdict is not None
    assert bad.verdict.unscored_reason is UnscoredReason.CONNECTION
    assert "judge.ca_file names certificates to trust" in bad.attempts[0].message


def test_file_without_certificates_is_refused_before_a_call(tmp_path: Path) -> None:
    """Missing, empty, or something else."""
    with pytest.raises(ConfigError, match=r"judge\.ca_file .*: there is no such file"):
        check_network(network(ca_file=str(tmp_path / "ca.pem")))
    for content in ("", "no certificate"):
        (tmp_path / "ca.pem").write_text(content)
        with pytest.raises(ConfigError, match="holds no certificates in PEM form"):
            check_network(network(ca_file=str(tmp_path / "ca.pem")))
