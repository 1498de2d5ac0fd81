#pragma once
// How a reduction is gathered in a loop: variables before it, statements in it.

#include <functional>
#include <string>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

struct Accumulator {
  /// A variable that holds part of what was gathered.
  struct State {
    std::string type;
    std::string name;
  };

  std::vector<std::string> declarations;
  /// Statements for one element; `position` is the text of Stage::position.
  std::function<std::vector<std::string>(const std::string& element, const std::string& position)> step;
  std::string result;  ///< an expression
  std::vector<std::string> own_helpers;
  std::vector<State> state;
  /// Statements that add what another work-item gathered, whose variables are called "other_sum" and so on.
  std::vector<std::string> merge;
};

/// `last_index` is the innermost loop's; empty where there is none. `prefix` stands in front of the variables' names of
/// sums, products and extrema of numbers, so that several of them can share a loop.
[[nodiscard]] Accumulator accumulator_of(const Stage& stage, const std::string& last_index,
                                         const std::string& prefix = "");

}  // namespace kw
