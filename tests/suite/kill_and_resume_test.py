#!/usr/bin/env python3
"""Kills a suite with SIGKILL at random instants, goes on with it, and checks that nothing is lost.

usage: kill_and_resume_test.py KERNELWRIGHT [SEED]

Fails when the state cannot be read after a kill, when a problem that was over is begun again, when the archive
does not hold one run for each problem, or when the suite does not end with all problems solved.
"""

import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from modules import MODULES, write_modules

GOALS = (0, 0, 1, 1, 2)  # problems that are over before each kill
LONGEST_SECONDS = 6
PATIENCE_SECONDS = 300
OVER = {"solved", "unsolved", "unscorable", "failed"}


def rows(out):
    state = out / "suite.json"
    return {row["name"]: row for row in json.loads(state.read_text())["rows"]} if state.exists() else {}


def wait_until_over(process, out, goal):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while sum(row["status"] in OVER for row in rows(out).values()) < goal and process.poll() is None:
        if time.monotonic() > deadline:
            sys.exit(f"FAIL: waited {PATIENCE_SECONDS} s for {goal} problems")
        time.sleep(0.02)  # a poll, with the deadline above


def check_kept(before, after):
    for name, row in before.items():
        if row["status"] in OVER and after[name] != row:
            sys.exit(f"FAIL: {name} was over and changed:\n{row}\n{after[name]}")


def main():
    tool = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write_modules(root)
        out = root / "out"
        command = [tool, "suite", str(root / "level1"), "--budget-per-problem", "4c", "--out", str(out)]
        before = {}
        for goal in GOALS:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until_over(process, out, goal)
            time.sleep(rng.random() * LONGEST_SECONDS)  # the instant: what the test is about
            process.send_signal(signal.SIGKILL)
            process.wait()
            after = rows(out)
            check_kept(before, after)
            print("killed with", {name: row["status"] for name, row in after.items()})
            before = after or before
        resumed = ["--resume", str(out)] if before else command[2:]
        done = subprocess.run([tool, "suite"] + resumed + ["--json"], capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, check=False)
        if done.returncode != 0:
            sys.exit(f"FAIL: the suite ended with {done.returncode}\n{done.stderr}\n{done.stdout[-2000:]}")
        final = rows(out)
        check_kept(before, final)
        if sorted(row["status"] for row in final.values()) != ["solved"] * len(MODULES):
            sys.exit(f"FAIL: {final}")
        check_files(out, final, json.loads(done.stdout))
    print("PASS")


def check_files(out, final, printed):
    connection = sqlite3.connect(f"file:{out / 'archive.db'}?mode=ro", uri=True)
    attempts = dict(connection.execute("SELECT run_id, count(*) FROM attempts GROUP BY run_id"))
    runs = [row[0] for row in connection.execute("SELECT id FROM runs")]
    connection.close()
    if sorted(runs) != sorted(row["run_id"] for row in final.values()):
        sys.exit(f"FAIL: the archive holds the runs {runs}, not one for each problem")
    for row in final.values():
        if attempts.get(row["run_id"]) != row["used"]["candidates"]:
            sys.exit(f"FAIL: {row['name']} has {attempts.get(row['run_id'])} attempts: {row}")
        if not (out / row["run_id"] / "report.html").exists():
            sys.exit(f"FAIL: {row['name']} has no report")
    results = json.loads((out / "eval_results.json").read_text())
    if sorted(results) != ["1", "2", "3"] or not all(one[0]["correctness"] for one in results.values()):
        sys.exit(f"FAIL: eval_results.json holds {results}")
    if printed["figures"]["counts"] != {"solved": len(MODULES)}:
        sys.exit(f"FAIL: the final object counts {printed['figures']['counts']}")


if __name__ == "__main__":
    main()
