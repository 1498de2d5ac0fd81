#pragma once
// What the simulator has to say about a kernel. The first finding of each kind is written to standard error, one line
// in a fixed form that the host looks for: "kernelwright-sim: KIND: TEXT, line N".

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "device/sim/runtime/abi.hpp"

namespace kw::sim {

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  race,
  uninitialised,
  divergent_barrier,
  deadlock,
  inactive_lane,
  misused_instruction,
  stopped,  ///< an assertion or a trap of the kernel's own
};
inline constexpr std::size_t k_finding_kinds = 9;
[[nodiscard]] std::string_view to_string(FindingKind kind);

/// Collects findings of one process. Thread-safe.
class FindingLog {
 public:
  /// `line_of` turns a place in the candidate's code into a source line, 0 when it is not known.
  explicit FindingLog(std::function<int(kw_sim::Place)> line_of) : line_of_(std::move(line_of)) {}

  /// A read of uninitialised memory is held back until finish(): where there is a race, it is only how the race shows.
  void report(FindingKind kind, const std::string& text, kw_sim::Place place);
  /// "line 12", or "line unknown".
  [[nodiscard]] std::string line_text(kw_sim::Place place) const;
  /// At the end of a launch.
  void finish();
  [[nodiscard]] bool any() const { return any_; }
  /// Whether another of this kind would be silent anyway.
  [[nodiscard]] bool has(FindingKind kind) const { return seen_[static_cast<std::size_t>(kind)]; }
  /// "race: thread (1, 0, 0) ..., line 12", the first that was reported.
  [[nodiscard]] std::string first() const;

 private:
  std::function<int(kw_sim::Place)> line_of_;
  mutable std::mutex mutex_;
  void write(const std::string& sentence);

  std::string first_;
  std::string held_back_;
  std::atomic<bool> any_{false};
  std::array<std::atomic<bool>, k_finding_kinds> seen_{};
};

}  // namespace kw::sim
