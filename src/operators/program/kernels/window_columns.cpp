#include "operators/program/kernels/window_columns.hpp"

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

constexpr const char* k_column = "column";

/// Of a place along the line as output * stride + tap * dilation + start.
struct LinePlace {
  std::int64_t stride = 0, dilation = 0, start = 0;
  friend bool operator==(const LinePlace&, const LinePlace&) = default;
};

std::optional<LinePlace> line_place(const StageExpr& index, const std::string& output, const std::string& tap) {
  if (index->type != StageType::integer) return std::nullopt;
  const auto affine = affine_index(index, {});
  if (!affine || affine->coefficients.size() != 2 || !affine->terms.empty()) return std::nullopt;
  const auto stride = affine->coefficients.find(output);
  const auto dilation = affine->coefficients.find(tap);
  if (stride == affine->coefficients.end() || dilation == affine->coefficients.end()) return std::nullopt;
  for (const auto* one : {&stride->second, &dilation->second, &affine->constant}) {
    if (!one->is_constant()) return std::nullopt;
  }
  const LinePlace place{stride->second.value(), dilation->second.value(), affine->constant.value()};
  return place.stride > 0 && place.dilation > 0 ? std::optional(place) : std::nullopt;
}

/// The place along the line of the first load that has one, and which tap it is of.
std::optional<std::pair<LinePlace, StageAxis>> first_place(const Stage& stage) {
  std::optional<std::pair<LinePlace, StageAxis>> found;
  for_each_load(stage.body, [&](const StageNode& load) {
    for (const auto& index : load.operands) {
      for (const auto& tap : stage.inner) {
        const auto place = line_place(index, stage.axes.back().name, tap.name);
        if (place && !found) found = {*place, tap};
      }
    }
  });
  return found;
}

}  // namespace

std::optional<WindowColumns> window_columns(const Stage& stage) {
  const auto place = first_place(stage);
  if (!place || !place->second.extent.is_constant()) return std::nullopt;
  const auto& output = stage.axes.back().name;
  WindowColumns window{stage,
                       k_column,
                       place->second.name,
                       place->second.extent.value(),
                       place->first.stride,
                       place->first.dilation,
                       place->first.start};
  auto& columns = window.columns;
  while (
      std::any_of(stage.axes.begin(), stage.axes.end(), [&](const auto& axis) { return axis.name == window.column; }) ||
      std::any_of(stage.inner.begin(), stage.inner.end(),
                  [&](const auto& axis) { return axis.name == window.column; })) {
    window.column += "_";
  }
  columns.epilogue = {};
  rewrite_stage(columns, [&](const StageExpr& node) {
    return line_place(node, output, window.tap) == place->first ? axis_index(window.column) : StageExpr();
  });
  const auto is_left = [&](const StageExpr& one) { return depends_on(one, output) || depends_on(one, window.tap); };
  if (is_left(columns.body) || std::any_of(columns.guards.begin(), columns.guards.end(), is_left)) return std::nullopt;
  columns.axes.back().name = window.column;
  std::erase_if(columns.inner, [&](const StageAxis& axis) { return axis.name == window.tap; });
  return window;
}

}  // namespace kw
