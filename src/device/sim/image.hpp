#pragma once
// A program loaded into the run process. Loading runs whatever initialisers the object has, so it happens after the
// process has given up its rights.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.hpp"
#include "device/sim/block.hpp"
#include "device/sim/program.hpp"

namespace kw::sim {

class Image {
 public:
  /// `file` holds the object; `runtime` is what its code calls. Never unloaded: the process ends with it.
  [[nodiscard]] static Result<Image> load(const std::filesystem::path& file, const kw_sim::Runtime& runtime);

  /// errc::device_refused when the object has no such kernel.
  [[nodiscard]] Result<KernelEntry> kernel(const std::string& name) const;
  /// Code, constants and variables, for telling them from stray addresses.
  [[nodiscard]] std::span<const std::byte> memory() const { return memory_; }
  /// The calling thread's shared memory, of which a launch gets `granted_bytes` of the dynamic part.
  [[nodiscard]] SharedRegion shared_region(std::size_t granted_bytes) const;

 private:
  void* handle_ = nullptr;
  std::span<const std::byte> memory_;
};

}  // namespace kw::sim
