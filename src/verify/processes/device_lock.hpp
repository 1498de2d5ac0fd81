#pragma once
// One launch at a time per GPU, over all kernelwright processes of this machine: a second one would share the clock,
// the cache and the memory, and both would measure the other. A CPU needs no lock, because there the measurement itself
// notices disturbance.

#include <filesystem>

#include "base/unique_fd.hpp"
#include "hardware/device_facts.hpp"

namespace kw {

class DeviceLock {
 public:
  /// The file "kernelwright-ID.lock" in `folder`, or in $XDG_RUNTIME_DIR or the system's folder for temporary files.
  /// Where it can be neither made nor opened, and for other devices than GPUs, holding it does nothing.
  explicit DeviceLock(const DeviceFacts& device, const std::filesystem::path& folder = {});

  /// Held as long as it lives.
  class Hold {
   public:
    explicit Hold(int file);
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    int file_;
  };
  /// Waits for whoever holds it. Not from two threads at once.
  [[nodiscard]] Hold hold() const { return Hold(file_.valid() ? file_.get() : -1); }

 private:
  UniqueFd file_;
};

}  // namespace kw
