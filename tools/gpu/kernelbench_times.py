#!/usr/bin/env python3
"""Checks and times prepared kernels beside PyTorch, one problem a line of standard input; started by kernelbench.py.

Several such processes work at once: whoever uses the GPU for more than loading code holds a lock on a file, so that nothing runs
beside what is timed, and the others compile meanwhile.
"""

import argparse
import copy
import datetime
import fcntl
import gc
import importlib.util
import json
import math
import os
import pathlib
import random
import statistics
import sys
import time
import traceback

import torch
from kernelbench_match import match_inputs, sources_of
from launcher import Driver, Kernel
from torch._inductor.compile_fx import compile_fx

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32, "bool": torch.uint8}
SEED = 20261124
MOST_ROUNDS, FEWEST_ROUNDS, SECONDS_OF_ROUNDS = 25, 7, 0.8
SPIN_CYCLES = 2_000_000  # about a millisecond, in which the launches that are timed are all queued
PIECE = 1 << 26
KERNELBENCH_TOLERANCE = 1e-4


class Gpu:
    """The right to use the GPU; taking it twice is taking it once."""

    def __init__(self, path):
        self.file, self.held = open(path, "w"), False

    def take(self):
        if not self.held:
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.held = True

    def give(self):
        if self.held:
            torch.cuda.synchronize()
            fcntl.flock(self.file, fcntl.LOCK_UN)
            self.held = False


def tensors_of(value):
    """The tensors of nested lists and dictionaries, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for part in value for tensor in tensors_of(part)] if isinstance(value, (list, tuple)) else []


def on_gpu(value):
    if isinstance(value, torch.Tensor):
        return value.cuda()
    return type(value)(on_gpu(part) for part in value) if isinstance(value, (list, tuple)) else value


class Case:
    """The module of a file with its inputs on the GPU, as KernelBench makes them but for where: nothing comes from the host."""

    def __init__(self, path):
        spec = importlib.util.spec_from_file_location("kernelbench_problem", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        torch.manual_seed(SEED)
        with torch.device("cuda"):
            arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
            self.model = module.Model(*arguments).cuda()
            self.inputs = on_gpu(module.get_inputs())
        for part in self.model.modules():
            if isinstance(part, torch.nn.modules.dropout._DropoutNd):
                part.eval()  # taken as the identity

    def ours(self, driver, task):
        """(launch, outputs, what has to be overwritten)."""
        plan, constants = task["plan"], task["constants"]
        sources = match_inputs(plan, sources_of(self.model, self.inputs), constants)
        sources |= {name: torch.tensor(value) for name, value in constants.items()}
        buffers = []
        for buffer in plan["buffers"]:
            if buffer["role"] == "input":
                tensor = sources[buffer["name"]].detach().to("cuda", DTYPES[buffer["dtype"]]).contiguous()
                if tensor.nbytes != buffer["bytes"]:
                    raise RuntimeError(f"{buffer['name']} has {tensor.nbytes} bytes, the plan says {buffer['bytes']}")
            else:
                tensor = torch.empty(buffer["bytes"], dtype=torch.uint8, device="cuda")
            buffers.append(tensor)
        with open(task["cubin"], "rb") as file:
            kernel = Kernel(driver, file.read(), plan, [buffer.data_ptr() for buffer in buffers])
        roles = [buffer["role"] for buffer in plan["buffers"]]
        outputs = [
            buffer.view(DTYPES[said["dtype"]]) for buffer, said in zip(buffers, plan["buffers"]) if said["role"] == "output"
        ]
        written = [buffer for buffer, role in zip(buffers, roles) if role != "input"]
        return lambda: kernel.launch(torch.cuda.current_stream().cuda_stream), outputs, (written, buffers)


def compiled_outside(gpu):
    """torch.compile's default, which gives the GPU to others while it compiles and takes it again to run."""

    def backend(graph, inputs):
        gpu.give()
        compiled = compile_fx(graph, inputs)

        def call(*arguments):
            gpu.take()
            return compiled(*arguments)

        return call

    return backend


# ---- comparing


class Difference:
    """One output beside the right one."""

    def __init__(self, answer, right):
        self.squares = self.right_squares = self.largest = 0.0
        self.wrong = 0
        self.count = right.numel()
        answer, right = answer.reshape(-1), right.reshape(-1)
        if answer.numel() != self.count:
            raise RuntimeError(f"{answer.numel()} elements instead of {self.count}")
        for begin in range(0, self.count, PIECE):
            self.add(answer[begin : begin + PIECE].double(), right[begin : begin + PIECE].double())

    def add(self, answer, right):
        # Equal infinities differ by nothing; a NaN where none belongs, by infinitely much.
        same = (answer == right) | (answer.isnan() & right.isnan())
        off = torch.where(same, 0.0, (answer - right).abs())
        off = torch.where(off.isnan(), math.inf, off)
        finite = torch.where(right.isfinite(), right, 0.0)
        self.squares += off.square().sum().item()
        self.right_squares += finite.square().sum().item()
        self.largest = max(self.largest, off.max().item())
        self.wrong += (off > KERNELBENCH_TOLERANCE * (1 + finite.abs())).sum().item()

    def relative(self, value):
        scale = math.sqrt(self.right_squares / self.count)
        return value / scale if scale > 0 else (0.0 if value == 0 else math.inf)


def compare(answers, rights):
    """(error and worst element, relative to the root mean square; share of elements that KernelBench's rule calls wrong)."""
    if len(answers) != len(rights):
        raise RuntimeError(f"{len(answers)} outputs instead of {len(rights)}")
    found = [Difference(answer, right) for answer, right in zip(answers, rights)]
    return (
        max(one.relative(math.sqrt(one.squares / one.count)) for one in found),
        max(one.relative(one.largest) for one in found),
        max(one.wrong / one.count for one in found),
    )


def doubled(value):
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    return type(value)(doubled(part) for part in value) if isinstance(value, (list, tuple)) else value


def reference(case):
    """(the answer in float64 where memory allows it, otherwise in float32 without tf32; which)."""
    try:
        return tensors_of(copy.deepcopy(case.model).double()(*doubled(case.inputs))), "f64"
    except Exception as why:  # too large, or a module that makes float32 tensors of its own
        note = type(why).__name__
        torch.cuda.empty_cache()
    rounds = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            return tensors_of(copy.deepcopy(case.model)(*case.inputs)), f"f32 ({note})"
    finally:
        torch.backends.cuda.matmul.allow_tf32 = rounds


def checksum(outputs):
    total = 0
    for output in outputs:
        flat = output.reshape(-1).view(torch.uint8)
        words = flat[: flat.numel() // 4 * 4].view(torch.int32)
        weights = torch.arange(1, 1 + min(PIECE, max(1, words.numel())), device="cuda", dtype=torch.int64)
        for begin in range(0, words.numel(), PIECE):
            part = words[begin : begin + PIECE]
            total += (part * weights[: part.numel()]).sum().item()
        total += flat[flat.numel() // 4 * 4 :].long().sum().item()
    return total


# ---- timing


class Stopwatch:
    def __init__(self):
        size = 4 * torch.cuda.get_device_properties(0).L2_cache_size
        self.flush = torch.zeros(size, dtype=torch.int8, device="cuda")

    def time_ms(self, call):
        self.flush.zero_()
        torch.cuda._sleep(SPIN_CYCLES)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    def rounds(self, calls):
        """Times of every call, taken in turns, each round in an order of its own."""
        times = {name: [] for name in calls}
        started = time.monotonic()
        for number in range(MOST_ROUNDS):
            if number >= FEWEST_ROUNDS and time.monotonic() - started > SECONDS_OF_ROUNDS:
                break
            for name in random.sample(list(calls), len(calls)):
                times[name].append(self.time_ms(calls[name]))
        return times


def time_fields(times):
    row = {"samples": min(len(values) for values in times.values())}
    for name, values in times.items():
        low, middle, high = statistics.quantiles(values, n=4)
        row |= {f"{name}_ms": f"{middle:.5g}", f"{name}_q1": f"{low:.5g}", f"{name}_q3": f"{high:.5g}"}
    return row


def first_line(why):
    lines = str(why).strip().splitlines()
    return f"{type(why).__name__}: {lines[0][:150] if lines else ''}"


class Measurement:
    def __init__(self, gpu, driver, stopwatch, autotune):
        self.gpu, self.driver, self.stopwatch, self.autotune = gpu, driver, stopwatch, autotune

    def contenders(self, case):
        """(calls of PyTorch's that work, what is wrong with the others); each has been compiled."""
        calls, notes = {"eager": lambda: case.model(*case.inputs)}, []
        torch._dynamo.reset()
        makers = {"compiled": lambda: torch.compile(case.model, backend=compiled_outside(self.gpu), dynamic=False)}
        if self.autotune:
            makers["autotuned"] = lambda: torch.compile(case.model, mode="max-autotune-no-cudagraphs", dynamic=False)
        for name, make in makers.items():
            try:
                model = make()
                model(*case.inputs)
                self.gpu.take()
                calls[name] = lambda model=model: model(*case.inputs)
            except Exception as why:  # one contender's failure is a note of the row
                self.gpu.take()
                notes.append(f"{name}: {first_line(why)}")
        return calls, notes

    def measure(self, task):
        self.gpu.take()
        case = Case(task["path"])
        self.gpu.give()
        calls, notes = self.contenders(case)
        self.gpu.take()
        launch, outputs, (written, kept) = case.ours(self.driver, task)
        for buffer in written:
            buffer.fill_(255)
        launch()
        torch.cuda.synchronize()
        row = {"status": "timed", **self.check(case, calls, outputs)}
        before = checksum(outputs)
        calls["ours"] = launch
        for call in calls.values():
            call()
        torch.cuda.synchronize()
        row |= time_fields(self.stopwatch.rounds(calls))
        row["repeats"] = "yes" if checksum(outputs) == before else "no"
        row["note"] = " ".join(notes)
        return row

    def check(self, case, calls, outputs):
        started = time.monotonic()
        rights, kind = reference(case)
        torch.cuda.synchronize()
        if time.monotonic() - started > 3:
            kind += f" in {time.monotonic() - started:.0f} s"
        error, worst, wrong = compare(outputs, rights)
        row = {"reference": kind, "ours_error": f"{error:.2e}", "ours_worst": f"{worst:.2e}", "wrong": f"{wrong:.2e}"}
        for name in ("eager", "compiled"):
            if name in calls:
                answers = tensors_of(calls[name]())
                row[f"{name}_error"] = f"{compare(answers, rights)[0]:.2e}"
                if name == "eager":
                    row["wrong_to_eager"] = f"{compare(outputs, answers)[2]:.2e}"
        return row


def describe_machine(path):
    device = torch.cuda.get_device_properties(0)
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "device": f"{device.name}, {device.multi_processor_count} multiprocessors",
        "PyTorch": f"{torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}",
        "tf32": f"products {torch.backends.cuda.matmul.allow_tf32}, cuDNN {torch.backends.cudnn.allow_tf32}",
    }
    path.write_text(json.dumps(facts))


def launch_once(task):
    """Our kernels alone, for tools that watch them."""
    launch, _, (written, kept) = Case(task["path"]).ours(Driver(), task)
    for buffer in written:
        buffer.fill_(255)
    launch()
    torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", required=True)
    parser.add_argument("--once", action="store_true", help="launch the one kernel of standard input once; time nothing")
    parser.add_argument("--autotune", action="store_true")
    parser.add_argument("--allow-tf32", action="store_true", help="PyTorch's products may round as ours do")
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = options.allow_tf32
    if options.once:
        return launch_once(json.loads(sys.stdin.read()))
    # What modules and compilers print is no answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    gpu = Gpu(options.lock)
    gpu.take()
    torch.zeros(1, device="cuda")  # makes the context that our launches share
    measurement = Measurement(gpu, Driver(), Stopwatch(), options.autotune)
    describe_machine(pathlib.Path(options.lock).with_name("machine.json"))
    gpu.give()
    for line in sys.stdin:
        try:
            row = measurement.measure(json.loads(line))
        except Exception as why:
            traceback.print_exc()
            # After an error of the device nothing works any more in this process.
            lost = isinstance(why, RuntimeError) and "CUDA" in str(why)
            memory = isinstance(why, torch.OutOfMemoryError)
            row = {"status": "failed", "note": first_line(why), "fatal": lost and not memory}
        print(json.dumps(row), file=answers, flush=True)
        if row.get("fatal"):
            return
        torch._dynamo.reset()
        gc.collect()
        torch.cuda.empty_cache()
        gpu.give()


if __name__ == "__main__":
    main()
