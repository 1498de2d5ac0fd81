#!/usr/bin/env python3
"""Kills and stops the workers of a run while it goes on: the run ends with its budget, and its archive is whole.

usage: lost_workers_test.py KERNELWRIGHT PROBLEM

A killed worker costs at most the candidates that it had; the run goes on with new ones to its last candidate. A stopped
worker never answers: the run ends with its time all the same, and leaves no process behind.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from kill_and_resume_test import PATIENCE_SECONDS, alive, archived_attempts, descendants, wait_until

CANDIDATES = 8
ROUNDS = 3
WALL_SECONDS = 40
SLACK_SECONDS = 4.0


def name_of(pid):
    try:
        return pathlib.Path("/proc", str(pid), "comm").read_text().strip()
    except OSError:
        return ""


def signal_workers(process, number):
    """Those that there were; one may have ended meanwhile."""
    workers = [pid for pid in descendants(process.pid) if name_of(pid).startswith("kernelwright-wo")]
    for pid in workers:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    return workers


def run_through(tool, problem, budget, number, rounds):
    """Sends the signal to all workers, once for each of so many further attempts; what the run says at its end."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        began = time.monotonic()
        process = subprocess.Popen([tool, "optimize", problem, "--budget", budget, "--out", folder, "--json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        hit = set()
        for goal in range(1, rounds + 1):
            wait_until(lambda: len(archived_attempts(out)) >= goal or process.poll() is not None, f"{goal} attempts")
            hit.update(signal_workers(process, number))
        print(f"{number.name} to {len(hit)} workers after {rounds} attempts", flush=True)
        stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
        print(f"ended with {process.returncode} after {time.monotonic() - began:.1f} s", flush=True)
        if process.returncode != 0 or not hit:
            sys.exit(f"FAIL: after {number.name} to {len(hit)} workers the run ended with {process.returncode}\n{stderr}")
        wait_until(lambda: not any(alive(pid) for pid in hit), "the workers to end")
        checked = subprocess.run([tool, "archive", "check", "--out", folder], stdout=subprocess.PIPE, text=True,
                                 timeout=PATIENCE_SECONDS, check=False)
        done = archived_attempts(out)
        if checked.returncode != 0 or done != list(range(len(done))):
            sys.exit(f"FAIL: after {number.name} the archive holds {done}\n{checked.stdout}")
        return json.loads(stdout)


def main():
    tool, problem = sys.argv[1], sys.argv[2]
    killed = run_through(tool, problem, f"{CANDIDATES}c", signal.SIGKILL, ROUNDS)
    counted = killed["candidates"]
    if counted["proposed"] != CANDIDATES or counted["undecided"] > ROUNDS or killed["best"] is None:
        sys.exit(f"FAIL: with killed workers the run says {counted}")
    stopped = run_through(tool, problem, f"{WALL_SECONDS}s", signal.SIGSTOP, 1)
    if stopped["budget"]["used"]["wall_seconds"] > WALL_SECONDS + SLACK_SECONDS:
        sys.exit(f"FAIL: with stopped workers the run says {stopped['budget']}")
    print("PASS")


if __name__ == "__main__":
    main()
