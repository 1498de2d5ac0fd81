#pragma once
// Tells reasoning that a model wrote into its answer apart from the answer itself. Open models mark it with tags, which
// most servers take out and some do not.

#include <string_view>

namespace kw {

struct SplitContent {
  std::string_view reasoning;
  std::string_view answer;
};

/// A `<think>` or `<thinking>` block at the start of `content` (white space before it aside) is reasoning; so is
/// everything in front of a closing tag that was never opened, because some chat templates put the opening tag into the
/// prompt. A block that is never closed takes all the rest. Blocks further inside are part of the answer. White space
/// around both parts is cut. Views into `content`.
[[nodiscard]] SplitContent split_reasoning(std::string_view content);

}  // namespace kw
