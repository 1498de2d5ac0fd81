#pragma once
// For tests: an OpenCL driver made of plain data. A test says which platforms, kernels and answers there are, and reads
// what was called. One at a time, because OpenCL's functions have no place for a user's pointer.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "device/opencl/session.hpp"

namespace kw::opencl {

struct FakeArgument {
  std::string name;
  std::string type;
  cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_GLOBAL;
};
struct FakeKernel {
  std::string name;
  std::vector<FakeArgument> arguments;
  std::array<std::size_t, 3> required_block{0, 0, 0};
  std::size_t most_items = 1024;
  cl_ulong shared_bytes = 0;
  cl_ulong stack_bytes = 0;
};
struct FakePlatform {
  std::string name;
  std::vector<cl_device_type> devices;
};

class FakeOpencl {
 public:
  FakeOpencl() { current() = this; }
  FakeOpencl(const FakeOpencl&) = delete;
  FakeOpencl& operator=(const FakeOpencl&) = delete;
  ~FakeOpencl() { current() = nullptr; }

  std::vector<FakePlatform> platforms;
  std::vector<FakeKernel> kernels;
  bool records_arguments = true;  ///< some drivers keep no names and types
  std::string log;
  std::string binary = "binary";
  cl_int build_status = CL_SUCCESS;
  cl_int launch_status = CL_SUCCESS;  ///< of clEnqueueNDRangeKernel
  cl_int event_status = CL_COMPLETE;  ///< of the launch itself
  std::string refuses;                ///< the call that fails with CL_OUT_OF_RESOURCES, such as "buffer"
  std::vector<std::string> calls;     ///< "set k 0: int 5", "launch k", "write 64"

  [[nodiscard]] Api api() const;
  /// As open_opencl_device makes it, for the first device.
  [[nodiscard]] Session session(DeviceKind kind = DeviceKind::cpu) const {
    ListedDevice device;
    device.facts.kind = kind;
    device.facts.last_level_cache_bytes = 1024;
    return Session{api(), std::move(device), {}, OwnedContext(nullptr, nullptr), OwnedQueue(nullptr, nullptr), {}};
  }

  static FakeOpencl*& current() {
    static FakeOpencl* driver = nullptr;
    return driver;
  }
  /// Notes a call that makes something, and whether it succeeds.
  cl_int make(const std::string& what) {
    const bool refused = !refuses.empty() && what.starts_with(refuses);
    if (!refused) calls.push_back(what);
    return refused ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
  }
};

/// Answers a query of OpenCL's kind with the bytes of `value`.
inline cl_int fake_answer(const void* value, std::size_t bytes, std::size_t room, void* to, std::size_t* needed) {
  if (needed != nullptr) *needed = bytes;
  if (to == nullptr) return CL_SUCCESS;
  if (room < bytes) return CL_INVALID_VALUE;
  std::memcpy(to, value, bytes);
  return CL_SUCCESS;
}
inline cl_int fake_text(const std::string& text, std::size_t room, void* to, std::size_t* needed) {
  return fake_answer(text.c_str(), text.size() + 1, room, to, needed);
}
template <typename Number>
cl_int fake_number(Number number, std::size_t room, void* to, std::size_t* needed) {
  return fake_answer(&number, sizeof number, room, to, needed);
}
/// Handles count from 1.
template <typename Handle>
Handle fake_handle(std::size_t index) {
  return reinterpret_cast<Handle>(index + 1);
}
template <typename Handle>
std::size_t fake_index(Handle handle) {
  return reinterpret_cast<std::size_t>(handle) - 1;
}

}  // namespace kw::opencl
