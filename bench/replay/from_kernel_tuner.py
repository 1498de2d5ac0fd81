#!/usr/bin/env python3
"""Turns a cache file of Kernel Tuner (NAME.json or NAME.json.gz) into a sweep table for `./dev replay`.

  from_kernel_tuner.py CACHE.json.gz PROBLEM DEVICE > table.csv

Times are the cache's, in nanoseconds; what was invalid there is a rejected row. The table has no guesses of a style and
no estimates, because there is no style. Values that are no integers are numbered in their order.
"""

import gzip
import json
import sys

COLUMNS = ("origin,status,reason,time_ns,low_ns,high_ns,samples,paired_ns,reference,estimate,build_ms,registers,"
           "spill_bytes,shared_bytes")


def read(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        text = file.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError:  # of a tuner that was stopped: the end is missing
        return json.loads(text.rstrip().rstrip(",") + "}}")


def main(path, problem, device):
    cache = read(path)["cache"].values()
    first = next(iter(cache))
    # Tunables come before everything that was measured.
    names = list(first)[: list(first).index("time")]
    numbers = {name: {value: i for i, value in enumerate(sorted({str(row[name]) for row in cache}))} for name in names}
    device_facts = {
        "format": 1, "record": "device_facts", "id": device, "target": "recorded", "name": device, "driver": "",
        "kind": 2, "compute_units": 1, "max_block_items": 1024, "shared_bytes_per_block": 0, "memory_bytes": 0,
        "last_level_cache_bytes": 0, "l2_cache_bytes": 0, "l1_cache_bytes": 0, "vector_floats": 1,
        "peak_f32_flops": 1.0, "peak_bytes": 1.0}
    for key, value in (("problem", problem), ("problem_id", problem), ("op", problem), ("axes", ""),
                       ("target", "recorded"), ("style", problem), ("bound_ns", 1e6),
                       ("device", json.dumps(device_facts))):
        if key == "problem":
            print("# kernelwright sweep 1")
        print(f"# {key} = {value}")
    print(COLUMNS + "," + ",".join(names))
    for row in cache:
        timed = isinstance(row["time"], (int, float)) and row["time"] < 1e19
        time = f"{row['time'] * 1e6:.9g}" if timed else ""
        status = "accepted," if timed else "rejected,build_failed"
        values = [row[name] if isinstance(row[name], int) else numbers[name][str(row[name])] for name in names]
        print(f"random,{status},{time},,,1,{time},0,1,0,,,," + ",".join(str(value) for value in values))


if __name__ == "__main__":
    main(*sys.argv[1:])
