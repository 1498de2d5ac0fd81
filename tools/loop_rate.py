#!/usr/bin/env python3
"""How fast the loop is: candidates a minute, the first verified best, and where the time went.

    loop_rate.py KERNELWRIGHT [--gpu [--types]] [--times N] [--budget 30s] [--only NAME] [--keep-builds]

Each case is a run of `optimize` with an empty archive, and without builds of earlier runs; with --keep-builds the runs
of one call have those of each other. --times repeats all cases in turn. Without --gpu the two sizes of
a processor are run, with it three of a GPU; with --types these in the other types as well. Prints one row per run as a table, its largest stages and what they did below it, and the
processor time that the run took with all it started: on a busy machine that and the shares are what compares.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

AXES = ["B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"]


def case(name, problem, target, sizes, aim):
    """`sizes`: batch, heads, length, head size. `aim`: candidates a minute, seconds to the first verified best."""
    batch, heads, length, head = sizes
    return {"name": name, "problem": problem, "target": target, "aim": aim,
            "axes": dict(zip(AXES, [batch, heads, heads, length, length, head, head]))}  # fmt: skip


PROCESSOR = [
    case("B1 H4 S512 D64 f32", "attention/alibi", "opencl", (1, 4, 512, 64), (150, 4)),
    case("B1 H8 S1024 D64 f32", "attention/alibi", "opencl", (1, 8, 1024, 64), (60, 4)),
]
PROBLEMS = {"f32": "attention/alibi", "f16": "attention/causal_f16", "bf16": "attention/causal_bf16"}
GPU_SIZES = [
    ("B1 H8 S1024 D64", (1, 8, 1024, 64), (300, 10), "f16"),
    ("B4 H16 S4096 D128", (4, 16, 4096, 128), (60, 10), "bf16"),
    ("B16 H16 S8192 D64", (16, 16, 8192, 64), (20, 10), "f16"),
]
GPU = [case(f"{name} {own}", PROBLEMS[own], "cuda", sizes, aim) for name, sizes, aim, own in GPU_SIZES]
OTHER_TYPES = [case(f"{name} {dtype}", problem, "cuda", sizes, aim)
               for name, sizes, aim, own in GPU_SIZES for dtype, problem in PROBLEMS.items() if dtype != own]  # fmt: skip


def command(kernelwright, one, budget, out):
    sets = [word for axis, extent in one["axes"].items() for word in ("--set", f"{axis}={extent}")]
    return [kernelwright, "optimize", one["problem"], "--target", one["target"], *sets, "--budget", budget, "--out", out,
            "--json"]  # fmt: skip


def seconds_of(progress, pattern):
    """The time of the first line of progress that matches behind it; None without one."""
    found = re.search(rf"^ *([0-9.]+) s  {pattern}", progress, re.MULTILINE)
    return float(found.group(1)) if found else None


def figures(report, progress):
    """Of one run: what it printed with --json, and its progress."""
    used = report["budget"]["used"]
    stages = {}
    for use in report["time"]["uses"]:
        stages[use["stage"]] = stages.get(use["stage"], 0) + use["seconds"]
    best = report.get("best") or {}
    return {"candidates": used["candidates"], "wall": used["wall_seconds"],
            "rate": 60 * used["candidates"] / used["wall_seconds"] if used["wall_seconds"] else 0,
            "search": seconds_of(progress, "searching"), "first": seconds_of(progress, "best "),
            "best_ms": best["time_ns"] / 1e6 if best.get("time_ns") else None,
            "stages": sorted(stages.items(), key=lambda stage: -stage[1]),
            "uses": sorted(report["time"]["uses"], key=lambda use: -use["seconds"]),
            "beside": report["time"].get("beside_seconds") or 0,
            "found": report["time"].get("found_builds") or 0}  # fmt: skip


def shown(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def rows(one, got, processor_seconds):
    """The lines of a run."""
    rate, first = one["aim"]
    whole = sum(seconds for _, seconds in got["stages"]) or 1
    largest = ", ".join(f"{use['activity']} in {use['stage']} {use['seconds']:.1f} s" for use in got["uses"][:9])
    shares = ", ".join(f"{name} {100 * seconds / whole:.0f} %" for name, seconds in got["stages"][:7])
    return [
        f"| {one['name']} | {got['rate']:.0f} (aim {rate}) | {shown(got['first'])} s (aim {first}) | {shown(got['search'])} s"
        f" | {got['candidates']} in {got['wall']:.1f} s | {shown(got['best_ms'], 3)} ms | {processor_seconds:.1f} s |",
        f"    {shares}; {got['beside']:.1f} s beside; {got['found']} builds found as kept",
        f"    {largest}",
    ]


def run(kernelwright, one, budget, builds=None):
    """Report, progress and processor seconds of one run; ends the program where it printed no report. `builds`: the
    folder of earlier runs' builds, by default one of its own."""
    with tempfile.TemporaryDirectory(prefix="kw-loop-rate-") as out:
        environment = os.environ | {"KERNELWRIGHT_BUILD_CACHE": builds or os.path.join(out, "builds")}
        with open(os.path.join(out, "progress"), "w+") as progress, open(os.path.join(out, "report"), "w+") as report:
            child = subprocess.Popen(command(kernelwright, one, budget, out), stdout=report, stderr=progress,
                                     env=environment)  # fmt: skip
            _, _, usage = os.wait4(child.pid, 0)
            child.returncode = 0  # it was waited for
            progress.seek(0)
            report.seek(0)
            said, text = progress.read(), report.read()
    if not text.strip():
        sys.exit(f"{one['name']}: no report\n{said}")
    return json.loads(text), said, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernelwright")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--types", action="store_true", help="of a GPU: the other types at its sizes, too")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--budget")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--keep-builds", action="store_true", help="runs of this call use each other's builds")
    options = parser.parse_args()
    if options.types and not options.gpu:
        parser.error("--types takes --gpu: on a processor both sizes have one type")
    cases = GPU + OTHER_TYPES * options.types if options.gpu else PROCESSOR
    print("| case | candidates a minute | first verified best | search begins | in all | best | processor time |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    budget = options.budget or ("60s" if options.gpu else "30s")
    chosen = [one for one in cases if options.only in one["name"]]
    with tempfile.TemporaryDirectory(prefix="kw-loop-rate-builds-") as builds:
        for one in chosen * options.times:
            report, progress, seconds = run(options.kernelwright, one, budget, builds if options.keep_builds else None)
            print("\n".join(rows(one, figures(report, progress), seconds)), flush=True)


if __name__ == "__main__":
    main()
