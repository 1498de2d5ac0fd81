#pragma once
// What the style fused makes of a program on a device, before any text of it: which stages went where, and which
// family takes each group. For `explain`.

#include <string>
#include <string_view>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

struct ListedGroup {
  std::string_view family;          ///< "contract"
  std::size_t launches = 0;         ///< kernels that compute it, such as one that packs and one that multiplies
  std::vector<std::string> stages;  ///< in index notation
};

struct LaunchList {
  std::vector<std::string> simplifications;  ///< a line per rule that was applied
  std::vector<std::string> fusions;          ///< a line per stage that went: "relu_1 into conv_1"
  std::vector<ListedGroup> groups;           ///< in the order in which they run
};

/// errc::program_unsupported for an operator without kernels.
[[nodiscard]] Result<LaunchList> launch_list(Dialect dialect, const Problem& problem, const DeviceFacts& device);

}  // namespace kw
