#!/usr/bin/env python3
"""Two runs at once on one archive: each has all its attempts, and the archive is whole.

usage: two_runs_test.py KERNELWRIGHT PROBLEM
"""

import json
import subprocess
import sys
import tempfile

PATIENCE_SECONDS = 240
CANDIDATES = 3


def main():
    tool, problem = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "optimize", problem, "--budget", f"{CANDIDATES}c", "--out", folder, "--json"]
        both = [subprocess.Popen(command + ["--seed", seed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for seed in ("1", "2")]
        ids = set()
        for process in both:
            stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
            if process.returncode != 0:
                sys.exit(f"FAIL: a run ended with {process.returncode}\n{stderr}")
            ids.add(json.loads(stdout)["run_id"])
        checked = subprocess.run([tool, "archive", "check", "--out", folder, "--json"], stdout=subprocess.PIPE, text=True,
                                 timeout=PATIENCE_SECONDS, check=False)
        state = json.loads(checked.stdout)
        if checked.returncode != 0 or set(state["runs"]) != ids or state["attempts"] != 2 * CANDIDATES:
            sys.exit(f"FAIL: after the runs {ids} the archive holds {state}")
    print("PASS")


if __name__ == "__main__":
    main()
