#pragma once
// Kernels of the host's own that draw random tensors on a device of CUDA and look whether they are still there
// (number_kernels.cu), so that the data of a launch need not be copied. Built once by a backend, beside other work.

#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "verify/processes/execution_backend.hpp"

namespace kw {

/// The kernels' text, for tests.
[[nodiscard]] std::string_view number_kernels_text();

class NumberKernelBuild {
 public:
  using Build =
      std::function<std::variant<BuildReply, LostWorker>(const BuildRequest& request, AnswerDeadline deadline)>;

  /// `build` is called in a thread of this object's, which ends before it does. No thread for a device that is none of
  /// CUDA's GPUs.
  NumberKernelBuild(const DeviceFacts& device, Build build);

  /// Begins to build, unless somebody has.
  void begin();
  /// Waits for what was built; "" where nothing is to be built, and where it could not be: data are then copied.
  [[nodiscard]] std::string binary();

 private:
  bool wanted_;
  Build build_;
  std::mutex mutex_;
  std::shared_future<std::string> built_;
};

}  // namespace kw
