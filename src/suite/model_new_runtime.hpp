#pragma once
// The part of an exported file that is the same for all: NVRTC and the driver through ctypes.

#include <string_view>

namespace kw {

inline constexpr std::string_view k_model_new_runtime = R"python(

import ctypes as _kw_c
import glob as _kw_glob
import inspect as _kw_inspect
import os as _kw_os
import torch

_kw_functions = {}


def _kw_check(status, what):
    if status != 0:
        raise RuntimeError(f"{what} failed with status {status}")


def _kw_folders():
    root = _kw_os.path.dirname(_kw_os.path.dirname(_kw_os.path.abspath(torch.__file__)))
    home = _kw_os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return [home] + sorted(_kw_glob.glob(_kw_os.path.join(root, "nvidia", "*")))


def _kw_nvrtc():
    names = []
    if torch.version.cuda:
        names.append("libnvrtc.so." + torch.version.cuda.split(".")[0])
    for folder in _kw_folders():
        for part in ("lib", "lib64"):
            names += sorted(_kw_glob.glob(_kw_os.path.join(folder, part, "libnvrtc.so*")), reverse=True)
    for name in names + ["libnvrtc.so"]:
        try:
            return _kw_c.CDLL(name)
        except OSError:
            continue
    raise RuntimeError("NVRTC is not installed: it comes with the CUDA toolkit and with PyTorch's CUDA wheels")


def _kw_options():
    major, minor = torch.cuda.get_device_capability()
    options = [f"-arch=sm_{major}{minor}" + ("a" if major >= 9 else ""), "-default-device", "--std=c++17",
               "-include=kernelwright_c_names.h"]
    for folder in _kw_folders():
        include = _kw_os.path.join(folder, "include")
        if _kw_os.path.exists(_kw_os.path.join(include, "cuda_fp16.h")):
            options += ["-I" + include, "-I" + _kw_os.path.join(include, "cccl")]
            break
    return options + _kw_definitions


def _kw_texts(texts):
    return (_kw_c.c_char_p * len(texts))(*[text.encode() for text in texts])


def _kw_compile():
    nvrtc = _kw_nvrtc()
    program = _kw_c.c_void_p()
    names, texts, options = list(_kw_headers), list(_kw_headers.values()), _kw_options()
    _kw_check(nvrtc.nvrtcCreateProgram(_kw_c.byref(program), _kw_source.encode(), b"kernel.cu", len(names),
                                       _kw_texts(texts), _kw_texts(names)), "nvrtcCreateProgram")
    status = nvrtc.nvrtcCompileProgram(program, len(options), _kw_texts(options))
    size = _kw_c.c_size_t()
    if status != 0:
        nvrtc.nvrtcGetProgramLogSize(program, _kw_c.byref(size))
        log = _kw_c.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError("NVRTC cannot compile the kernel:\n" + log.value.decode(errors="replace"))
    _kw_check(nvrtc.nvrtcGetCUBINSize(program, _kw_c.byref(size)), "nvrtcGetCUBINSize")
    binary = _kw_c.create_string_buffer(size.value)
    _kw_check(nvrtc.nvrtcGetCUBIN(program, binary), "nvrtcGetCUBIN")
    nvrtc.nvrtcDestroyProgram(_kw_c.byref(program))
    return binary


def _kw_function(name, shared_bytes):
    device = torch.cuda.current_device()
    driver = _kw_c.CDLL("libcuda.so.1")
    if (device, None) not in _kw_functions:
        torch.cuda.synchronize()  # PyTorch's context becomes the current one
        module = _kw_c.c_void_p()
        _kw_check(driver.cuModuleLoadData(_kw_c.byref(module), _kw_compile()), "cuModuleLoadData")
        _kw_functions[(device, None)] = module
    if (device, name) not in _kw_functions:
        function = _kw_c.c_void_p()
        _kw_check(driver.cuModuleGetFunction(_kw_c.byref(function), _kw_functions[(device, None)], name.encode()),
                  "cuModuleGetFunction")
        if shared_bytes > 0:  # attribute 8: the most dynamic shared memory, beyond 48 KiB by permission only
            _kw_check(driver.cuFuncSetAttribute(function, 8, shared_bytes), "cuFuncSetAttribute")
        _kw_functions[(device, name)] = function
    return driver, _kw_functions[(device, name)]


def _kw_launch(name, grid, block, shared_bytes, arguments):
    driver, function = _kw_function(name, shared_bytes)
    values = [_kw_c.c_int32(one) if isinstance(one, int) else _kw_c.c_void_p(one.data_ptr()) for one in arguments]
    pointers = (_kw_c.c_void_p * len(values))(*[_kw_c.cast(_kw_c.byref(one), _kw_c.c_void_p) for one in values])
    stream = _kw_c.c_void_p(torch.cuda.current_stream().cuda_stream)
    _kw_check(driver.cuLaunchKernel(function, *grid, *block, shared_bytes, stream, pointers, None),
              f"cuLaunchKernel({name})")


def _kw_bound(forward, module, args, kwargs):
    bound = _kw_inspect.signature(forward).bind(module, *args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _kw_held(module, name):
    value = module
    for part in name.split("."):
        value = value[int(part)] if isinstance(value, (list, tuple)) else getattr(value, part)
    return value


def _kw_input(name, tensor, dtype, shape):
    if tuple(tensor.shape) != shape:
        raise ValueError(f"{name} has the shape {tuple(tensor.shape)}; this kernel was planned for {shape}")
    held = tensor.detach().to(device=torch.device("cuda", torch.cuda.current_device()), dtype=dtype).contiguous()
    # Kernels read 16 bytes at a time; a view may begin anywhere in its storage.
    return held.clone() if held.data_ptr() % 16 else held


def _kw_number(name, value, planned):
    if float(value) != planned:
        raise ValueError(f"{name} is {value}; this kernel was written for {planned}")


def _kw_empty(inputs, dtype, shape):
    return torch.empty(shape, dtype=dtype, device=inputs[0].device)
)python";

}  // namespace kw
