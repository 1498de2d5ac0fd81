#pragma once
// The OpenCL entry points in use, found with dlopen so that the worker starts where no loader is installed. Everything
// in this folder calls OpenCL through an Api and nothing else does.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "device/device.hpp"

namespace kw::opencl {

struct Api {
  decltype(&::clGetPlatformIDs) get_platform_ids = nullptr;
  decltype(&::clGetPlatformInfo) get_platform_info = nullptr;
  decltype(&::clGetDeviceIDs) get_device_ids = nullptr;
  decltype(&::clGetDeviceInfo) get_device_info = nullptr;
  decltype(&::clCreateContext) create_context = nullptr;
  decltype(&::clReleaseContext) release_context = nullptr;
  decltype(&::clCreateCommandQueue) create_command_queue = nullptr;
  decltype(&::clReleaseCommandQueue) release_command_queue = nullptr;
  decltype(&::clCreateProgramWithSource) create_program_with_source = nullptr;
  decltype(&::clCreateProgramWithBinary) create_program_with_binary = nullptr;
  decltype(&::clBuildProgram) build_program = nullptr;
  decltype(&::clGetProgramInfo) get_program_info = nullptr;
  decltype(&::clGetProgramBuildInfo) get_program_build_info = nullptr;
  decltype(&::clReleaseProgram) release_program = nullptr;
  decltype(&::clCreateKernel) create_kernel = nullptr;
  decltype(&::clReleaseKernel) release_kernel = nullptr;
  decltype(&::clGetKernelInfo) get_kernel_info = nullptr;
  decltype(&::clGetKernelArgInfo) get_kernel_arg_info = nullptr;
  decltype(&::clGetKernelWorkGroupInfo) get_kernel_work_group_info = nullptr;
  decltype(&::clSetKernelArg) set_kernel_arg = nullptr;
  decltype(&::clCreateBuffer) create_buffer = nullptr;
  decltype(&::clCreateSubBuffer) create_sub_buffer = nullptr;
  decltype(&::clReleaseMemObject) release_mem_object = nullptr;
  decltype(&::clEnqueueNDRangeKernel) enqueue_nd_range_kernel = nullptr;
  decltype(&::clEnqueueWriteBuffer) enqueue_write_buffer = nullptr;
  decltype(&::clEnqueueReadBuffer) enqueue_read_buffer = nullptr;
  decltype(&::clEnqueueFillBuffer) enqueue_fill_buffer = nullptr;
  decltype(&::clFinish) finish = nullptr;
  decltype(&::clGetEventInfo) get_event_info = nullptr;
  decltype(&::clReleaseEvent) release_event = nullptr;
};

/// Loads the loader of OpenCL drivers; never unloads it, because drivers leave threads behind. errc::device_unavailable
/// says what to install.
[[nodiscard]] Result<Api> load_api(const std::string& library = "libOpenCL.so.1");

/// "CL_OUT_OF_RESOURCES", or "OpenCL error -9999" for one that the standard does not name.
[[nodiscard]] std::string status_name(cl_int status);

/// errc::device_refused naming the call and the status, unless it succeeded.
[[nodiscard]] Result<void> check(cl_int status, std::string_view call);

/// An OpenCL object that is released with its owner.
template <typename Object>
using Owned = std::unique_ptr<Object, cl_int (*)(Object*)>;
using OwnedContext = Owned<_cl_context>;
using OwnedQueue = Owned<_cl_command_queue>;
using OwnedProgram = Owned<_cl_program>;
using OwnedKernel = Owned<_cl_kernel>;
using OwnedBuffer = Owned<_cl_mem>;
using OwnedEvent = Owned<_cl_event>;

}  // namespace kw::opencl
