#include "operators/program/kernels/window_columns.hpp"

namespace kw {

std::optional<WindowColumns> window_columns(const Stage& stage) {
  const auto& output = stage.axes.back().name;
  auto columns = stage;
  columns.epilogue = {};
  const auto places = name_window_places(columns, output, "column");
  if (!places || elements_depend_on(columns, output) || elements_depend_on(columns, places->tap)) return std::nullopt;
  columns.axes.back().name = places->place;
  std::erase_if(columns.inner, [&](const StageAxis& axis) { return axis.name == places->tap; });
  return WindowColumns{std::move(columns), *places};
}

}  // namespace kw
