#pragma once
// What a CUDA kernel may not hold, judged on the PTX that NVRTC hands to the assembler: after macros, templates and
// strings of inline assembly are what they are. Whatever reaches beyond one launch of one grid is refused: clocks and
// counters, memory of the module that a launch could leave something in, functions of the driver (printf, malloc,
// assert, launches from the device), wishes about what the L2 cache keeps for the next launch, signals to other
// launches, and traps. Tables of constants are no such memory where nothing but loads can reach them.

#include <optional>
#include <string>
#include <string_view>

namespace kw::cuda {

/// The first thing that is refused, as a sentence for its author with what to write instead; nothing where there is
/// none. A text that is not read the same way by everybody (unbalanced quotes, '#') is refused as well.
[[nodiscard]] std::optional<std::string> forbidden_in_ptx(std::string_view ptx);

}  // namespace kw::cuda
