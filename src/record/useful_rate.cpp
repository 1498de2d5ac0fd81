#include "record/useful_rate.hpp"

#include <fmt/format.h>

namespace kw {

std::string useful_rate_text(double flops, double bytes, double nanoseconds) {
  if (!(nanoseconds > 0)) return "";
  if (flops > 0) return fmt::format("{:.1f} GFLOP/s", flops / nanoseconds);
  return bytes > 0 ? fmt::format("{:.1f} GB/s", bytes / nanoseconds) : "";
}

}  // namespace kw
