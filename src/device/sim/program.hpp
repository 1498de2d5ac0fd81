#pragma once
// A compiled candidate as it travels from the build process to the run process: the shared object, and which source
// line each address of its code belongs to. The run process decodes it before any candidate code runs, so both ends are
// ours, but sizes are checked all the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw::sim {

/// From `address` (relative to where the object is loaded) on; line 0: not the candidate's source.
struct LineEntry {
  std::uint64_t address = 0;
  int line = 0;
  bool inlined = false;  ///< code of ours, which stands at the line before it
};

struct Program {
  std::string object;
  std::vector<LineEntry> lines;  ///< by address

  /// The candidate's line at an address; in code of ours that was inlined, the line before it. 0 when not known.
  [[nodiscard]] int line_at(std::uint64_t address) const;
  /// Whether the address is in code of ours that was inlined.
  [[nodiscard]] bool is_inlined_at(std::uint64_t address) const;
};

[[nodiscard]] std::string encode(const Program& program);
/// errc::device_refused when it is no encoded program.
[[nodiscard]] Result<Program> decode_program(std::string_view bytes);

/// What `objdump --dwarf=decodedline` says about `source`.
[[nodiscard]] std::vector<LineEntry> parse_line_table(std::string_view text, std::string_view source);

}  // namespace kw::sim
