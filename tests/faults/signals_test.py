#!/usr/bin/env python3
"""Ends runs with each signal that asks for it, and tries to go on with a run that another process still carries out.

usage: signals_test.py KERNELWRIGHT PROBLEM

Fails when a run that was asked to end leaves no report, when it cannot be resumed, or when a second process is not told
that the run is taken.
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile

from kill_and_resume_test import PATIENCE_SECONDS, archived_attempts, wait_until

MORE_THAN_ANYONE_WAITS = "100000c"


def start(command, out):
    """A run of this command with at least one attempt behind it."""
    before = len(archived_attempts(out))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(archived_attempts(out)) > before or process.poll() is not None, "an attempt")
    if process.poll() is not None:
        sys.exit(f"FAIL: the run ended by itself with {process.returncode}\n{process.stderr.read()}")
    return process


def end_with(process, number, out):
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    if process.returncode != 130:
        sys.exit(f"FAIL: {number.name} ended the run with {process.returncode}, not 130\n{stderr}")
    result = json.loads(stdout)
    report = out / result["run_id"] / "report.json"
    if result["status"] != "interrupted" or not report.exists():
        sys.exit(f"FAIL: after {number.name} the run says {result['status']}, its report is at {report}")
    return result["run_id"]


def refuse_second(command):
    second = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            timeout=PATIENCE_SECONDS, check=False)
    if second.returncode != 2 or "is going on in another process [run.in_progress]" not in second.stderr:
        sys.exit(f"FAIL: the second process ended with {second.returncode}\n{second.stderr}")


def main():
    tool, problem = sys.argv[1], sys.argv[2]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # not as nohup may have left it
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        command = [tool, "optimize", problem, "--budget", MORE_THAN_ANYONE_WAITS, "--out", folder, "--json"]
        ids = set()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = start(command + (["--resume"] if ids else []), out)
            refuse_second(command + ["--resume"])
            ids.add(end_with(process, number, out))
            print(f"{number.name}: a report after {len(archived_attempts(out))} attempts")
        if len(ids) != 1:
            sys.exit(f"FAIL: one run was resumed, and these are {ids}")
        done = archived_attempts(out)
        if done != list(range(len(done))):
            sys.exit(f"FAIL: the archive holds {done}")
    print("PASS")


if __name__ == "__main__":
    main()
