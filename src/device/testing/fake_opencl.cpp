#include "device/testing/fake_opencl.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kw::opencl {
namespace {

/// Devices of all platforms are numbered through.
constexpr std::size_t k_most_devices = 100;

FakeOpencl& driver() {
  KW_CHECK(FakeOpencl::current() != nullptr, "no driver of the test's own");
  return *FakeOpencl::current();
}
FakeKernel& kernel_of(cl_kernel kernel) {
  return driver().kernels.at(fake_index(kernel));
}

template <typename Handle>
Handle made(const std::string& what, cl_int* status) {
  *status = driver().make(what);
  return *status == CL_SUCCESS ? fake_handle<Handle>(driver().calls.size()) : nullptr;
}

void bind_platforms(Api& api) {
  api.get_platform_ids = [](cl_uint, cl_platform_id* ids, cl_uint* count) -> cl_int {
    *count = static_cast<cl_uint>(driver().platforms.size());
    for (std::size_t i = 0; i < driver().platforms.size(); ++i) ids[i] = fake_handle<cl_platform_id>(i);
    return *count == 0 ? -1001 : CL_SUCCESS;
  };
  api.get_platform_info = [](cl_platform_id id, cl_platform_info, std::size_t room, void* to, std::size_t* needed) {
    return fake_text(driver().platforms.at(fake_index(id)).name, room, to, needed);
  };
  api.get_device_ids = [](cl_platform_id id, cl_device_type, cl_uint, cl_device_id* ids, cl_uint* count) -> cl_int {
    const auto& devices = driver().platforms.at(fake_index(id)).devices;
    *count = static_cast<cl_uint>(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      ids[i] = fake_handle<cl_device_id>(fake_index(id) * k_most_devices + i);
    }
    return devices.empty() ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
  };
  api.get_device_info = [](cl_device_id id, cl_device_info what, std::size_t room, void* to, std::size_t* needed) {
    const std::size_t index = fake_index(id);
    switch (what) {
      case CL_DEVICE_TYPE:
        return fake_number(driver().platforms.at(index / k_most_devices).devices.at(index % k_most_devices), room, to,
                           needed);
      case CL_DEVICE_MAX_COMPUTE_UNITS:
        return fake_number(cl_uint{8}, room, to, needed);
      case CL_DEVICE_NAME:
        return fake_text("fake device", room, to, needed);
      case CL_DEVICE_VERSION:
        return fake_text("OpenCL 1.2", room, to, needed);
      case CL_DRIVER_VERSION:
        return fake_text("7", room, to, needed);
      case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return fake_number(cl_ulong{4096}, room, to, needed);
      default:
        return cl_int{CL_INVALID_VALUE};
    }
  };
}

void bind_programs(Api& api) {
  api.create_program_with_source = [](cl_context, cl_uint, const char**, const std::size_t*, cl_int* status) {
    return made<cl_program>("source", status);
  };
  api.create_program_with_binary = [](cl_context, cl_uint, const cl_device_id*, const std::size_t*,
                                      const unsigned char**, cl_int*,
                                      cl_int* status) { return made<cl_program>("binary", status); };
  api.release_program = [](cl_program) -> cl_int { return CL_SUCCESS; };
  api.build_program = [](cl_program, cl_uint, const cl_device_id*, const char* options,
                         void(CL_CALLBACK*)(cl_program, void*), void*) {
    driver().calls.push_back(std::string("build ") + options);
    return driver().build_status;
  };
  api.get_program_build_info = [](cl_program, cl_device_id, cl_program_build_info, std::size_t room, void* to,
                                  std::size_t* needed) { return fake_text(driver().log, room, to, needed); };
  api.get_program_info = [](cl_program, cl_program_info what, std::size_t room, void* to, std::size_t* needed) {
    if (what == CL_PROGRAM_KERNEL_NAMES) {
      return fake_text(join(driver().kernels, ";", &FakeKernel::name), room, to, needed);
    }
    const std::string& binary = driver().binary;
    if (what == CL_PROGRAM_BINARY_SIZES) return fake_number(binary.size(), room, to, needed);
    std::memcpy(*static_cast<unsigned char**>(to), binary.data(), binary.size());
    return cl_int{CL_SUCCESS};
  };
}

void bind_kernels(Api& api) {
  api.create_kernel = [](cl_program, const char* name, cl_int* status) -> cl_kernel {
    const auto& kernels = driver().kernels;
    const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.name == name; });
    *status = found == kernels.end() ? CL_INVALID_KERNEL_NAME : CL_SUCCESS;
    return found == kernels.end() ? nullptr : fake_handle<cl_kernel>(static_cast<std::size_t>(found - kernels.begin()));
  };
  api.release_kernel = [](cl_kernel) -> cl_int { return CL_SUCCESS; };
  api.get_kernel_info = [](cl_kernel kernel, cl_kernel_info, std::size_t room, void* to, std::size_t* needed) {
    return fake_number(static_cast<cl_uint>(kernel_of(kernel).arguments.size()), room, to, needed);
  };
  api.get_kernel_arg_info = [](cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, std::size_t room, void* to,
                               std::size_t* needed) {
    if (!driver().records_arguments) return cl_int{CL_KERNEL_ARG_INFO_NOT_AVAILABLE};
    const FakeArgument& argument = kernel_of(kernel).arguments.at(index);
    if (what == CL_KERNEL_ARG_ADDRESS_QUALIFIER) return fake_number(argument.space, room, to, needed);
    return fake_text(what == CL_KERNEL_ARG_NAME ? argument.name : argument.type, room, to, needed);
  };
  api.get_kernel_work_group_info = [](cl_kernel kernel, cl_device_id, cl_kernel_work_group_info what, std::size_t room,
                                      void* to, std::size_t* needed) {
    const FakeKernel& fake = kernel_of(kernel);
    if (what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE) return fake_number(fake.required_block, room, to, needed);
    if (what == CL_KERNEL_WORK_GROUP_SIZE) return fake_number(fake.most_items, room, to, needed);
    return fake_number(what == CL_KERNEL_LOCAL_MEM_SIZE ? fake.shared_bytes : fake.stack_bytes, room, to, needed);
  };
  api.set_kernel_arg = [](cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) -> cl_int {
    std::string what = fmt::format("shared {}", bytes);
    std::int32_t number = 0;
    if (value != nullptr && bytes == sizeof number) {
      std::memcpy(&number, value, bytes);
      what = fmt::format("int {}", number);
    } else if (value != nullptr) {
      what = "buffer";
    }
    return driver().make(fmt::format("set {} {}: {}", kernel_of(kernel).name, index, what));
  };
}

void bind_buffers(Api& api) {
  api.create_buffer = [](cl_context, cl_mem_flags flags, std::size_t bytes, void*, cl_int* status) {
    const bool in_place = (flags & CL_MEM_USE_HOST_PTR) != 0;
    return made<cl_mem>(fmt::format("buffer {}{}", bytes, in_place ? " in place" : ""), status);
  };
  api.create_sub_buffer = [](cl_mem, cl_mem_flags, cl_buffer_create_type, const void* region, cl_int* status) {
    const auto* part = static_cast<const cl_buffer_region*>(region);
    return made<cl_mem>(fmt::format("part {} at {}", part->size, part->origin), status);
  };
  api.release_mem_object = [](cl_mem) -> cl_int { return CL_SUCCESS; };
  api.enqueue_write_buffer = [](cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t bytes, const void*, cl_uint,
                                const cl_event*, cl_event*) { return driver().make(fmt::format("write {}", bytes)); };
  api.enqueue_read_buffer = [](cl_command_queue, cl_mem, cl_bool, std::size_t, std::size_t bytes, void*, cl_uint,
                               const cl_event*, cl_event*) { return driver().make(fmt::format("read {}", bytes)); };
  api.enqueue_fill_buffer = [](cl_command_queue, cl_mem, const void*, std::size_t, std::size_t, std::size_t bytes,
                               cl_uint, const cl_event*,
                               cl_event*) { return driver().make(fmt::format("flush {}", bytes)); };
}

void bind_launches(Api& api) {
  api.enqueue_nd_range_kernel = [](cl_command_queue, cl_kernel kernel, cl_uint, const std::size_t*,
                                   const std::size_t* global, const std::size_t* local, cl_uint, const cl_event*,
                                   cl_event* event) {
    driver().calls.push_back(fmt::format("launch {} {} x {} x {} by {} x {} x {}", kernel_of(kernel).name, global[0],
                                         global[1], global[2], local[0], local[1], local[2]));
    *event = fake_handle<cl_event>(0);
    return driver().launch_status;
  };
  api.finish = [](cl_command_queue) { return driver().make("finish"); };
  api.get_event_info = [](cl_event, cl_event_info, std::size_t room, void* to, std::size_t* needed) {
    return fake_number(driver().event_status, room, to, needed);
  };
  api.release_event = [](cl_event) -> cl_int { return CL_SUCCESS; };
}

}  // namespace

Api FakeOpencl::api() const {
  Api api;
  bind_platforms(api);
  bind_programs(api);
  bind_kernels(api);
  bind_buffers(api);
  bind_launches(api);
  return api;
}

}  // namespace kw::opencl
