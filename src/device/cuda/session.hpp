#pragma once
// One opened GPU: what loading and launching share. Everything in it belongs to the driver and lives as long as the
// process, which runs one candidate.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/cuda/driver_api.hpp"
#include "hardware/device_facts.hpp"

namespace kw::cuda {

/// f32, f16 and bf16.
inline constexpr std::size_t k_number_types = 3;

/// Kernels of the host's own that draw random tensors and look through buffers (fills.hpp), by type.
struct NumberKernels {
  std::array<Function, k_number_types> draw{};
  std::array<Function, k_number_types> find_changed{};
  std::array<Function, k_number_types> count_useless{};
  DeviceAddress tables = 0;  ///< NormalTables
  DeviceAddress found = 0;   ///< two 64-bit words
  /// What holds the first elements of a buffer's rows (BufferFill::has_firsts), by the buffer's index. It grows.
  struct Firsts {
    DeviceAddress memory = 0;
    std::size_t bytes = 0;
  };
  std::map<std::int64_t, Firsts> firsts;
};

struct Session {
  DriverApi api;
  DeviceFacts facts;
  Stream stream = nullptr;
  Event begin = nullptr;
  Event end = nullptr;
  DeviceAddress flush = 0;  ///< as long as twice the L2 cache; 0 when its size is not known
  std::size_t flush_bytes = 0;
  /// A word in host memory that the stream waits for, so that everything is queued before the first launch starts; null
  /// when the driver cannot wait for one.
  volatile std::uint32_t* gate = nullptr;
  DeviceAddress gate_address = 0;
  std::uint32_t gate_turn = 0;
  std::optional<NumberKernels> numbers;  ///< where the host has given them
  /// A tool watches: buffers apart from each other, and nothing queued behind the gate, because it may run each launch
  /// to its end, several times, before it goes on.
  bool watched = false;
  /// Why the GPU's context is lost: most errors of a kernel stay for good. Empty while it works.
  std::string lost;
};

/// A context and everything of ours in it.
[[nodiscard]] Result<Session> open_session(const DriverApi& api, DeviceOrdinal device, DeviceFacts facts);

}  // namespace kw::cuda
