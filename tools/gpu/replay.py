#!/usr/bin/env python3
"""Launches one built kernel on random data, for tools that watch a process: compute-sanitizer, Nsight Compute.

    kernelwright build PROBLEM BUNDLE --device cuda:0 --json --binary k.cubin > k.json
    compute-sanitizer --tool memcheck python3 tools/gpu/replay.py k.json k.cubin     (also racecheck, initcheck, synccheck)
    ncu --set full python3 tools/gpu/replay.py k.json k.cubin

Runs outside kernelwright's sandbox: only for kernels that were verified. Captured tensors are filled with zeros, other
floating-point inputs with small numbers, outputs and scratch with NaN; nothing is compared.
"""

import argparse
import array
import json
import pathlib
import random
import struct

from launcher import Driver, Kernel

OPERANDS = ("Q", "K", "V")
DISTINCT = 4096


def contents(buffer):
    size, dtype = buffer["bytes"], buffer["dtype"]
    if buffer["role"] != "input":
        return b"\xff" * size
    if buffer["name"] not in OPERANDS or dtype not in ("f32", "f16", "bf16"):
        return bytes(size)
    numbers = [random.gauss(0, 1) for _ in range(DISTINCT)]
    if dtype == "f32":
        pattern = array.array("f", numbers).tobytes()
    elif dtype == "f16":
        pattern = struct.pack(f"<{DISTINCT}e", *numbers)
    else:
        pattern = b"".join(struct.pack("<f", number)[2:] for number in numbers)
    return (pattern * (size // len(pattern) + 1))[:size]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=pathlib.Path)
    parser.add_argument("cubin", type=pathlib.Path)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--launches", type=int, default=1)
    options = parser.parse_args()
    plan = json.loads(options.plan.read_text())["workloads"][0]["plan"]
    driver = Driver()
    driver.use_device(options.device)
    addresses = []
    for buffer in plan["buffers"]:
        addresses.append(driver.allocate(buffer["bytes"]))
        driver.upload(addresses[-1], contents(buffer))
    kernel = Kernel(driver, options.cubin.read_bytes(), plan, addresses)
    for _ in range(options.launches):
        kernel.launch()
    driver.synchronise()
    print(f"launched {', '.join(launch['kernel'] for launch in plan['launches'])} {options.launches} times")


if __name__ == "__main__":
    main()
