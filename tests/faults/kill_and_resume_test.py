#!/usr/bin/env python3
"""Kills a run with SIGKILL at random instants, resumes it, and checks that nothing is lost and nothing counted twice.

usage: kill_and_resume_test.py KERNELWRIGHT PROBLEM [SEED]

Fails when attempts are not 0..N-1, when a candidate ran twice, when a worker outlives its host, or when the best kernel
of the finished run does not verify. The instants lie in the opening, in the search and in the final measurement.
"""

import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

CANDIDATES = 12
OPENING_KILLS = 2
SEARCH_KILLS = 3
OPENING_SECONDS = 4  # about as long as a run needs until its first attempt
FINAL_SECONDS = 1
PATIENCE_SECONDS = 120


def archived_attempts(out):
    """Ordinals in the archive, read as any other reader would."""
    archive = out / "archive.db"
    if not archive.exists():
        return []
    connection = sqlite3.connect(f"file:{archive}?mode=ro", uri=True, timeout=10)
    try:
        return [row[0] for row in connection.execute("SELECT ordinal FROM attempts ORDER BY ordinal")]
    except sqlite3.OperationalError:
        return []  # the schema is not there yet
    finally:
        connection.close()


def archived_runs(out):
    """Ids in the archive."""
    archive = out / "archive.db"
    if not archive.exists():
        return []
    connection = sqlite3.connect(f"file:{archive}?mode=ro", uri=True, timeout=10)
    try:
        return [row[0] for row in connection.execute("SELECT id FROM runs")]
    except sqlite3.OperationalError:
        return []  # the schema is not there yet
    finally:
        connection.close()


def descendants(pid):
    """All processes below pid, as /proc shows them."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def alive(pid):
    try:
        return pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"FAIL: waited {PATIENCE_SECONDS} s for {what}")
        time.sleep(0.02)  # a poll, with the deadline above


def kill(process):
    """SIGKILL; returns when the processes below it are gone as well."""
    workers = descendants(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not any(alive(pid) for pid in workers), "the killed run's workers to end")
    return len(workers)


def start(command, out):
    """Goes on with the run, or begins it where none has come as far as the archive."""
    known = bool(archived_runs(out))
    return subprocess.Popen(command + (["--resume"] if known else []), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def kill_with_attempts(command, out, goal, seconds):
    """At an instant within so many seconds after the archive has `goal` attempts."""
    process = start(command, out)
    wait_until(lambda: len(archived_attempts(out)) >= goal or process.poll() is not None, f"{goal} attempts")
    if process.poll() is not None:
        sys.exit(f"FAIL: the run ended by itself with {process.returncode}")
    time.sleep(seconds)  # the instant: what the test is about
    workers = kill(process)
    done = archived_attempts(out)
    if done != list(range(len(done))) or len(done) < goal:
        sys.exit(f"FAIL: the archive holds {done}, {goal} were seen")
    print(f"killed with {len(done)} attempts archived, {workers} worker processes gone")


def main():
    tool, problem = sys.argv[1], sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        command = [tool, "optimize", problem, "--budget", f"{CANDIDATES}c", "--seed", "3", "--out", str(out), "--json"]
        for _ in range(OPENING_KILLS):
            kill_with_attempts(command, out, 0, rng.random() * OPENING_SECONDS)
        for _ in range(SEARCH_KILLS):
            goal = min(len(archived_attempts(out)) + rng.randrange(1, 4), CANDIDATES - 1)
            kill_with_attempts(command, out, goal, rng.random() * 0.5)
        kill_with_attempts(command, out, CANDIDATES, rng.random() * FINAL_SECONDS)
        finished = subprocess.run(command + ["--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=PATIENCE_SECONDS, check=False)
        if finished.returncode != 0:
            sys.exit(f"FAIL: the resumed run ended with {finished.returncode}\n{finished.stderr}")
        result = json.loads(finished.stdout)
        check_archive(out, result)
        verified = subprocess.run([tool, "verify", problem, result["best"]["bundle_path"]], stdout=subprocess.PIPE,
                                  text=True, timeout=PATIENCE_SECONDS, check=False)
        if verified.returncode != 0:
            sys.exit(f"FAIL: the best kernel does not verify\n{verified.stdout}")
    print("PASS")


def check_archive(out, result):
    done = archived_attempts(out)
    connection = sqlite3.connect(f"file:{out / 'archive.db'}?mode=ro", uri=True)
    runs = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    candidates = [row[0] for row in connection.execute("SELECT candidate FROM attempts")]
    connection.close()
    if runs != 1 or done != list(range(CANDIDATES)):
        sys.exit(f"FAIL: {runs} runs with attempts {done}, not one with {CANDIDATES}")
    if len(set(candidates)) != CANDIDATES:
        sys.exit("FAIL: a candidate ran twice")
    if result["candidates"]["proposed"] != CANDIDATES or result["budget"]["used"]["candidates"] != CANDIDATES:
        sys.exit(f"FAIL: the final object counts {result['candidates']} and {result['budget']}")


if __name__ == "__main__":
    main()
