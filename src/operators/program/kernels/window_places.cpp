#include "operators/program/kernels/window_places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operators/program/kernels/affine_index.hpp"
#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

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
std::optional<std::pair<LinePlace, StageAxis>> first_place(const Stage& stage, const std::string& output) {
  std::optional<std::pair<LinePlace, StageAxis>> found;
  for_each_load(stage.body, [&](const StageNode& load) {
    for (const auto& index : load.operands) {
      for (const auto& tap : stage.inner) {
        const auto place = line_place(index, output, tap.name);
        if (place && !found) found = {*place, tap};
      }
    }
  });
  return found;
}

}  // namespace

std::string times_text(std::int64_t factor) {
  return factor == 1 ? "" : fmt::format(" * {}", factor);
}

std::string signed_text(std::int64_t number) {
  if (number == 0) return "";
  return number < 0 ? fmt::format(" - {}", -number) : fmt::format(" + {}", number);
}

std::string free_axis_name(const Stage& stage, std::string wanted) {
  const auto is_taken = [&](const StageAxes& axes) {
    return std::any_of(axes.begin(), axes.end(), [&](const StageAxis& axis) { return axis.name == wanted; });
  };
  while (is_taken(stage.axes) || is_taken(stage.inner)) wanted += "_";
  return wanted;
}

std::optional<WindowPlaces> name_window_places(Stage& stage, const std::string& output, const std::string& wanted) {
  const auto found = first_place(stage, output);
  if (!found || !found->second.extent.is_constant()) return std::nullopt;
  const LinePlace place = found->first;  // a binding of a pair is no variable that lambdas capture
  const auto& tap = found->second;
  WindowPlaces places{
      free_axis_name(stage, wanted), tap.name, tap.extent.value(), place.stride, place.dilation, place.start};
  const auto epilogue = stage.epilogue;
  stage.epilogue = {};
  rewrite_stage(stage, [&](const StageExpr& node) {
    return line_place(node, output, places.tap) == place ? axis_index(places.place) : StageExpr();
  });
  stage.epilogue = epilogue;
  return places;
}

bool elements_depend_on(const Stage& stage, const std::string& axis) {
  return depends_on(stage.body, axis) || std::any_of(stage.guards.begin(), stage.guards.end(),
                                                     [&](const StageExpr& one) { return depends_on(one, axis); });
}

}  // namespace kw
