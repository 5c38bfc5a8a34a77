"""The page's server: Streamlit's own command, which here asks nobody outside for this machine's addresses.

Streamlit looks its public address up on the internet for its greeting and whenever a page of another site knocks
(``server_util.is_url_from_allowed_origins``). No option stops the second, so both look-ups know nothing here; whom else
to let in says ``server.corsAllowedOrigins``. The file is run by its path: ``-m`` would put a folder of the user's that
is called "dashboard" before this one.
"""

from __future__ import annotations

from streamlit import net_util
from streamlit.web import cli


def main() -> None:
    """Run Streamlit's command line with this process's arguments."""
    net_util.get_external_ip = _unknown
    net_util.get_internal_ip = _unknown
    cli.main(prog_name="streamlit")


def _unknown() -> str | None:
    return None


if __name__ == "__main__":
    main()
