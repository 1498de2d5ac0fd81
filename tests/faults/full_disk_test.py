#!/usr/bin/env python3
"""Fills the disk of a run while it goes on, makes room again, and resumes the run.

usage: full_disk_test.py KERNELWRIGHT PROBLEM

Fails when the run does not say that the disk is full, when the kernel that it calls safe is none, when the archive is
damaged, or when the resumed run does not end with all its candidates. The disk is a file system in memory, in a name space
of its own. Where none can be made, it says SKIP and ends with 77.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from kill_and_resume_test import PATIENCE_SECONDS, archived_attempts, wait_until

CANDIDATES = 6
DISK = "size=16m"
SKIPPED = 77
INSIDE = "--inside"


def fill(path):
    with open(path, "wb", buffering=0) as filler:
        for bytes_at_once in (1 << 16, 1 << 10, 1):
            try:
                while filler.write(b"x" * bytes_at_once):
                    pass
            except OSError:
                pass


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS,
                          check=False)


def try_disk(tool, problem, out):
    command = [tool, "optimize", problem, "--out", str(out), "--json", "--budget"]
    process = subprocess.Popen([*command, "100000c"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(archived_attempts(out)) > 1 or process.poll() is not None, "two attempts")
    filler = out / "filler"
    fill(filler)
    _, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    print(stderr[-600:])
    if process.returncode != 3 or "disk_full]" not in stderr:
        sys.exit(f"FAIL: on a full disk the run ended with {process.returncode}")
    safe = re.search(r"the best kernel so far is safe at (\S+)", stderr)
    if not safe or run([tool, "verify", problem, safe.group(1)]).returncode != 0:
        sys.exit("FAIL: the kernel that is safe does not verify")
    before = len(archived_attempts(out))
    filler.unlink()
    resumed = run([*command, f"{before + CANDIDATES}c", "--resume"])
    if resumed.returncode != 0:
        sys.exit(f"FAIL: the resumed run ended with {resumed.returncode}\n{resumed.stderr}")
    done = archived_attempts(out)
    checked = run([tool, "archive", "check", "--out", str(out)])
    used = json.loads(resumed.stdout)["budget"]["used"]["candidates"]
    if checked.returncode != 0 or done != list(range(before + CANDIDATES)) or used != len(done):
        sys.exit(f"FAIL: {before} attempts before, {done} in the archive, {used} counted\n{checked.stdout}")
    print(f"PASS: full after {before} attempts")


def main():
    if sys.argv[1] == INSIDE:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["mount", "-t", "tmpfs", "-o", DISK, "none", folder], check=True)
            try:
                try_disk(sys.argv[2], sys.argv[3], pathlib.Path(folder))
            finally:
                subprocess.run(["umount", "-l", folder], check=True)
        return
    if run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", tempfile.gettempdir()]).returncode != 0:
        print("SKIP: this user may not mount a file system, even in a name space")
        sys.exit(SKIPPED)
    os.execvp("unshare", ["unshare", "-rm", sys.executable, "-B", __file__, INSIDE, *sys.argv[1:]])


if __name__ == "__main__":
    main()
