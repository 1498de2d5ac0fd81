// Tensors made of several tensors.

#include <algorithm>
#include <array>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

Result<Answer> cat(const OracleCall& call) {
  const auto pieces = call.tensors("tensors");
  const auto axis = call.axis("dim", pieces.front().rank());
  std::vector<Lines> lines;
  std::vector<std::int64_t> ends;
  for (const auto& piece : pieces) {
    lines.emplace_back(piece.extents(), axis);
    ends.push_back((ends.empty() ? 0 : ends.back()) + piece.extent(axis));
  }
  return by_place(each_element([pieces, lines, ends, whole = Lines(call.output_extents(), axis)](std::int64_t i) {
    const auto position = whole.position_of(i);
    const auto found = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), position) - ends.begin());
    const auto& line = lines[found];
    const auto start = ends[found] - line.length;
    return pieces[found][line.start(whole.line_of(i)) + (position - start) * line.stride];
  }));
}

Result<Answer> stack(const OracleCall& call) {
  const auto pieces = call.tensors("tensors");
  const Lines whole(call.output_extents(), call.axis("dim", pieces.front().rank() + 1));
  return by_place(each_element([pieces, whole](std::int64_t i) {
    return pieces[static_cast<std::size_t>(whole.position_of(i))][whole.line_of(i)];
  }));
}

constexpr std::array k_joining_answers = {
    OracleRow{"cat", cat},
    OracleRow{"stack", stack},
};

}  // namespace

std::span<const OracleRow> joining_answers() {
  return k_joining_answers;
}

}  // namespace kw::program_oracle
