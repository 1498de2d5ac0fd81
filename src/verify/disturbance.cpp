#include "verify/disturbance.hpp"

#include <fstream>
#include <string>

namespace kw {

std::optional<std::int64_t> steal_ticks() {
  std::ifstream stat("/proc/stat");
  std::string label;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (stat >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal) return steal;
  return std::nullopt;
}

}  // namespace kw
