#pragma once
// The statements of a PTX text, by tokens: as much of the language as it takes to see which names an instruction uses.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw::cuda {

/// Up to the next ';', '{', '}' or label, without comments. Tokens are names with their leading '.', '%', '$' or '_'
/// and their dots ("ld.global.nc.u32", "%rd4", ".extern"), numbers, quoted strings as `""`, and single characters.
using PtxStatement = std::vector<std::string_view>;

struct PtxText {
  std::vector<PtxStatement> statements;
  std::optional<std::string> unclear;  ///< why the assembler could read it in another way
};

/// Views into `ptx`.
[[nodiscard]] PtxText read_ptx(std::string_view ptx);

}  // namespace kw::cuda
