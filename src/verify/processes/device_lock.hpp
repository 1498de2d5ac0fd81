#pragma once
// One launch at a time per GPU, over all kernelwright processes of this machine: a second one would share the clock,
// the cache and the memory, and both would measure the other. Launches whose time nobody reads, those under a
// sanitizer, may run beside each other. A CPU needs no lock, because there the measurement itself notices disturbance.

#include <cstdint>
#include <filesystem>

#include "base/unique_fd.hpp"
#include "hardware/device_facts.hpp"

namespace kw {

class DeviceLock {
 public:
  enum class Kind : std::uint8_t {
    alone,           ///< for a launch that may be timed
    beside_untimed,  ///< beside others of this kind
  };

  /// The file "kernelwright-ID.lock" in `folder`, or in $XDG_RUNTIME_DIR or the system's folder for temporary files,
  /// and "kernelwright-ID.queue.lock" beside it, for the order of those who wait. Where they can be neither made nor
  /// opened, and for other devices than GPUs, holding the lock does nothing.
  explicit DeviceLock(const DeviceFacts& device, const std::filesystem::path& folder = {});

  /// Held as long as it lives.
  class Hold {
   public:
    Hold(int file, int queue, Kind kind);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    int file_;
  };
  /// Waits for whoever stands against it and came before. Not from two threads at once.
  [[nodiscard]] Hold hold(Kind kind) const { return {file_.get(), queue_.get(), kind}; }

 private:
  UniqueFd file_;
  UniqueFd queue_;
};

}  // namespace kw
