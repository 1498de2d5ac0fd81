#pragma once
// How fast a launch does what cannot be avoided, in few words.

#include <string>

namespace kw {

/// "12.5 GFLOP/s", or "25.3 GB/s" where no operations have to be done; "" where there is neither. Of FLOPs, bytes and
/// nanoseconds.
[[nodiscard]] std::string useful_rate_text(double flops, double bytes, double nanoseconds);

}  // namespace kw
