#include "operators/program/oracle/windows.hpp"

#include <algorithm>

namespace kw::program_oracle {

Window last_extents(const Extents& extents, std::size_t count) {
  Window window{1, 1, 1};
  std::copy_n(extents.end() - static_cast<std::ptrdiff_t>(count), count,
              window.end() - static_cast<std::ptrdiff_t>(count));
  return window;
}

Window window_argument(const OracleCall& call, std::string_view name, std::size_t count, std::int64_t neutral) {
  Window window{neutral, neutral, neutral};
  const auto written = call.integers(name);
  for (std::size_t i = 0; i < count; ++i) window[3 - count + i] = written.size() == 1 ? written[0] : written[i];
  return window;
}

std::size_t window_axes(std::string_view op) {
  return static_cast<std::size_t>(op[op.size() - 2] - '0');
}

}  // namespace kw::program_oracle
