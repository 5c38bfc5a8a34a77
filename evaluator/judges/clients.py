"""Opens the HTTP client of a judge, the plain one or Azure's, with proxy and certificates; loads ``openai`` for it."""

from __future__ import annotations

import importlib.util
import ssl
import urllib.request
from typing import TYPE_CHECKING, Any

from evaluator.errors import ConfigError
from evaluator.judges.settings import JudgeSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_TIMEOUT_S = 10.0
NO_KEY = "none"  # the client insists on some text; servers without keys ignore it


def check_network(settings: JudgeSettings) -> None:
    """Look at what can be known to be wrong before the first call.

    Raises:
        ConfigError: certificates that cannot be read, or a proxy that needs a package.
    """
    if settings.ca_file is not None:
        trust(settings.ca_file)
    named = _socks_proxy(settings)
    if named is not None and importlib.util.find_spec("socksio") is None:
        raise ConfigError(f'{named} is a SOCKS proxy, which needs one more package: pip install "httpx2[socks]"')


def _socks_proxy(settings: JudgeSettings) -> str | None:
    """What names a SOCKS proxy, the setting or a variable of the environment; None when nothing does."""
    if settings.proxy is not None:
        return "judge.proxy" if settings.proxy.startswith("socks") else None
    proxies = urllib.request.getproxies()
    if "*" in proxies.get("no", ""):
        return None
    # the client opens all of them, whatever the judge's address
    found = (scheme for scheme in ("http", "https", "all") if proxies.get(scheme, "").startswith("socks"))
    return next((f"{scheme.upper()}_PROXY" for scheme in found), None)


def trust(ca_file: str) -> ssl.SSLContext:
    """Return a context that trusts the certificates of a file beside those of the system.

    Raises:
        ConfigError: the file cannot be read, or holds none.
    """
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=ca_file)
    except FileNotFoundError as error:
        raise ConfigError(f"judge.ca_file {ca_file}: there is no such file") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"judge.ca_file {ca_file} holds no certificates in PEM form: {error}") from error
    return context


def open_client(settings: JudgeSettings) -> AsyncOpenAI:
    """Open a client that never retries by itself.

    Raises:
        ConfigError: an address or a proxy that is none.
    """
    import httpx2
    import openai

    timeout = httpx2.Timeout(settings.timeout_s, connect=min(settings.timeout_s, CONNECT_TIMEOUT_S))
    common: dict[str, Any] = {
        "max_retries": 0,
        "timeout": timeout,
        "default_headers": settings.default_headers,
        "default_query": settings.default_query,
        "http_client": _open_http_client(settings, openai, httpx2, timeout),
    }
    try:
        if settings.azure is None:
            return openai.AsyncOpenAI(api_key=settings.api_key or NO_KEY, base_url=settings.base_url, **common)
        return _open_azure(settings, openai, common)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ConfigError(f"base_url = {settings.base_url!r} is no address: {error}") from error


def _open_azure(settings: JudgeSettings, openai: Any, common: dict[str, Any]) -> AsyncOpenAI:
    """A key goes into the header ``api-key``, what a command prints is a token for ``Authorization``."""
    azure = settings.azure
    if azure is None:
        raise ValueError("no deployment is set")
    token = settings.api_key if callable(settings.api_key) else None
    client: AsyncOpenAI = openai.AsyncAzureOpenAI(
        base_url=f"{settings.base_url}/openai/deployments/{azure.name}",
        api_version=azure.api_version,
        api_key=None if token is not None else settings.api_key or NO_KEY,
        azure_ad_token_provider=token,
        **common,
    )
    return client


def _open_http_client(settings: JudgeSettings, openai: Any, httpx2: Any, timeout: Any) -> Any:
    limits = httpx2.Limits(max_connections=settings.max_connections, max_keepalive_connections=settings.max_connections)
    options: dict[str, Any] = {} if settings.ca_file is None else {"verify": trust(settings.ca_file)}
    try:
        return openai.DefaultAsyncHttpxClient(timeout=timeout, limits=limits, proxy=settings.proxy, **options)
    except (httpx2.InvalidURL, ValueError, ImportError) as error:
        raise ConfigError(
            f"judge.proxy cannot be used: {type(error).__name__}; give an address like http://h:1"
        ) from error
