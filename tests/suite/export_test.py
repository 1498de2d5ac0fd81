#!/usr/bin/env python3
"""Exports the kernels of a suite and runs the files against a stand-in for PyTorch, NVRTC and the driver.

usage: export_test.py KERNELWRIGHT

Nothing is computed: what the stand-in sees is what a GPU would be asked to do. Fails when a file does not load, when it
launches other kernels than its bundle names, passes other buffers, or takes inputs that it was not planned for.
"""

import ctypes
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types

from modules import write_modules

PATIENCE_SECONDS = 300


class Tensor:
    def __init__(self, shape, dtype="float32"):
        self.shape, self.dtype, self.device = tuple(shape), dtype, "cuda:0"
        self.memory = ctypes.create_string_buffer(8)

    def detach(self):
        return self

    def contiguous(self):
        return self

    def to(self, dtype=None, device=None):
        return self if dtype in (None, self.dtype) else Tensor(self.shape, dtype)

    def data_ptr(self):
        return ctypes.addressof(self.memory)


class Linear:
    def __init__(self, inputs, outputs):
        self.weight, self.bias = Tensor((outputs, inputs)), Tensor((outputs,))


def stand_in():
    torch = types.ModuleType("torch")
    torch.__file__ = "/nowhere/torch/__init__.py"
    for name in ("float32", "float16", "bfloat16", "int32", "int64", "bool", "uint8"):
        setattr(torch, name, name)
    torch.rand = lambda *shape: Tensor(shape)
    torch.empty = lambda shape, dtype, device: Tensor(shape, dtype)
    torch.device = lambda kind, index: f"{kind}:{index}"
    torch.version = types.SimpleNamespace(cuda="12.8")
    torch.cuda = types.SimpleNamespace(
        current_device=lambda: 0, synchronize=lambda: None, get_device_capability=lambda: (9, 0),
        current_stream=lambda: types.SimpleNamespace(cuda_stream=0))
    nn = types.ModuleType("torch.nn")
    nn.Module, nn.Linear = type("Module", (), {}), Linear
    torch.nn = nn
    sys.modules["torch"], sys.modules["torch.nn"] = torch, nn


class Driver:
    """Notes launches: (kernel, grid, block, pointers or numbers)."""

    def __init__(self):
        self.launches, self.names, self.options = [], [], []

    def __getattr__(self, function):
        return lambda *arguments: self.call(function, arguments)

    def call(self, function, arguments):
        if function == "nvrtcCompileProgram":
            self.options = list(arguments[2])
        elif function == "cuModuleGetFunction":
            self.names.append(arguments[2].decode())
            arguments[0]._obj.value = len(self.names)
        elif function == "cuLaunchKernel":
            values = [ctypes.cast(one, ctypes.POINTER(ctypes.c_uint64)).contents.value for one in arguments[9]]
            self.launches.append((self.names[arguments[0].value - 1], arguments[1:4], arguments[4:7], values))
        return 0


def load(path, driver):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module._kw_c.CDLL = lambda name: driver
    return module


def expect(condition, what):
    if not condition:
        sys.exit(f"FAIL: {what}")


def check_dense(path, bundle):
    driver = Driver()
    module = load(path, driver)
    model = module.ModelNew(*module.get_init_inputs())
    inputs = module.get_inputs()
    result = model.forward(*inputs)
    expect(result.shape == (24, 32) and result.dtype == "float32", f"the result is {result.shape} {result.dtype}")
    names = re.findall(r'^kernel = "(\w+)"', bundle, re.MULTILINE)
    expect([one[0] for one in driver.launches] == names, f"{driver.launches} for {names}")
    passed = {value for one in driver.launches for value in one[3]}
    for tensor in (inputs[0], model.linear.weight, model.linear.bias, result):
        expect(tensor.data_ptr() in passed, f"no launch is passed {tensor.shape}")
    expect(b"-arch=sm_90a" in driver.options, f"options {driver.options}")
    for wrong in ((Tensor((25, 40)), 2.5), (inputs[0], 3.5)):
        try:
            model.forward(*wrong)
        except ValueError as error:
            print("refused:", error)
        else:
            sys.exit(f"FAIL: {wrong} was taken")


def main():
    tool = sys.argv[1]
    stand_in()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        write_modules(root)
        out, exported = root / "out", root / "exported"
        command = [tool, "suite", str(root / "level1"), "--target", "cuda", "--device", "sim", "--budget-per-problem",
                   "1c", "--out", str(out), "--export", str(exported), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        expect(done.returncode == 0, f"the suite ended with {done.returncode}\n{done.stderr}\n{done.stdout[-2000:]}")
        rows = {row["name"]: row for row in json.loads(done.stdout)["rows"]}
        for row in rows.values():
            path = exported / row["exported"]
            expect(row["exported"] == f"level_1_problem_{row['id']}_sample_0_kernel.py", row["exported"])
            compile(path.read_text(), str(path), "exec")
        dense = rows["level1/2_dense"]
        check_dense(exported / dense["exported"], pathlib.Path(dense["best_path"]).read_text())
    print("PASS")


if __name__ == "__main__":
    main()
