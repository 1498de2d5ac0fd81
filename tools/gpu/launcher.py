"""Launches a cubin by the plan that `kernelwright build --json` printed, through the CUDA driver and nothing else."""

import ctypes

FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8


class Driver:
    """libcuda with errors as exceptions. A context must be current, or is made by use_device."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else status}")

    def use_device(self, ordinal):
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
        self.call("cuCtxSetCurrent", context)

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def upload(self, address, data):
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), data, ctypes.c_size_t(len(data)))

    def synchronise(self):
        self.call("cuCtxSynchronize")


class Kernel:
    """The launches of a plan, over `addresses`: one device address per buffer of the plan."""

    def __init__(self, driver, cubin, plan, addresses):
        self.driver = driver
        self.image = cubin
        module = ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), self.image)
        self.launches = [self._prepare(module, launch, addresses) for launch in plan["launches"]]

    def _prepare(self, module, launch, addresses):
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
        shared = launch["shared_bytes"]
        if shared > 0:
            self.driver.call("cuFuncSetAttribute", function, FUNCTION_MAX_DYNAMIC_SHARED_BYTES, shared)
        values = []
        for argument in launch["args"]:
            if "buffer" in argument:
                values.append(ctypes.c_uint64(addresses[argument["buffer"]]))
            else:
                values.append(ctypes.c_int32(argument["int"]))
        pointers = (ctypes.c_void_p * max(1, len(values)))(
            *[ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values]
        )
        return function, [*launch["grid"], *launch["block"], shared], values, pointers

    def launch(self, stream=None):
        for function, extents, _, pointers in self.launches:
            self.driver.call("cuLaunchKernel", function, *extents, ctypes.c_void_p(stream), pointers, None)
