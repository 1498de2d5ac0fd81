#pragma once
// CUDA C++ or HIP C++ to a shared object for this machine, by the host's C++ compiler and the simulator's own headers
// (runtime/), with every memory access instrumented. In the build process only.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/device_facts.hpp"
#include "protocol/messages.hpp"

namespace kw::sim {

/// The most shared memory any GPU gives to a block; reserved whatever a launch asks for.
inline constexpr std::size_t k_dynamic_shared_bytes = std::size_t{227} << 10;
/// What a block may declare without asking at the launch, where the device says nothing else.
inline constexpr std::int64_t k_static_shared_bytes = std::int64_t{48} << 10;

class Compiler {
 public:
  /// `directory` is writable, private to this process and empty.
  explicit Compiler(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] BuildReply build(const BuildRequest& request, const DeviceFacts& device);

 private:
  /// Headers written and the object that every candidate is linked with compiled; why not, when that failed.
  [[nodiscard]] std::optional<std::string> prepare();
  /// Makes the text that is compiled; false when the reply says why not.
  [[nodiscard]] bool preprocess(const BuildRequest& request, const DeviceFacts& device, BuildReply& reply);
  /// Object file and log; nothing when the reply says why. Refuses what the simulator could not watch
  /// (candidate_text.hpp, instrumentation.hpp).
  [[nodiscard]] std::optional<std::string> compile(const BuildRequest& request, const DeviceFacts& device,
                                                   BuildReply& reply);
  /// A step of the compiler; its output goes to the log. False when it failed, which the reply then explains.
  [[nodiscard]] static bool run(const std::vector<std::string>& command, std::string_view source_name,
                                BuildReply& reply);
  /// For a candidate's text: target and instrumentation.
  [[nodiscard]] std::vector<std::string> candidate_options() const;
  [[nodiscard]] std::string path(std::string_view name) const;
  [[nodiscard]] bool link(const std::string& object, std::string_view source_name, BuildReply& reply);

  std::filesystem::path directory_;
  std::string program_;  ///< the compiler; "" until prepared
  bool clang_ = false;
};

/// The compiler that is used, "" when none is installed.
[[nodiscard]] std::string find_host_compiler();

}  // namespace kw::sim
