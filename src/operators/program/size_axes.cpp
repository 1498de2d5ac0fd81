#include "operators/program/size_axes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "tensor/int_expr.hpp"

namespace kw {
namespace {

/// Attributes that say how large a result is, or repeat how large an operand is.
constexpr std::array<std::string_view, 15> k_size_attributes = {
    "shape",        "size",         "sizes",        "normalized_shape", "in_channels",
    "out_channels", "num_features", "num_channels", "in_features",      "out_features",
    "start",        "end",          "length",       "split_size",       "output_size"};

bool mentions(const Extent& extent, const std::string& name) {
  return !extent.is_constant() && mentions_name(extent.text(), name);
}
bool mentions(const Shape& shape, const std::string& name) {
  return std::any_of(shape.begin(), shape.end(), [&](const Extent& extent) { return mentions(extent, name); });
}

/// Whether the call does something else when the integer changes.
bool is_setting_of(const Node& node, const std::string& name) {
  return std::any_of(node.arguments.begin(), node.arguments.end(), [&](const Argument& argument) {
    const auto& sizes = k_size_attributes;
    if (argument.is_tensor || std::find(sizes.begin(), sizes.end(), argument.name) != sizes.end()) return false;
    if (const auto* one = std::get_if<Extent>(&argument.value)) return mentions(*one, name);
    const auto* many = std::get_if<Shape>(&argument.value);
    return many != nullptr && mentions(*many, name);
  });
}

/// Of the problem: what forward() is given or gives. Kernels alone know how large intermediate results are.
bool is_in_a_tensor(const Program& program, const std::string& name) {
  const auto& values = program.graph.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool output = std::find(program.outputs.begin(), program.outputs.end(), i) != program.outputs.end();
    if ((output || !values[i].node) && mentions(values[i].type.shape, name)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> size_axes(const Program& program) {
  std::vector<std::string> sizes;
  for (const auto& axis : program.axes) {
    const auto& nodes = program.graph.nodes;
    const bool in_shape = is_in_a_tensor(program, axis.name);
    const bool setting =
        std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) { return is_setting_of(node, axis.name); });
    if (in_shape && !setting) sizes.push_back(axis.name);
  }
  return sizes;
}

}  // namespace kw
