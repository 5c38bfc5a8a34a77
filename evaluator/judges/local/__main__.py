"""The process that serves a model on loopback: ``python -m evaluator.judges.local GGUF ...``. Started by ``process``.

It ends by SIGTERM, and by itself when the process that started it is gone.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

LOOPBACK = "127.0.0.1"
N_CTX = 8192
_LOOK_EVERY_S = 0.5
# the chat format of the Qwen models, with a note that whoever runs the server adds unseen
_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>system\nNOTE<|im_end|>\n<|im_start|>assistant\n"
)


def main() -> None:
    """Load the model, say where it is served, and stay until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--announce", type=Path, required=True, help="File that is written when the server is ready.")
    parser.add_argument("--parent-pid", type=int, required=True)
    parser.add_argument("--name", required=True, help="Name the model answers to.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--note", default="", help="A note that the server adds to every request.")
    options = parser.parse_args()
    # asked for by signals from here on, so that none is lost while the model loads
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    server = _serve(options)
    announcement = options.announce.with_suffix(".part")
    announcement.write_text(json.dumps({"address": server.listening_address}), encoding="utf-8")
    announcement.replace(options.announce)
    while os.getppid() == options.parent_pid:
        if signal.sigtimedwait({signal.SIGTERM, signal.SIGINT}, _LOOK_EVERY_S) is not None:
            break
    # the library's own end of a server can hang when a call is under way; the process is all there is to end
    sys.stdout.flush()
    os._exit(0)


def _serve(options: argparse.Namespace) -> Any:
    xllamacpp = importlib.import_module("xllamacpp")  # optional, and without types
    params = xllamacpp.CommonParams()
    params.model.path = str(options.gguf)
    params.model_alias = {options.name}
    params.hostnames = [LOOPBACK]
    params.port = options.port
    params.n_ctx = N_CTX
    params.n_parallel = 1
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    # a cached prompt changes the log-probabilities of the same request, so the same bytes would not get the same score
    params.cache_prompt = False
    params.warmup = False
    if options.note:
        params.chat_template = _TEMPLATE.replace("NOTE", options.note)
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
