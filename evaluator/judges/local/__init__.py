"""A real language model on this machine as the judge: fetch a small one, serve it on loopback, ask it like any other.

The server is llama.cpp's own, inside the optional package ``xllamacpp`` (``pip install 'judgewatch[local]'``); it runs
in a process of its own, so that its memory is given back and a crash of it is no crash of the scorer.
"""
