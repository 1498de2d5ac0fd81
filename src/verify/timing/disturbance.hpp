#pragma once
// Signs that the machine was busy with something else while we measured.

#include <optional>
#include <string_view>

#include "base/clock.hpp"

namespace kw {

/// Watches one stretch of measuring, from construction on. Disturbed: the hypervisor gave more than 1 % of the
/// processors' time in it to others (Clock::stolen; in a short stretch a single tick is too much). Never disturbed
/// where that is not known.
class DisturbanceWatch {
 public:
  explicit DisturbanceWatch(const Clock& clock);
  [[nodiscard]] bool disturbed() const;

 private:
  const Clock& clock_;
  Instant start_;
  std::optional<Duration> stolen_before_;
};

/// The share of the last ten seconds, 0 to 1, in which some task waited for a processor, from the system's pressure
/// figures (the text of /proc/pressure/cpu). Nothing where they are missing or read otherwise.
[[nodiscard]] std::optional<double> waiting_share_in(std::string_view pressure);
[[nodiscard]] std::optional<double> waiting_share();

}  // namespace kw
