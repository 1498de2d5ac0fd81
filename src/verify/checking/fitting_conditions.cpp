#include "verify/checking/fitting_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace kw {
namespace {

constexpr std::size_t k_most_conditions = 2;

struct SizeCondition {
  std::string text;
  std::function<bool(const Axes& axes)> holds;
};

bool fits(const SizeCondition& condition, const std::vector<JudgedSizes>& judged) {
  return std::ranges::all_of(judged, [&](const JudgedSizes& one) { return condition.holds(one.axes) == one.right; });
}

/// Axes that all have, in the order of their names.
std::vector<std::string> common_axes(const std::vector<JudgedSizes>& judged) {
  std::vector<std::string> names;
  for (const auto& axis : judged.front().axes) {
    const std::string& name = axis.first;
    if (std::ranges::all_of(judged, [&](const JudgedSizes& one) { return one.axes.contains(name); })) {
      names.push_back(name);
    }
  }
  return names;
}

/// Of one axis and one constant; at most one of them is told.
std::vector<SizeCondition> with_constant(const std::string& axis, const std::string& name, std::int64_t value) {
  if (value < 2) return {};
  return {{fmt::format("{} is a multiple of {} ({})", axis, name, value),
           [=](const Axes& axes) { return axes.at(axis) % value == 0; }},
          {fmt::format("{} <= {} ({})", axis, name, value), [=](const Axes& axes) { return axes.at(axis) <= value; }},
          {fmt::format("{} >= {} ({})", axis, name, value), [=](const Axes& axes) { return axes.at(axis) >= value; }}};
}

/// Of two axes; likewise.
std::vector<SizeCondition> between(const std::string& one, const std::string& other) {
  return {
      {fmt::format("{} = {}", one, other), [=](const Axes& axes) { return axes.at(one) == axes.at(other); }},
      {fmt::format("{} >= {}", one, other), [=](const Axes& axes) { return axes.at(one) >= axes.at(other); }},
      {fmt::format("{} <= {}", one, other), [=](const Axes& axes) { return axes.at(one) <= axes.at(other); }},
  };
}

}  // namespace

std::vector<std::string> fitting_conditions(const std::vector<JudgedSizes>& judged, const IntBindings& constants) {
  const auto is_right = [](const JudgedSizes& one) { return one.right; };
  if (std::ranges::all_of(judged, is_right) || std::ranges::none_of(judged, is_right)) return {};
  const std::vector<std::string> axes = common_axes(judged);
  std::vector<std::string> texts;
  const auto tell_first_of = [&](const std::vector<SizeCondition>& group) {
    const auto fitting = std::ranges::find_if(group, [&](const SizeCondition& one) { return fits(one, judged); });
    if (fitting != group.end() && texts.size() < k_most_conditions) texts.push_back(fitting->text);
  };
  for (const auto& axis : axes) {
    for (const auto& [name, value] : constants) tell_first_of(with_constant(axis, name, value));
  }
  for (auto one = axes.begin(); one != axes.end(); ++one) {
    for (auto other = std::next(one); other != axes.end(); ++other) tell_first_of(between(*one, *other));
  }
  return texts;
}

}  // namespace kw
