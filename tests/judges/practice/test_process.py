"""The judge as a process: it starts, says where it is, and never outlives whoever started it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evaluator.errors import JudgewatchError
from evaluator.judges.practice.control import PracticeJudge

COMMAND = [sys.executable, "-m", "evaluator.judges.practice"]


def is_listening(port: int) -> bool:
    """Whether someone accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def stops_listening(port: int, *, within_s: float = 10.0) -> bool:
    """Wait until nobody accepts connections there."""
    give_up_at = time.monotonic() + within_s
    while time.monotonic() < give_up_at:
        if not is_listening(port):
            return True
        time.sleep(0.05)
    return False


def judge_port(judge: PracticeJudge) -> int:
    """Port of the endpoint."""
    return int(judge.base_url.split(":")[2].removesuffix("/v1"))


def test_ports_are_announced_in_a_file(tmp_path: Path) -> None:
    """Two different free ports, both answering, as soon as the file is there."""
    announcement = tmp_path / "ports.json"
    process = subprocess.Popen([*COMMAND, "--port", "0", "--control-port", "0", "--announce", str(announcement)])
    try:
        give_up_at = time.monotonic() + 30
        while not announcement.exists() and time.monotonic() < give_up_at:
            time.sleep(0.02)
        ports = json.loads(announcement.read_text(encoding="utf-8"))
        assert ports["pid"] == process.pid
        assert ports["port"] != ports["control_port"]
        assert is_listening(ports["port"])
        assert is_listening(ports["control_port"])
        assert [path.name for path in tmp_path.iterdir()] == ["ports.json"]
    finally:
        process.terminate()
        assert process.wait(10) in (0, -signal.SIGTERM)
    assert not is_listening(ports["port"])


def test_ports_are_printed_without_a_file() -> None:
    """For someone who starts it by hand; Ctrl-C ends it without a traceback."""
    process = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ports = json.loads(process.stdout.readline())
    assert is_listening(ports["port"])
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert errors == ""


def test_context_ends_the_process_and_collects_it() -> None:
    """No process and no zombie is left."""
    with PracticeJudge() as judge:
        pid, port = judge.pid, judge_port(judge)
        assert is_listening(port)
    assert not is_listening(port)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def test_context_ends_the_process_when_the_block_fails() -> None:
    """An error inside passes through, the process does not stay."""
    with contextlib.suppress(KeyError), PracticeJudge() as judge:
        port = judge_port(judge)
        raise KeyError
    assert not is_listening(port)


def test_process_ends_in_order_while_a_call_hangs(capfd: pytest.CaptureFixture[str]) -> None:
    """A call that gets no reply does not keep the judge alive, and nothing is written about it."""
    with PracticeJudge() as judge:
        judge.set(hang=True)
        caller = socket.create_connection(("127.0.0.1", judge_port(judge)))
        caller.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        started = time.monotonic()
    caller.close()
    assert time.monotonic() - started < 4
    assert capfd.readouterr().err == ""


def test_process_ends_when_its_parent_is_killed() -> None:
    """Even by kill -9, when no code of the parent runs any more."""
    code = (
        "import time; from evaluator.judges.practice.control import PracticeJudge\n"
        "with PracticeJudge() as judge:\n"
        "    print(judge.base_url, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent.stdout as printed:
        port = int(printed.readline().split(":")[2].removesuffix("/v1\n"))
    assert is_listening(port)
    parent.kill()
    parent.wait()
    assert stops_listening(port)


def test_process_whose_parent_is_gone_already_ends_at_once() -> None:
    """A parent that dies while the judge starts is noticed too."""
    process = subprocess.Popen([*COMMAND, "--parent-pid", str(os.getpid() + 1)], stdout=subprocess.DEVNULL)
    assert process.wait(15) == 0


def test_judge_that_cannot_start_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The code it ended with is in the message."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(JudgewatchError, match="ended at its start with code 1"), PracticeJudge():
        pytest.fail("it must not start")


def test_killed_judge_is_an_error_for_whoever_asks_it() -> None:
    """The message says which process, and the context still ends cleanly."""
    with PracticeJudge() as judge:
        os.kill(judge.pid, signal.SIGKILL)
        assert stops_listening(judge_port(judge))
        with pytest.raises(JudgewatchError, match=f"process {judge.pid}\\) does not answer"):
            judge.state()
