// A CUDA driver for tests: device memory is host memory, a stream is a list of work that runs when somebody waits for
// it, and a kernel is one of a few functions known by name, whatever the module holds. It is strict where a real driver
// hangs or misbehaves: a gate that was not opened, too much dynamic shared memory without permission, work after an
// error. $KW_FAKE_CUDA changes it: "no-gpu", "broken", "no-gate", "no-pages", "fast-clock", "old-gpu",
// "at-once": what is queued runs before the next call.

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/normal.hpp"
#include "base/random_tensor.hpp"

// The driver's own names.
// NOLINTBEGIN(readability-identifier-naming)
namespace {

using Status = int;
using Address = unsigned long long;

constexpr Status k_invalid_value = 1;
constexpr Status k_out_of_memory = 2;
constexpr Status k_no_device = 100;
constexpr Status k_operating_system = 304;
constexpr Status k_not_found = 500;
constexpr Status k_illegal_address = 700;
constexpr Status k_hangs = 999;

struct Kernel {
  std::string name;
  int dynamic_shared = 48 << 10;
};
struct Timestamp {
  std::chrono::steady_clock::time_point at;
};

std::vector<std::function<Status()>> work;
/// What was created lives as long as the driver, as users of this one expect; and is freed with it.
std::deque<Timestamp> events;
std::deque<std::vector<std::byte>> allocations;
/// A driver hands out whole blocks of device memory: what is written just behind a buffer hits nothing that is watched.
constexpr std::size_t k_block_bytes = 512;
std::map<std::string, Kernel> kernels;
std::string calls;
Status sticky = 0;

bool mode(std::string_view which) {
  const char* value = std::getenv("KW_FAKE_CUDA");
  return value != nullptr && which == value;
}

void note(std::string_view call) {
  calls.append(calls.empty() ? "" : " ").append(call);
}

float* floats(void** arguments, int index) {
  return reinterpret_cast<float*>(*static_cast<Address*>(arguments[index]));
}
int number(void** arguments, int index) {
  return *static_cast<int*>(arguments[index]);
}

void spin(std::chrono::microseconds length) {
  const auto until = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < until) continue;
}

std::uint64_t word_64(void** arguments, int index) {
  return *static_cast<std::uint64_t*>(arguments[index]);
}

/// What the host's own kernels for random tensors work on, by the arguments that they take.
struct Numbers {
  std::byte* buffer;
  std::size_t count;
  kw::RandomTensor tensor;
  bool has_tables;      ///< the same as the host's
  const float* firsts;  ///< of rows; null where they are the tensor's. Tests have them in f32 alone
};
Numbers numbers_of(void** arguments) {
  const auto* const tables = reinterpret_cast<const std::byte*>(word_64(arguments, 2));
  const auto own_tables = std::as_bytes(std::span(&kw::normal_tables(), 1));
  const auto real = [&](int index, unsigned shift) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word_64(arguments, index) >> shift));
  };
  const kw::DrawRule rule{static_cast<kw::DrawRule::Numbers>(word_64(arguments, 4)),
                          static_cast<kw::DrawRule::RowScales>(word_64(arguments, 5)), real(8, 0), real(8, 32),
                          real(9, 0)};
  const kw::RandomTensor tensor{rule, word_64(arguments, 3), static_cast<std::int64_t>(word_64(arguments, 6)),
                                static_cast<std::int64_t>(word_64(arguments, 7))};
  return {reinterpret_cast<std::byte*>(word_64(arguments, 0)), word_64(arguments, 1), tensor,
          std::ranges::equal(own_tables, std::span(tables, own_tables.size())),
          reinterpret_cast<const float*>(word_64(arguments, 10))};
}

/// The elements' bytes, as a buffer of that type holds them.
std::vector<std::byte> drawn(const Numbers& numbers, std::string_view type) {
  std::vector<float> values(numbers.count);
  kw::fill_random(values, numbers.tensor);
  const auto row_length = static_cast<std::size_t>(numbers.tensor.row_length);
  for (std::size_t i = 0; numbers.firsts != nullptr && i < values.size(); i += row_length) {
    values[i] = numbers.firsts[i / row_length];
  }
  std::vector<std::byte> bytes(values.size() * (type == "f32" ? 4 : 2));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t short_bits = type == "f16" ? kw::half_bits(values[i]) : kw::bfloat_bits(values[i]);
    const void* const from = type == "f32" ? static_cast<const void*>(&values[i]) : &short_bits;
    std::memcpy(bytes.data() + i * (bytes.size() / values.size()), from, bytes.size() / values.size());
  }
  return bytes;
}

/// Of f32, the only type that tests ask for: how many hold the pattern, and how many are NaN.
std::function<Status()> useless_kernel(void** arguments) {
  return [in = floats(arguments, 0), count = word_64(arguments, 1), pattern = word_64(arguments, 2),
          counts = reinterpret_cast<std::uint64_t*>(word_64(arguments, 3))] {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, in + i, sizeof bits);
      if (bits == static_cast<std::uint32_t>(pattern)) ++counts[0];
      if ((bits & 0x7fffffffU) > 0x7f800000U) ++counts[1];
    }
    return 0;
  };
}

std::function<Status()> number_kernel(std::string_view name, void** arguments) {
  if (name.starts_with("k_count_useless_")) return useless_kernel(arguments);
  const Numbers numbers = numbers_of(arguments);
  const std::string type(name.substr(name.rfind('_') + 1));
  if (!numbers.has_tables) return [] { return k_illegal_address; };
  if (name.starts_with("k_draw_")) {
    return [numbers, type] {
      const auto bytes = drawn(numbers, type);
      std::memcpy(numbers.buffer, bytes.data(), bytes.size());
      return 0;
    };
  }
  return [numbers, type, changed = reinterpret_cast<std::uint64_t*>(word_64(arguments, 11))] {
    const auto bytes = drawn(numbers, type);
    if (std::memcmp(numbers.buffer, bytes.data(), bytes.size()) != 0) *changed |= 1;
    return 0;
  };
}

/// Arguments are read when the launch is queued, as the driver does.
std::function<Status()> body_of(const std::string& name, void** arguments) {
  if (name == "k_add") {
    return [a = floats(arguments, 0), b = floats(arguments, 1), sum = floats(arguments, 2), n = number(arguments, 3)] {
      for (int i = 0; i < n; ++i) sum[i] = a[i] + b[i];
      spin(std::chrono::microseconds(200));
      return 0;
    };
  }
  if (name == "k_overrun") {
    return [out = floats(arguments, 0), n = number(arguments, 1)] {
      for (int i = 0; i <= n; ++i) out[i] = 1.0F;
      return 0;
    };
  }
  for (const char* const own : {"k_draw_", "k_find_changed_", "k_count_useless_"}) {
    if (name.starts_with(own)) return number_kernel(name, arguments);
  }
  if (name == "k_fault") return [] { return k_illegal_address; };
  return [] { return 0; };
}

Status run_all() {
  for (const auto& step : work) {
    if (sticky != 0) break;
    const Status status = step();
    if (status == k_illegal_address) sticky = status;
    if (status != 0 && sticky == 0) {
      work.clear();
      return status;
    }
  }
  work.clear();
  return sticky;
}

int attribute_of(int which) {
  switch (which) {
    case 1:
      return 1024;  // threads per block
    case 8:
      return 49152;  // shared memory per block
    case 10:
      return 32;
    case 12:
    case 82:
      return 65536;  // registers
    case 13:
      return 1000000;  // kHz
    case 16:
      return 4;  // units
    case 36:
      return 500000;  // kHz of the memory
    case 37:
      return 1024;  // bits of its bus
    case 38:
      return 1 << 20;  // L2
    case 39:
      return 2048;
    case 75:
      return mode("old-gpu") ? 5 : 9;
    case 76:
      return 0;
    case 81:
      return 233472;
    case 97:
      return 232448;
    case 106:
      return 32;
    case 111:
      return 1024;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

const char* fake_cuda_calls() {
  return calls.c_str();
}
void fake_cuda_reset() {
  calls.clear();
  work.clear();
  sticky = 0;
}

Status cuInit(unsigned) {
  return mode("broken") ? k_operating_system : 0;
}
Status cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
Status cuGetErrorName(Status status, const char** name) {
  *name = status == k_illegal_address    ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : status == k_operating_system ? "CUDA_ERROR_OPERATING_SYSTEM"
          : status == k_hangs            ? "FAKE_HANG"
                                         : "CUDA_ERROR_OTHER";
  return 0;
}
Status cuGetErrorString(Status status, const char** text) {
  *text = status == k_illegal_address ? "an illegal memory access was encountered" : "as the fake driver says";
  return 0;
}
Status cuDeviceGetCount(int* count) {
  *count = mode("no-gpu") ? 0 : 1;
  return 0;
}
Status cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? 0 : k_no_device;
}
Status cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return 0;
}
Status cuDeviceGetAttribute(int* value, int which, int) {
  *value = attribute_of(which);
  return 0;
}
Status cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{1} << 30;
  return 0;
}
Status cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &sticky;
  return 0;
}
Status cuCtxSetCurrent(void*) {
  return 0;
}
Status cuCtxSynchronize() {
  note("sync");
  return run_all();
}
Status cuStreamCreate(void** stream, unsigned flags) {
  *stream = &work;
  return flags == 1 ? 0 : k_invalid_value;
}
Status cuStreamSynchronize(void*) {
  note("wait");
  return run_all();
}
Status cuEventCreate(void** event, unsigned) {
  *event = &events.emplace_back();
  return 0;
}
Status cuEventRecord(void* event, void*) {
  note("event");
  work.emplace_back([event] {
    static_cast<Timestamp*>(event)->at = std::chrono::steady_clock::now();
    return 0;
  });
  return mode("at-once") ? run_all() : sticky;
}
Status cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const std::chrono::duration<float, std::milli> took =
      static_cast<Timestamp*>(end)->at - static_cast<Timestamp*>(begin)->at;
  *milliseconds = took.count() * (mode("fast-clock") ? 1000.0F : 1.0F);
  return sticky;
}
Status cuModuleLoadData(void** module, const void* image) {
  note("module");
  *module = const_cast<void*>(image);
  return image == nullptr ? k_invalid_value : 0;
}
Status cuModuleGetFunction(void** function, void*, const char* name) {
  if (!std::string_view(name).starts_with("k_")) return k_not_found;
  Kernel& kernel = kernels[name];
  kernel = {name};
  *function = &kernel;
  return 0;
}
Status cuFuncGetAttribute(int* value, int which, void*) {
  *value = which == 1 ? 1024 : 0;  // each declares a kibibyte of shared memory
  return 0;
}
Status cuFuncSetAttribute(void* function, int which, int value) {
  note("shared:" + std::to_string(value));
  if (which != 8) return k_invalid_value;
  static_cast<Kernel*>(function)->dynamic_shared = value;
  return 0;
}
Status cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void*, void** arguments, void**) {
  const Kernel& kernel = *static_cast<Kernel*>(function);
  note("launch:" + kernel.name);
  if (gx * gy * gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024) return k_invalid_value;
  if (static_cast<int>(shared) > kernel.dynamic_shared) return k_invalid_value;
  work.push_back(body_of(kernel.name, arguments));
  return mode("at-once") ? run_all() : sticky;
}
Status cuMemAlloc_v2(Address* address, std::size_t bytes) {
  const std::size_t whole = (bytes / k_block_bytes + 1) * k_block_bytes;
  void* const memory = bytes > (std::size_t{1} << 30) ? nullptr : allocations.emplace_back(whole).data();
  *address = reinterpret_cast<Address>(memory);
  return memory == nullptr ? k_out_of_memory : 0;
}
Status cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  note("upload");
  if (sticky == 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return sticky;
}
Status cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  note("download");
  if (sticky == 0) std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return sticky;
}
Status cuMemsetD32Async(Address to, unsigned value, std::size_t words, void*) {
  note("flush:" + std::to_string(words * 4));
  work.emplace_back([=] {
    auto* memory = reinterpret_cast<std::uint32_t*>(to);
    for (std::size_t i = 0; i < words; ++i) memory[i] = value;
    return 0;
  });
  return sticky;
}
Status cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  if (mode("no-gate") || flags != 2) return k_out_of_memory;
  *memory = allocations.emplace_back(bytes).data();
  return 0;
}
Status cuMemHostRegister_v2(void*, std::size_t bytes, unsigned flags) {
  note("register:" + std::to_string(bytes));
  return mode("no-pages") || flags != 0 ? k_out_of_memory : 0;
}
Status cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  *address = reinterpret_cast<Address>(memory);
  return 0;
}
Status cuStreamWaitValue32_v2(void*, Address address, unsigned value, unsigned flags) {
  note("gate");
  if (flags != 1) return k_invalid_value;
  work.emplace_back(
      [address, value] { return *reinterpret_cast<volatile std::uint32_t*>(address) == value ? 0 : k_hangs; });
  return sticky;
}
Status cuCtxResetPersistingL2Cache() {
  note("reset-l2");
  return sticky;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
