#include "program/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kw {

const Argument* Node::find(std::string_view name) const {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const Argument& one) { return one.name == name; });
  return found == arguments.end() ? nullptr : &*found;
}

std::string_view to_string(ProgramMode mode) {
  return mode == ProgramMode::train ? "train" : "eval";
}

bool Program::is_random() const {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return node.random; });
}

}  // namespace kw
