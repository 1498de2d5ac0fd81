#!/usr/bin/env python3
"""KernelBench's problems on one GPU: prepares kernels, has them timed and verified, and writes the table.

    kernelbench.py FOLDER STEP... --problems KERNELBENCH --kernelwright PROGRAM [options]

Steps, each of which goes on where it stopped:
    prepare   FOLDER/kernels/L-N.{cu,cubin,json}: bundle, code and launch plan of every problem at its own size; no GPU
    time      FOLDER/times.csv: checked and timed by kernelbench_times.py, in processes that may crash
    gates     FOLDER/gates.csv: `kernelwright verify` at smaller sizes, several at once
    counters  FOLDER/kernels/L-N.ncu.txt: what Nsight Compute counts in one launch of each problem; choose few
    report    FOLDER/table.csv and page.md
"""

import argparse
import collections
import concurrent.futures
import csv
import datetime
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import time

import kernelbench_table
from kernelbench_workers import Share, Worker

# Dropout is random, and no answer can be compared with it; elsewhere this is the mode that a fresh module has.
MODE = "train_no_dropout"
SECONDS_TO_BUILD = 300
SECONDS_TO_TIME = 240
SECONDS_TO_VERIFY = 240
SECONDS_TO_COUNT = 90
SECTIONS = ["--section", "SpeedOfLight", "--section", "MemoryWorkloadAnalysis", "--section", "ComputeWorkloadAnalysis",
            "--section", "WarpStateStats", "--section", "Occupancy", "--section", "LaunchStats"]  # fmt: skip
TIMED = ["ours", "eager", "compiled", "autotuned"]
TIME_FIELDS = [
    "level", "problem", "status", "samples",
    *[f"{name}_{part}" for name in TIMED for part in ("ms", "q1", "q3")],
    "reference", "ours_error", "eager_error", "compiled_error", "ours_worst", "wrong", "wrong_to_eager", "repeats",
    "style", "precision", "launches", "seconds", "note",
]  # fmt: skip
GATE_FIELDS = ["level", "problem", "status", "gate", "reason", "gates_passed", "sanitized", "seconds", "note"]


class Problem:
    def __init__(self, level, path, folder):
        self.level = level
        self.path = path
        self.name = path.stem
        self.number = int(re.match(r"\d+", path.stem)[0])
        self.key = f"{level}-{self.number}"
        self.stem = folder / "kernels" / self.key

    def file(self, ending):
        return self.stem.with_name(self.key + ending)

    def row(self, **values):
        return {"level": self.level, "problem": self.name, **values}


def find_problems(root, folder, only=""):
    chosen = set(only.split(",")) if only else None
    problems = []
    for level in (1, 2):
        for path in (root / f"level{level}").glob("*.py"):
            problems.append(Problem(level, path, folder))
    problems.sort(key=lambda problem: (problem.level, problem.number))
    return [problem for problem in problems if chosen is None or problem.key in chosen]


class Rows:
    """A CSV file that is appended to; a row that a killed process left half is dropped."""

    def __init__(self, path, fields, retry=()):
        self.path, self.fields, self.lock = path, fields, threading.Lock()
        kept = [row for row in self.read() if None not in row.values() and row["status"] not in retry]
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept)
        self.done = {(int(row["level"]), row["problem"]) for row in kept}

    def read(self):
        if not self.path.exists():
            return []
        with open(self.path, newline="") as file:
            return list(csv.DictReader(file))

    def missing(self, problems):
        return [problem for problem in problems if (problem.level, problem.name) not in self.done]

    def add(self, row):
        with self.lock, open(self.path, "a", newline="") as file:
            csv.DictWriter(file, self.fields, restval="", lineterminator="\n").writerow(row)


def one_line(text, most=200):
    lines = [line.strip() for line in str(text).strip().splitlines() if line.strip()]
    return " ".join(lines)[:most]


# ---- prepare


def run(command, seconds, **options):
    """(exit status, stdout, stderr); a status of None where it took too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, **options)
    except subprocess.TimeoutExpired:
        return None, "", f"took longer than {seconds} s"
    return done.returncode, done.stdout, done.stderr


def reading(options):
    """How a module's file is to be read."""
    return ["--mode", MODE, "--precision", options.precision]


def constants_of(problem, plan, options):
    """{name: number} of the tensors that forward() itself makes and kernels read."""
    if not any(buffer["name"].startswith("constant_") for buffer in plan["buffers"]):
        return {}
    explained = json.loads(run([options.kernelwright, "explain", problem.path, *reading(options), "--json"], SECONDS_TO_BUILD)[1])
    said = {one["name"]: re.fullmatch(r"constant\((.+)\)", one["distribution"] or "") for one in explained["parameters"]}
    return {name: float(rule[1]) for name, rule in said.items() if rule and name.startswith("constant_")}


def prepare(problem, options):
    """Writes bundle, plan and code, or why there is none."""
    if problem.file(".json").exists() or problem.file(".failed").exists():
        return
    where = ["--device", options.emit_for]
    why = ""
    for style in dict.fromkeys([options.style, "plain"]):
        emit = [options.kernelwright, "emit", problem.path, "--target", "cuda", *where, "--style", style, *reading(options)]
        status, text, errors = run(emit, SECONDS_TO_BUILD)
        if status == 0:
            problem.file(".cu").write_text(text)
            build = [options.kernelwright, "build", problem.path, problem.file(".cu"), *where, *reading(options),
                     "--binary", problem.file(".cubin"), "--json"]  # fmt: skip
            status, text, errors = run(build, SECONDS_TO_BUILD)
        if status == 0:
            workload = json.loads(text)["workloads"][0]
            kept = {"style": style, "precision": options.precision, "note": why, "plan": workload["plan"],
                    "kernels": workload["kernels"],
                    "constants": constants_of(problem, workload["plan"], options)}  # fmt: skip
            problem.file(".json").write_text(json.dumps(kept))
            return
        why += f"{style}: {one_line(errors or text)}; "
    problem.file(".failed").write_text(why)


def prepare_all(problems, options):
    (options.folder / "kernels").mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda problem: options.time_left() > 0 and prepare(problem, options), problems))
    ready = sum(problem.file(".json").exists() for problem in problems)
    failed = sum(problem.file(".failed").exists() for problem in problems)
    say(options, f"{ready} of {len(problems)} problems have a kernel, {failed} have none")


# ---- time


def input_bytes(plan):
    return sum(buffer["bytes"] for buffer in plan["buffers"] if buffer["role"] == "input")


def task_of(problem, kept):
    return {"path": str(problem.path.resolve()), "cubin": str(problem.file(".cubin").resolve()), "plan": kept["plan"],
            "constants": kept["constants"]}  # fmt: skip


def time_one(problem, worker, seconds):
    kept = json.loads(problem.file(".json").read_text())
    started = time.monotonic()
    answer = worker.ask(task_of(problem, kept), seconds)
    note = one_line(" ".join(part for part in (kept["note"], answer.pop("note", "")) if part))
    return problem.row(style=kept["style"], precision=kept["precision"], launches=len(kept["plan"]["launches"]), note=note,
                       seconds=f"{time.monotonic() - started:.1f}", **answer)  # fmt: skip


def time_all(problems, options):
    rows = Rows(options.folder / "times.csv", TIME_FIELDS, options.retry)
    missing = rows.missing(problems)
    for problem in list(missing):
        if not problem.file(".json").exists():
            missing.remove(problem)
            if problem.file(".failed").exists():
                rows.add(problem.row(status="no kernel", note=one_line(problem.file(".failed").read_text())))
    # A run that is cut off has then measured some of everything.
    random.Random(1).shuffle(missing)
    memory = Share(options.input_bytes)
    queue = iter(missing)
    taking = threading.Lock()
    command = [sys.executable, "-u", *options.times_program] + ["--autotune"] * options.autotune

    def work():
        worker = None
        while options.time_left() > 0:
            with taking:
                problem = next(queue, None)
            if problem is None:
                break
            size = input_bytes(json.loads(problem.file(".json").read_text())["plan"])
            memory.take(size)
            if worker is None or worker.over:
                worker = Worker(options.worker or command)
            seconds = min(SECONDS_TO_TIME, options.time_left() + options.grace)
            row = time_one(problem, worker, seconds)
            memory.give(size)
            if row["status"] == "late" and seconds < SECONDS_TO_TIME:
                break  # it had not its time; the next call tries again
            rows.add(row)
            say(options, f"{problem.key:<6} {row['status']:<9} {row.get('ours_ms', '')} {row.get('note', '')[:90]}")
        if worker is not None:
            worker.close("", "")

    run_beside(work, min(options.jobs, max(1, len(missing))))
    say(options, f"timed: {len(rows.read())} of {len(problems)}")


def run_beside(work, count):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(work) for _ in range(count)]:
            future.result()


class Clocks(threading.Thread):
    """What nvidia-smi says before the steps and every few seconds during them."""

    QUERY = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.limit,power.draw,temperature.gpu"

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.stopped = path, threading.Event()

    def run(self):
        while True:
            now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            try:
                line = run(["nvidia-smi", f"--query-gpu={self.QUERY}", "--format=csv,noheader"], 20)[1].splitlines()[0]
            except (OSError, IndexError):
                return
            with open(self.path, "a") as file:
                file.write(f"{now}, {line}\n")
            if self.stopped.wait(10):
                return


# ---- gates


def tools_that_ended(text):
    """Of compute-sanitizer, those that came to their end on every workload; on a busy machine some do not start."""
    found = re.findall(r"sanitize: \w+: no finding \(compute-sanitizer[^:]*: ([\w, ]+)\)", text)
    return " ".join(sorted(set.intersection(*[set(tools.split(", ")) for tools in found]))) if found else ""


def verdict_row(status, text, errors):
    """What `verify` said; where it said nothing, why."""
    lines = text.splitlines()
    verdict = lines[-1].removesuffix(", but not sanitized") if lines else ""
    if status is None or verdict not in ("accepted", "rejected", "unverified"):
        unscorable = "[verify.unscorable]" in errors
        status = "late" if status is None else "unscorable" if unscorable else "failed"
        return {"status": status, "note": one_line(errors or text)}
    row = {"status": verdict, "note": ""}
    row["gates_passed"] = " ".join(line.split()[1] for line in lines if re.match(r"pass +\w+$", line))
    row["sanitized"] = tools_that_ended(text)
    for line in lines:
        failed = re.match(r"FAIL +(\w+): (\w+): (.*)", line)
        if failed:
            row |= {"gate": failed[1], "reason": failed[2], "note": one_line(failed[3])}
    return row


def verify(problem, options):
    command = [options.kernelwright, "verify", problem.path, problem.file(".cu"), "--device", options.device,
               "--no-profile", *reading(options), "--fit", options.fit]  # fmt: skip
    started = time.monotonic()
    seconds = min(SECONDS_TO_VERIFY, options.time_left() + options.grace)
    status, text, errors = run(command, seconds)
    if status is None and seconds < SECONDS_TO_VERIFY:
        return None
    problem.file(".verify.txt").write_text(text + errors)
    return problem.row(seconds=f"{time.monotonic() - started:.1f}", **verdict_row(status, text, errors))


def verify_all(problems, options):
    rows = Rows(options.folder / "gates.csv", GATE_FIELDS, options.retry)
    missing = [problem for problem in rows.missing(problems) if problem.file(".cu").exists()]
    random.Random(1).shuffle(missing)

    def work(problem):
        row = verify(problem, options) if options.time_left() > 0 else None
        if row is not None:
            rows.add(row)
            say(options, f"{problem.key:<6} {row['status']} {row.get('gate', '')} {row.get('reason', '')} {row['note'][:90]}")

    with concurrent.futures.ThreadPoolExecutor(options.gate_jobs) as pool:
        list(pool.map(work, missing))
    say(options, f"verified: {len(rows.read())} of {len(problems)}")


# ---- counters


def count(problem, options):
    """Nsight Compute's counters of one launch at the problem's own size, in KEY.ncu.txt."""
    kept = json.loads(problem.file(".json").read_text())
    names = "|".join(sorted({launch["kernel"] for launch in kept["plan"]["launches"]}))
    command = ["ncu", "--clock-control", "none", "--kernel-name", f"regex:^({names})$", *SECTIONS, sys.executable,
               *options.times_program, "--once"]  # fmt: skip
    _, text, errors = run(command, SECONDS_TO_COUNT, input=json.dumps(task_of(problem, kept)))
    problem.file(".ncu.txt").write_text(text + errors)


def count_all(problems, options):
    for problem in problems:
        if options.time_left() > 0 and problem.file(".json").exists() and not problem.file(".ncu.txt").exists():
            count(problem, options)
            say(options, f"{problem.key:<6} counted")


# ---- the command


def say(options, text):
    print(f"{time.monotonic() - options.started:5.0f} s  {text}", flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("steps", nargs="+", choices=list(STEPS), metavar="STEP")
    parser.add_argument("--problems", type=pathlib.Path, required=True)
    parser.add_argument("--kernelwright", required=True)
    parser.add_argument("--style", default="fused")
    parser.add_argument("--emit-for", default="h200")
    parser.add_argument("--precision", default="strict", help="strict, tf32_convolutions or tf32")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--fit", default="2e6")
    parser.add_argument("--only", default="", help="1-23,2-39")
    parser.add_argument("--retry", type=lambda text: text.split(","), default=[], help="rows of these statuses: failed,late")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) * 3 // 4))
    parser.add_argument("--gate-jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--grace", type=float, default=25, help="seconds that what is under way may still take")
    parser.add_argument("--input-bytes", type=float, default=30e9, help="of the problems at work at once")
    parser.add_argument("--facts", type=pathlib.Path)
    parser.add_argument("--autotune", action="store_true")
    parser.add_argument("--worker", nargs="+", help="in the place of kernelbench_times.py")
    options = parser.parse_args(arguments)
    program = pathlib.Path(__file__).with_name("kernelbench_times.py")
    options.times_program = [str(program), "--lock", str(options.folder / "gpu.lock")]
    if options.precision == "tf32":
        options.times_program.append("--allow-tf32")
    options.started = time.monotonic()
    options.time_left = lambda: options.started + options.seconds - time.monotonic()
    return options


def report(problems, options):
    counts = collections.Counter(problem.level for problem in problems)
    kernelbench_table.write(options.folder, counts, options.facts)


STEPS = {"prepare": prepare_all, "time": time_all, "gates": verify_all, "counters": count_all, "report": report}


def main(arguments=None):
    options = parse(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    problems = find_problems(options.problems, options.folder, options.only)
    clocks = Clocks(options.folder / "clocks.csv")
    if "time" in options.steps:
        clocks.start()
    for step in options.steps:
        STEPS[step](problems, options)
    clocks.stopped.set()


if __name__ == "__main__":
    main()
