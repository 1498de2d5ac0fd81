#include "program/graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kw {

const Argument* Node::find(std::string_view name) const {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const Argument& one) { return one.name == name; });
  return found == arguments.end() ? nullptr : &*found;
}

bool is_dropout(const Node& node) {
  return node.op.starts_with("dropout") || node.op == "alpha_dropout";
}

std::string_view to_string(ProgramMode mode) {
  switch (mode) {
    case ProgramMode::train:
      return "train";
    case ProgramMode::eval:
      return "eval";
    case ProgramMode::train_no_dropout:
      break;
  }
  return "train_no_dropout";
}

std::optional<ProgramMode> program_mode_named(std::string_view name) {
  for (const auto mode : {ProgramMode::train, ProgramMode::eval, ProgramMode::train_no_dropout}) {
    if (name == to_string(mode)) return mode;
  }
  return std::nullopt;
}

bool Program::is_random() const {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return node.random; });
}

}  // namespace kw
