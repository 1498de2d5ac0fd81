#pragma once
// What a prompt asks a kernel to reach next, as a figure: a try has to be told from noise, and no figure may ask for
// what the device cannot do. Pure; internal to prompts.

#include <optional>
#include <string>

namespace kw {

/// A kernel that is right, to be beaten.
struct Rival {
  std::string name;  ///< "the best kernel so far"
  double median_ns = 0;
};

/// "at least 10 % faster than the best kernel so far, which takes 19.7 ms: 17.9 ms or less. ...". Never a time below
/// `bound_ns`, what the device's peaks allow (absent: not known): nearer than 10 % to it, the bound itself is named,
/// and beyond it no time at all, because the bound is no guide then. Empty without a time of the rival.
[[nodiscard]] std::string goal_text(const Rival& rival, std::optional<double> bound_ns);

}  // namespace kw
