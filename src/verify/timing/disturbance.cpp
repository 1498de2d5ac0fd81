#include "verify/timing/disturbance.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace kw {
namespace {

constexpr double k_tolerated_share = 0.01;

/// Seconds stolen since boot, over all processors.
std::optional<double> stolen_seconds() {
  std::ifstream stat("/proc/stat");
  std::string label;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(stat >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)) return std::nullopt;
  return static_cast<double>(steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

DisturbanceWatch::DisturbanceWatch(const Clock& clock)
    : clock_(clock), start_(clock.now()), stolen_before_(stolen_seconds()) {}

bool DisturbanceWatch::disturbed() const {
  const auto stolen_now = stolen_seconds();
  if (!stolen_before_ || !stolen_now) return false;
  const double available = to_seconds(clock_.now() - start_) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  return *stolen_now - *stolen_before_ > k_tolerated_share * available;
}

}  // namespace kw
