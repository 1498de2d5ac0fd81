#include "base/clock.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace kw {

std::optional<Duration> SteadyClock::stolen() const {
  std::ifstream stat("/proc/stat");
  std::string label;
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(stat >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)) return std::nullopt;
  return from_seconds(static_cast<double>(steal) / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace kw
