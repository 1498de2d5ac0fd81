#!/usr/bin/env python3
"""Flips a bit in a record of an archive that real runs made, and checks that the other runs stay usable.

usage: damaged_archive_test.py KERNELWRIGHT PROBLEM [SEED]
"""

import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PATIENCE_SECONDS = 120
ROUNDS = 4


def flip_one_bit(archive, rng):
    """In a record of the newest run; returns what it was."""
    connection = sqlite3.connect(archive)
    run = connection.execute("SELECT id FROM runs ORDER BY rowid DESC").fetchone()[0]
    table, key = rng.choice([("runs", "id"), ("attempts", "run_id")])
    rows = connection.execute(f"SELECT rowid, record FROM {table} WHERE {key} = ?", (run,)).fetchall()
    row, record = rng.choice(rows)
    damaged = bytearray(record.encode())
    at, bit = rng.randrange(len(damaged)), rng.randrange(8)
    damaged[at] ^= 1 << bit
    connection.execute(f"UPDATE {table} SET record = CAST(? AS TEXT) WHERE rowid = ?", (bytes(damaged), row))
    connection.commit()
    connection.close()
    print(f"run {run}, table {table}, row {row}, byte {at}, bit {bit}")
    return run


class Tool:
    def __init__(self, program, out):
        self.program, self.out = program, out

    def __call__(self, *words, status, says=(), out=None):
        command = [self.program, *words, "--out", str(out or self.out)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE_SECONDS, check=False)
        if done.returncode != status:
            sys.exit(f"FAIL: {command} ended with {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        for part in says:
            if part not in done.stdout + done.stderr:
                sys.exit(f"FAIL: {command} does not say {part!r}\n{done.stdout}{done.stderr}")
        return done.stdout


def exported_runs(text):
    lines = [json.loads(line) for line in text.splitlines()]
    runs = [line["id"] for line in lines if line["record"] == "run"]
    if {line["run_id"] for line in lines if line["record"] == "attempt"} != set(runs):
        sys.exit(f"FAIL: attempts of other runs than {runs}")
    return runs


def check_round(tool, problem, rng, whole):
    victim = flip_one_bit(tool.out / "archive.db", rng)
    expected = [run for run in whole if run != victim]
    tool("archive", "check", status=4, says=[victim, "kernelwright archive repair"])
    tool("show", "last", status=0, says=[f"is damaged and passed over: {victim}", expected[-1]])
    tool("show", victim, status=4, says=["archive.corrupt"])
    if exported_runs(tool("archive", "export", status=0)) != expected:
        sys.exit("FAIL: the export is not of the whole runs")
    optimized = json.loads(tool("optimize", problem, "--budget", "1c", "--json", status=0, says=[victim]))
    kept = json.loads(tool("archive", "repair", "--json", status=0))
    if kept["damaged_runs"] != [victim] or not pathlib.Path(kept["kept"]).exists():
        sys.exit(f"FAIL: the repair says {kept}")
    tool("archive", "check", status=0)
    aside = tool.out / "aside"
    aside.mkdir()
    shutil.copy(kept["kept"], aside / "archive.db")
    tool("archive", "check", status=4, says=[victim], out=aside)
    shutil.rmtree(aside)
    pathlib.Path(kept["kept"]).unlink()
    lines = tool.out / "runs.jsonl"
    tool("archive", "export", "--to", str(lines), status=0)
    return exported_runs(lines.read_text()), optimized["run_id"]


def main():
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(sys.argv[1], pathlib.Path(folder))
        for _ in range(2):
            tool("optimize", sys.argv[2], "--budget", "2c", status=0)
        whole = exported_runs(tool("archive", "export", status=0))
        for _ in range(ROUNDS):
            whole, newest = check_round(tool, sys.argv[2], rng, whole)
            if whole[-1] != newest:
                sys.exit(f"FAIL: {newest} is not the last of {whole}")
    print("PASS")


if __name__ == "__main__":
    main()
