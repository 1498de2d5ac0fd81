#pragma once
// The entry points of the CUDA driver in use, found with dlopen so that the worker starts where none is installed.
// Declared here because its header need not be installed where kernelwright is built; names, values and prototypes are
// those of the driver API since CUDA 12. Everything in this folder calls the driver through a DriverApi.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "device/device.hpp"

namespace kw::cuda {

using Status = int;  ///< CUresult; 0 is success
using DeviceOrdinal = int;
using DeviceAddress = unsigned long long;
using Context = struct ContextObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;

/// CUdevice_attribute.
enum class DeviceAttribute : int {
  max_threads_per_block = 1,
  shared_bytes_per_block = 8,
  warp_size = 10,
  registers_per_block = 12,
  clock_khz = 13,
  units = 16,
  memory_clock_khz = 36,
  memory_bus_bits = 37,
  l2_bytes = 38,
  max_threads_per_unit = 39,
  capability_major = 75,
  capability_minor = 76,
  shared_bytes_per_unit = 81,
  registers_per_unit = 82,
  shared_bytes_per_block_optin = 97,
  max_blocks_per_unit = 106,
  reserved_shared_bytes_per_block = 111,
};
/// CUfunction_attribute.
enum class FunctionAttribute : int { static_shared_bytes = 1, max_dynamic_shared_bytes = 8 };

struct DriverApi {
  Status (*init)(unsigned) = nullptr;
  Status (*driver_version)(int*) = nullptr;
  Status (*error_name)(Status, const char**) = nullptr;
  Status (*error_string)(Status, const char**) = nullptr;
  Status (*device_count)(int*) = nullptr;
  Status (*device_get)(DeviceOrdinal*, int) = nullptr;
  Status (*device_name)(char*, int, DeviceOrdinal) = nullptr;
  Status (*device_attribute)(int*, DeviceAttribute, DeviceOrdinal) = nullptr;
  Status (*device_memory)(std::size_t*, DeviceOrdinal) = nullptr;
  Status (*retain_context)(Context*, DeviceOrdinal) = nullptr;
  Status (*set_context)(Context) = nullptr;
  Status (*synchronise_context)() = nullptr;
  Status (*create_stream)(Stream*, unsigned) = nullptr;
  Status (*synchronise_stream)(Stream) = nullptr;
  Status (*create_event)(Event*, unsigned) = nullptr;
  Status (*record_event)(Event, Stream) = nullptr;
  Status (*elapsed_ms)(float*, Event, Event) = nullptr;
  Status (*load_module)(Module*, const void*) = nullptr;
  Status (*get_function)(Function*, Module, const char*) = nullptr;
  Status (*function_attribute)(int*, FunctionAttribute, Function) = nullptr;
  Status (*set_function_attribute)(Function, FunctionAttribute, int) = nullptr;
  Status (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**,
                   void**) = nullptr;
  Status (*allocate)(DeviceAddress*, std::size_t) = nullptr;
  Status (*upload)(DeviceAddress, const void*, std::size_t) = nullptr;
  Status (*download)(void*, DeviceAddress, std::size_t) = nullptr;
  Status (*fill_words)(DeviceAddress, unsigned, std::size_t, Stream) = nullptr;
  Status (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  Status (*host_address)(DeviceAddress*, void*, unsigned) = nullptr;
  /// Absent in older drivers: null.
  Status (*wait_value)(Stream, DeviceAddress, unsigned, unsigned) = nullptr;
  Status (*reset_persisting_l2)() = nullptr;
  Status (*register_host)(void*, std::size_t, unsigned) = nullptr;
};

/// Loads the library and never unloads it, because drivers leave threads behind. errc::device_unavailable says how to
/// get it.
[[nodiscard]] Result<DriverApi> load_driver(const std::string& library);

/// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
[[nodiscard]] std::string status_text(const DriverApi& api, Status status);

/// errc::device_refused naming the call and the status, unless it succeeded.
[[nodiscard]] Result<void> check(const DriverApi& api, Status status, std::string_view call);

}  // namespace kw::cuda
