#include "device/opencl/platform.hpp"

#include <algorithm>

namespace kw::opencl {
namespace {

/// A text property; `query` as clGetDeviceInfo with its object bound. Empty when the driver does not answer.
template <typename Query>
std::string text_property(const Query& query) {
  std::size_t bytes = 0;
  if (query(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0 || bytes > 4096) return {};
  std::string text(bytes, '\0');
  if (query(bytes, text.data(), nullptr) != CL_SUCCESS) return {};
  return text.substr(0, text.find('\0'));
}

std::string device_text(const Api& api, cl_device_id device, cl_device_info property) {
  return text_property([&](std::size_t bytes, void* value, std::size_t* needed) {
    return api.get_device_info(device, property, bytes, value, needed);
  });
}

std::string platform_text(const Api& api, cl_platform_id platform, cl_platform_info property) {
  return text_property([&](std::size_t bytes, void* value, std::size_t* needed) {
    return api.get_platform_info(platform, property, bytes, value, needed);
  });
}

/// 0 when the driver does not answer.
template <typename Value>
std::int64_t device_number(const Api& api, cl_device_id device, cl_device_info property) {
  Value value = 0;
  if (api.get_device_info(device, property, sizeof value, &value, nullptr) != CL_SUCCESS) return 0;
  return static_cast<std::int64_t>(value);
}

void add_cpu_facts(DeviceFacts& facts) {
  // OpenCL has one cache size and drivers disagree on which level it is; the system's own answer is exact.
  const DeviceFacts host = host_cpu_facts();
  facts.l1_cache_bytes = host.l1_cache_bytes;
  facts.l2_cache_bytes = host.l2_cache_bytes;
  if (host.last_level_cache_bytes > 0) facts.last_level_cache_bytes = host.last_level_cache_bytes;
}

DeviceFacts facts_of(const Api& api, cl_device_id device, const std::string& platform_name) {
  DeviceFacts facts;
  facts.target = "opencl";
  facts.name = device_text(api, device, CL_DEVICE_NAME);
  facts.driver = fmt::format("{}, {}, driver {}", platform_name, device_text(api, device, CL_DEVICE_VERSION),
                             device_text(api, device, CL_DRIVER_VERSION));
  const auto type = static_cast<cl_device_type>(device_number<cl_device_type>(api, device, CL_DEVICE_TYPE));
  facts.kind = (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceKind::cpu : DeviceKind::gpu;
  facts.compute_units = device_number<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  facts.max_block_items = device_number<std::size_t>(api, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  facts.shared_bytes_per_block = device_number<cl_ulong>(api, device, CL_DEVICE_LOCAL_MEM_SIZE);
  facts.memory_bytes = device_number<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.last_level_cache_bytes = device_number<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  facts.vector_floats =
      std::max<std::int64_t>(1, device_number<cl_uint>(api, device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
  if (facts.kind == DeviceKind::cpu) {
    add_cpu_facts(facts);
  } else {
    facts.l2_cache_bytes = facts.last_level_cache_bytes;
  }
  return facts;
}

}  // namespace

Result<std::vector<ListedDevice>> list_devices(const Api& api) {
  cl_platform_id platforms[16] = {};
  cl_uint platform_count = 0;
  const cl_int status = api.get_platform_ids(16, platforms, &platform_count);
  std::vector<ListedDevice> listed;
  for (cl_uint p = 0; status == CL_SUCCESS && p < std::min(platform_count, 16U); ++p) {
    const std::string platform_name = platform_text(api, platforms[p], CL_PLATFORM_NAME);
    cl_device_id devices[64] = {};
    cl_uint device_count = 0;
    constexpr cl_device_type k_types = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    if (api.get_device_ids(platforms[p], k_types, 64, devices, &device_count) != CL_SUCCESS) continue;
    for (cl_uint d = 0; d < std::min(device_count, 64U); ++d) {
      ListedDevice& device = listed.emplace_back();
      device.id = devices[d];
      device.pocl = platform_name == "Portable Computing Language";
      device.tracks_writes = platform_name == "Oclgrind";
      device.facts = facts_of(api, devices[d], platform_name);
      device.facts.id = fmt::format("opencl:{}", listed.size() - 1);
    }
  }
  if (listed.empty()) {
    return fail(Error{errc::device_unavailable,
                      fmt::format("the OpenCL loader finds no device ({})", status_name(status)),
                      "apt-get install pocl-opencl-icd for the CPU, or the vendor's OpenCL driver for a GPU"});
  }
  return listed;
}

}  // namespace kw::opencl
