#pragma once
// What is measured or counted about a problem, a device and a kernel, by name: the words in which a note of knowledge/
// says when it applies. A sign that is not known of a kernel has no entry, and no condition on it holds.

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace kw {

using Signs = std::map<std::string, double, std::less<>>;

/// What a sign says, for people: "share of the roofline bound". Empty: there is no sign of that name. `axis_NAME` is
/// the extent of any axis of the problem in the timed workload.
[[nodiscard]] std::string sign_meaning(std::string_view name);

/// "bound_share, calls_exp, ..."
[[nodiscard]] std::string sign_names();

}  // namespace kw
