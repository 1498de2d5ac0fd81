#include "operators/program/kernels/row_coordinates.hpp"

namespace kw {

std::vector<std::string> row_coordinates(const StageAxes& rows, KernelScope& scope, const std::string& row) {
  std::vector<std::string> statements;
  std::string inner;
  for (std::size_t i = rows.size(); i-- > 0;) {
    const auto extent = scope.extent(rows[i].extent);
    if (scope.used_axes().count(rows[i].name) > 0) {
      const auto place = inner.empty() ? row : fmt::format("{} / ({})", row, inner);
      const auto index = i == 0 ? place : fmt::format("({}) % {}", place, extent);
      statements.push_back(fmt::format("const int {} = (int)({});", scope.axis(rows[i].name), index));
    }
    inner = inner.empty() ? extent : extent + " * " + inner;
  }
  return statements;
}

}  // namespace kw
