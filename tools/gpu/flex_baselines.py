#!/usr/bin/env python3
"""Times prepared kernels interleaved with PyTorch's attention on one GPU.

    flex_baselines.py FOLDER --problems PROBLEMS [--seconds N] [--autotune] [--rounds N]

FOLDER/cases holds, per case, NAME.cubin, NAME.json (the launch plan, from `kernelwright build --json`) and
NAME.explain.json; NAME is PROBLEM-bB-hH-sS-dD-TYPE, with -gHKV-qSQ before the type where key heads or queries are fewer
than heads and keys. The mods are those of the problem files, executed as Python, so that
both sides compute the same thing. Every contender gets the same operands; each round takes them all once, in a random
order, each behind a flush of the L2 cache and a spinning kernel that hides the launch. A contender's output is compared
with a float32 evaluation of some heads before it is timed. Results: a table on stdout and FOLDER/results.json, written
after every case.
"""

import argparse
import datetime
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

import torch
from launcher import Driver, Kernel
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11
    import tomli as tomllib

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
CASE = re.compile(
    r"(?P<problem>.+)-b(?P<B>\d+)-h(?P<H>\d+)-s(?P<S>\d+)-d(?P<D>\d+)(-g(?P<G>\d+)-q(?P<Q>\d+))?-(?P<type>\w+)$"
)
# Largest difference from the float32 evaluation, relative to the root mean square of the answer's row.
TOLERANCE = {"f16": 2e-2, "bf16": 8e-2, "f32": 2e-3}
SPIN_CYCLES = 1_000_000


class Unavailable(Exception):
    """This contender does not exist for this case."""


# ---- problems


def load_mods(path, axes):
    """(score_mod, mask_mod, scale) of a problem file; a mod is the last function its text defines."""
    problem = tomllib.loads(path.read_text())
    if problem.get("tensors"):
        raise Unavailable("the problem has tensors of its own")
    attention = problem["attention"]
    constants = {**axes, **problem.get("constants", {})}

    def mod(key):
        text = attention.get(key)
        if text is None:
            return None
        names = {"torch": torch, "math": math, **constants}
        before = set(names)
        exec(compile(text, f"{path.name}:{key}", "exec"), names)
        defined = [name for name in names if name not in before and callable(names[name])]
        return names[defined[-1]]

    return mod("score_mod"), mod("mask_mod"), attention.get("scale")


# ---- our kernel, through the driver


def our_kernel(driver, cubin, plan, tensors):
    """The kernel over given tensors, and what must stay alive with it: its scratch buffers."""
    buffers = []
    for buffer in plan["buffers"]:
        if buffer["role"] == "scratch":
            buffers.append(torch.zeros(buffer["bytes"], dtype=torch.uint8, device="cuda"))
            continue
        tensor = tensors[buffer["name"]]
        if tensor.nbytes != buffer["bytes"]:
            raise RuntimeError(f"{buffer['name']} has {tensor.nbytes} bytes, the plan says {buffer['bytes']}")
        buffers.append(tensor)
    return Kernel(driver, cubin.read_bytes(), plan, [buffer.data_ptr() for buffer in buffers]), buffers


# ---- contenders


def broadcast_indices(q_rows, keys, device):
    return (torch.arange(q_rows, device=device)[:, None], torch.arange(keys, device=device)[None, :])


def eager_head(q, k, v, scale, score_mod, mask_mod, b, h, rows=None):
    """Attention of one head as it is written, in the type of its operands."""
    q_idx, kv_idx = broadcast_indices(q.shape[0], k.shape[0], q.device)
    if rows is not None:
        q, q_idx = q[rows], rows[:, None]
    b, h = torch.tensor(b, device=q.device), torch.tensor(h, device=q.device)
    scores = (q @ k.T) * scale
    if score_mod is not None:
        scores = score_mod(scores, b, h, q_idx, kv_idx).to(q.dtype)
    if mask_mod is not None:
        scores = scores.masked_fill(~mask_mod(b, h, q_idx, kv_idx), float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


class Case:
    """Operands, mods and contenders of one case."""

    def __init__(self, folder, name, problems, driver):
        match = CASE.match(name)
        self.name = name
        self.problem = match["problem"]
        self.type = match["type"]
        b, h, s, d = (int(match[key]) for key in "BHSD")
        key_heads, queries = int(match["G"] or h), int(match["Q"] or s)
        self.axes = {"B": b, "Hq": h, "Hkv": key_heads, "Sq": queries, "Skv": s, "D": d, "Dv": d}
        self.group = h // key_heads
        path = folder / f"{self.problem}-{self.type}.toml"
        if not path.exists():
            path = problems / "attention" / f"{self.problem}.toml"
        self.score_mod, self.mask_mod, scale = load_mods(path, self.axes)
        self.scale = scale or 1 / math.sqrt(d)
        generator = torch.Generator(device="cuda").manual_seed(random.SystemRandom().getrandbits(60))
        self.q, self.k, self.v = (
            torch.randn(b, *extent, d, dtype=DTYPES[self.type], device="cuda", generator=generator)
            for extent in ((h, queries), (key_heads, s), (key_heads, s))
        )
        self.out = torch.full_like(self.q, float("nan"))
        workload = json.loads((folder / "cases" / f"{name}.json").read_text())["workloads"][0]
        self.kernels = workload["kernels"]
        tensors = {"Q": self.q, "K": self.k, "V": self.v, "O": self.out}
        cubin = folder / "cases" / f"{name}.cubin"
        self.kernel, self.buffers = our_kernel(driver, cubin, workload["plan"], tensors)
        explained = folder / "cases" / f"{name}.explain.json"
        self.flops = json.loads(explained.read_text())["flops"] if explained.stat().st_size else None

    def run_ours(self):
        self.kernel.launch(torch.cuda.current_stream().cuda_stream)
        return self.out

    def flex(self, **options):
        # Every case is compiled for its own shape and mods; the default limit would fall back to eager after a few.
        torch._dynamo.reset()
        compiled = torch.compile(flex_attention, dynamic=False, **options)
        block_mask = None
        if self.mask_mod is not None:
            axes = self.axes
            block_mask = create_block_mask(self.mask_mod, None, None, axes["Sq"], axes["Skv"], device="cuda")
        return lambda: compiled(
            self.q, self.k, self.v, score_mod=self.score_mod, block_mask=block_mask, scale=self.scale,
            enable_gqa=self.group > 1,
        )  # fmt: skip

    def sdpa(self, backend):
        if self.score_mod is not None:
            raise Unavailable("SDPA takes no score_mod")
        causal = self.mask_mod is not None
        if causal and "causal" not in self.problem:
            raise Unavailable("SDPA's fast paths take no such mask")

        def run():
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(
                    self.q, self.k, self.v, is_causal=causal, scale=self.scale, enable_gqa=self.group > 1
                )

        return run

    def eager(self):
        def run():
            for b in range(self.axes["B"]):
                for h in range(self.axes["Hq"]):
                    g = h // self.group
                    eager_head(self.q[b, h], self.k[b, g], self.v[b, g], self.scale, self.score_mod, self.mask_mod, b, h)

        return run

    def error(self, answer, heads=3, rows=256):
        """Largest error on some rows of some heads, relative to the root mean square of the right row."""
        worst = 0.0
        for _ in range(heads):
            b, h = random.randrange(self.axes["B"]), random.randrange(self.axes["Hq"])
            some = torch.randperm(self.axes["Sq"], device="cuda")[:rows].sort().values
            g = h // self.group
            right = eager_head(self.q[b, h].float(), self.k[b, g].float(), self.v[b, g].float(), self.scale,
                               self.score_mod, self.mask_mod, b, h, some)  # fmt: skip
            errors = (answer[b, h][some].float() - right).abs().amax(dim=-1)
            difference = (errors / right.square().mean(dim=-1).sqrt()).max()
            worst = max(worst, difference.item() if difference.isfinite() else math.inf)
        return worst

    def contenders(self, autotune):
        yield "kernelwright", lambda: self.run_ours
        yield "flex", self.flex
        if autotune:
            yield "flex max-autotune", lambda: self.flex(mode="max-autotune-no-cudagraphs")
        yield "sdpa flash", lambda: self.sdpa(SDPBackend.FLASH_ATTENTION)
        yield "sdpa cudnn", lambda: self.sdpa(SDPBackend.CUDNN_ATTENTION)
        yield "eager", self.eager


# ---- timing


class Stopwatch:
    def __init__(self):
        size = 2 * torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.zeros(max(size, 256 << 20), dtype=torch.int8, device="cuda")

    def time_ms(self, run):
        self.flush.zero_()
        torch.cuda._sleep(SPIN_CYCLES)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)


def interval(values, resamples=1000):
    """95 % bootstrap interval of the median."""
    medians = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(resamples))
    return medians[int(0.025 * resamples)], medians[int(0.975 * resamples)]


def time_case(case, stopwatch, autotune, rounds, deadline):
    ready, rows = {}, []
    for name, make in case.contenders(autotune):
        try:
            run = make()
            answer = run()
            torch.cuda.synchronize()
            error = case.error(answer) if answer is not None else None
            if error is not None and error > TOLERANCE[case.type]:
                raise Unavailable(f"its answer is off by {error:.1e}")
            for _ in range(3):
                run()
            torch.cuda.synchronize()
            ready[name] = (run, error)
        except Exception as why:  # one contender's failure is a row of the table
            text = str(why).strip().splitlines()
            rows.append({"contender": name, "problem": text[0][:160] if text else type(why).__name__})
            torch.cuda.empty_cache()
    times = {name: [] for name in ready}
    for _ in range(rounds):
        order = list(ready)
        random.shuffle(order)
        for name in order:
            if name == "eager" and len(times[name]) >= 5:
                continue
            times[name].append(stopwatch.time_ms(ready[name][0]))
        if time.monotonic() > deadline and min(map(len, times.values())) >= 5:
            break
    return [summary(case, name, times, ready[name][1]) for name in ready] + rows


def summary(case, name, times, error):
    values = times[name]
    median = statistics.median(values)
    row = {"contender": name, "median_ms": median, "ci_ms": interval(values), "samples": len(values), "error": error}
    if case.flops:
        row["tflops"] = case.flops / median / 1e9
    ours = times.get("kernelwright")
    if ours and name != "kernelwright":
        pairs = [math.log(theirs / mine) for theirs, mine in zip(values, ours)]
        low, high = interval(pairs)
        row["kernelwright_speedup"] = math.exp(statistics.median(pairs))
        row["kernelwright_speedup_ci"] = [math.exp(low), math.exp(high)]
    return row


def print_rows(case, rows):
    for row in rows:
        if "problem" in row:
            print(f"{case.name:<44} {row['contender']:<18} {'-':>9}  {row['problem']}")
            continue
        low, high = row["ci_ms"]
        speedup = f"{row['kernelwright_speedup']:.2f}x" if "kernelwright_speedup" in row else ""
        tflops = f"{row['tflops']:.0f}" if "tflops" in row else ""
        print(f"{case.name:<44} {row['contender']:<18} {row['median_ms']:>9.3f}  [{low:.3f}, {high:.3f}]"
              f" {tflops:>6} {speedup:>7}")  # fmt: skip
    sys.stdout.flush()


def describe_machine():
    properties = torch.cuda.get_device_properties(0)
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": properties.name,
        "units": properties.multi_processor_count,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }
    query = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.limit,temperature.gpu"
    try:
        command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        facts.update(zip(query.split(","), (value.strip() for value in answer.splitlines()[0].split(","))))
    except (OSError, subprocess.SubprocessError, IndexError):
        facts["driver_version"] = "unknown"
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--problems", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--autotune", action="store_true", help="time FlexAttention's max-autotune as well")
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    torch._dynamo.config.recompile_limit = 1000
    torch.zeros(1, device="cuda")  # makes the context that our launches share
    driver, stopwatch = Driver(), Stopwatch()
    results = {"machine": describe_machine(), "cases": []}
    print(f"{'case':<44} {'contender':<18} {'ms':>9}  {'95 % interval':<18} {'TFLOP/s':>6} {'ours':>7}")
    for cubin in sorted((options.folder / "cases").glob("*.cubin")):
        if time.monotonic() > deadline:
            print(f"{cubin.stem:<44} no time left")
            continue
        try:
            case = Case(options.folder, cubin.stem, options.problems, driver)
        except Exception as why:
            print(f"{cubin.stem:<44} {why}")
            continue
        rows = time_case(case, stopwatch, options.autotune, options.rounds, deadline)
        print_rows(case, rows)
        results["cases"].append({"case": case.name, "kernels": case.kernels, "rows": rows})
        (options.folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
        del case
        torch.cuda.empty_cache()
    print(f"\nwritten: {options.folder / 'results.json'}")


if __name__ == "__main__":
    main()
