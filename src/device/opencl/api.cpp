#include "device/opencl/api.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "device/shared_library.hpp"

namespace kw::opencl {
namespace {

constexpr std::array k_status_names{
    std::pair{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    std::pair{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    std::pair{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    std::pair{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    std::pair{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    std::pair{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    std::pair{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    std::pair{CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    std::pair{CL_COMPILE_PROGRAM_FAILURE, "CL_COMPILE_PROGRAM_FAILURE"},
    std::pair{CL_LINK_PROGRAM_FAILURE, "CL_LINK_PROGRAM_FAILURE"},
    std::pair{CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    std::pair{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    std::pair{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    std::pair{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    std::pair{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    std::pair{CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR"},
    std::pair{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    std::pair{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    std::pair{CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    std::pair{CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
    std::pair{CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    std::pair{CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    std::pair{CL_INVALID_KERNEL_DEFINITION, "CL_INVALID_KERNEL_DEFINITION"},
    std::pair{CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    std::pair{CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    std::pair{CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    std::pair{CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    std::pair{CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    std::pair{CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION"},
    std::pair{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    std::pair{CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    std::pair{CL_INVALID_GLOBAL_OFFSET, "CL_INVALID_GLOBAL_OFFSET"},
    std::pair{CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    std::pair{CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    std::pair{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    std::pair{CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
    std::pair{-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

}  // namespace

Result<Api> load_api(const std::string& library) {
  KW_TRY(const SharedLibrary opened,
         open_library({library}, "OpenCL", "apt-get install ocl-icd-libopencl1 pocl-opencl-icd"));
  Api api;
  SymbolFinder find{opened.handle};
  find("clGetPlatformIDs", api.get_platform_ids);
  find("clGetPlatformInfo", api.get_platform_info);
  find("clGetDeviceIDs", api.get_device_ids);
  find("clGetDeviceInfo", api.get_device_info);
  find("clCreateContext", api.create_context);
  find("clReleaseContext", api.release_context);
  find("clCreateCommandQueue", api.create_command_queue);
  find("clReleaseCommandQueue", api.release_command_queue);
  find("clCreateProgramWithSource", api.create_program_with_source);
  find("clCreateProgramWithBinary", api.create_program_with_binary);
  find("clBuildProgram", api.build_program);
  find("clGetProgramInfo", api.get_program_info);
  find("clGetProgramBuildInfo", api.get_program_build_info);
  find("clReleaseProgram", api.release_program);
  find("clCreateKernel", api.create_kernel);
  find("clReleaseKernel", api.release_kernel);
  find("clGetKernelInfo", api.get_kernel_info);
  find("clGetKernelArgInfo", api.get_kernel_arg_info);
  find("clGetKernelWorkGroupInfo", api.get_kernel_work_group_info);
  find("clSetKernelArg", api.set_kernel_arg);
  find("clCreateBuffer", api.create_buffer);
  find("clCreateSubBuffer", api.create_sub_buffer);
  find("clReleaseMemObject", api.release_mem_object);
  find("clEnqueueNDRangeKernel", api.enqueue_nd_range_kernel);
  find("clEnqueueWriteBuffer", api.enqueue_write_buffer);
  find("clEnqueueReadBuffer", api.enqueue_read_buffer);
  find("clEnqueueFillBuffer", api.enqueue_fill_buffer);
  find("clFinish", api.finish);
  find("clGetEventInfo", api.get_event_info);
  find("clReleaseEvent", api.release_event);
  if (!find.missing.empty()) {
    return fail(Error{errc::device_unavailable, fmt::format("the installed OpenCL loader lacks {}", find.missing),
                      "apt-get install ocl-icd-libopencl1, which has OpenCL 1.2"});
  }
  return api;
}

std::string status_name(cl_int status) {
  const auto named = std::find_if(k_status_names.begin(), k_status_names.end(),
                                  [&](const auto& entry) { return entry.first == status; });
  return named == k_status_names.end() ? fmt::format("OpenCL error {}", status) : named->second;
}

Result<void> check(cl_int status, std::string_view call) {
  if (status == CL_SUCCESS) return {};
  return fail(errc::device_refused, "{} failed with {}", call, status_name(status));
}

}  // namespace kw::opencl
