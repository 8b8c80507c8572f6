"""Long work ends at Ctrl-C, lets other threads run, and shows how far it is."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import candor

SEARCH = """
import candor, sys
candor.show_progress(False)
print("begun", flush=True)
try:
    candor.pareto(normal_prior=12, method="evolve", generations=2_000_000)
except KeyboardInterrupt:
    print("ended")
"""


def test_an_interruption_ends_it() -> None:
    process = subprocess.Popen([sys.executable, "-c", SEARCH], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == "ended\n"


def test_other_threads_run() -> None:
    ticks = 0
    over = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    candor.pareto(normal_prior=8, method="evolve", generations=300, polish=False, points=3)
    over.set()
    thread.join()
    assert ticks > 5


def test_progress_is_shown(monkeypatch) -> None:
    """By a bar that is told what is counted, and closed."""
    import tqdm.auto

    class Bar:
        told: list[object] = []  # noqa: RUF012

        def __init__(self, total, unit, **_) -> None:
            self.n, self.total = 0, total
            Bar.told.append(unit)

        def refresh(self) -> None:
            Bar.told.append(self.n)

        def close(self) -> None:
            Bar.told.append("closed")

    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    from candor.progress import Bar as Shown

    with Shown() as tell:
        tell("records", 5, 10)
        tell("records", 9, 10)
    assert Bar.told == [" records", 5, 9, "closed"]
    candor.show_progress(False)
    with Shown() as tell:
        assert tell is None
    candor.show_progress(True)
