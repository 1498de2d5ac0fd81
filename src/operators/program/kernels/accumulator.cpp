#include "operators/program/kernels/accumulator.hpp"

namespace kw {
namespace {

using Statements = std::vector<std::string>;

Accumulator total(const Stage& stage, const std::string& prefix) {
  const bool real = stage.body->type == StageType::real;
  const bool sum = stage.op == ReduceOp::sum;
  const std::string name = prefix + (sum ? "sum" : "product");
  Accumulator total;
  total.declarations = {
      fmt::format("{} {} = {}{};", real ? "float" : "long", name, sum ? "0" : "1", real ? ".0f" : "")};
  total.step = [=](const std::string& element, const std::string&) {
    return Statements{fmt::format("{} {} {};", name, sum ? "+=" : "*=", element)};
  };
  total.result = real ? name : "(int)" + name;
  total.state = {{real ? "float" : "long", name}};
  total.merge = {fmt::format("{0} {1} other_{0};", name, sum ? "+=" : "*=")};
  return total;
}

/// A sequential sum of a hundred thousand like numbers is off by a thousandth. Parallel sums add short parts too.
Accumulator total_of_parts(const std::string& index, const std::string& prefix) {
  const auto sum = prefix + "sum", part = prefix + "part";
  Accumulator total;
  total.declarations = {fmt::format("float {} = 0.0f;", sum), fmt::format("float {} = 0.0f;", part)};
  total.step = [=](const std::string& element, const std::string&) {
    return Statements{fmt::format("{} += {};", part, element), fmt::format("if ({} % 256 == 255) {{", index),
                      fmt::format("  {} += {};", sum, part), fmt::format("  {} = 0.0f;", part), "}"};
  };
  total.result = fmt::format("({} + {})", sum, part);
  return total;
}

Accumulator truth_of(bool any) {
  Accumulator truth;
  const std::string name = any ? "any" : "all";
  truth.declarations = {fmt::format("int {} = {};", name, any ? 0 : 1)};
  truth.step = [=](const std::string& element, const std::string&) {
    return Statements{any ? fmt::format("if ({}) any = 1;", element) : fmt::format("if (!({})) all = 0;", element)};
  };
  truth.result = name;
  truth.state = {{"int", name}};
  truth.merge = {fmt::format("{0} = {0} {1} other_{0};", name, any ? "||" : "&&")};
  return truth;
}

Accumulator extremum(const Stage& stage, const std::string& prefix) {
  const bool largest = stage.op == ReduceOp::maximum;
  if (stage.body->type == StageType::truth) return truth_of(largest);
  const bool real = stage.body->type == StageType::real;
  const auto best = prefix + "best";
  Accumulator extremum;
  const char* start = real ? (largest ? "-INFINITY" : "INFINITY") : (largest ? "-2147483647 - 1" : "2147483647");
  extremum.declarations = {fmt::format("{} {} = {};", real ? "float" : "int", best, start)};
  const std::string function = real ? (largest ? "larger" : "smaller") : (largest ? "max" : "min");
  extremum.step = [=](const std::string& element, const std::string&) {
    return Statements{fmt::format("{0} = {1}({0}, {2});", best, function, element)};
  };
  extremum.result = best;
  extremum.state = {{real ? "float" : "int", best}};
  extremum.merge = {fmt::format("{0} = {1}({0}, other_{0});", best, function)};
  if (real) extremum.own_helpers = {function};
  return extremum;
}

/// The first of the best; of running ones the last.
Accumulator place_of_extremum(const Stage& stage) {
  const bool real = stage.body->type == StageType::real;
  const std::string type = real ? "float" : "int";
  const std::string better =
      std::string(stage.op == ReduceOp::argmax ? ">" : "<") + (stage.kind == StageKind::scan ? "=" : "");
  const std::string not_a_number =
      stage.kind == StageKind::scan ? "value != value" : "(value != value && best == best)";
  Accumulator place;
  place.declarations = {fmt::format("{} best = 0;", type), "int position = -1;"};
  place.step = [=](const std::string& element, const std::string& position) {
    return Statements{fmt::format("const {} value = {};", type, element),
                      fmt::format("if (position < 0 || value {} best{}) {{", better, real ? " || " + not_a_number : ""),
                      "  best = value;", fmt::format("  position = {};", position), "}"};
  };
  place.result = "position";
  place.state = {{type, "best"}, {"int", "position"}};
  const std::string first = stage.op == ReduceOp::argmax ? "other_best > best" : "other_best < best";
  const std::string not_numbers =
      real ? " || (other_best != other_best && best == best) || "
             "((other_best == best || (other_best != other_best && best != best)) && other_position < position)"
           : " || (other_best == best && other_position < position)";
  place.merge = {fmt::format("if (other_position >= 0 && (position < 0 || {}{})) {{", first, not_numbers),
                 "  best = other_best;", "  position = other_position;", "}"};
  return place;
}

/// Scaled by the largest element so far, so that no exponential overflows.
Accumulator log_of_sum() {
  Accumulator sum;
  sum.declarations = {"float best = -INFINITY;", "float sum = 0.0f;"};
  sum.step = [](const std::string& element, const std::string&) {
    return Statements{fmt::format("const float value = {};", element),
                      "if (value > best) {",
                      "  sum = sum * exp(best - value) + 1.0f;",
                      "  best = value;",
                      "} else if (value > -INFINITY) {",
                      "  sum += exp(value - best);",
                      "}"};
  };
  sum.result = "(best + log(sum))";  // what reads it may multiply it
  sum.state = {{"float", "best"}, {"float", "sum"}};
  sum.merge = {"if (other_best > best) {",
               "  sum = sum * exp(best - other_best) + other_sum;",
               "  best = other_best;",
               "} else if (other_best > -INFINITY) {",
               "  sum += other_sum * exp(other_best - best);",
               "}"};
  return sum;
}

}  // namespace

Accumulator accumulator_of(const Stage& stage, const std::string& last_index, const std::string& prefix) {
  if (stage.in_parts && !last_index.empty() && stage.body->type == StageType::real)
    return total_of_parts(last_index, prefix);
  switch (stage.op) {
    case ReduceOp::sum:
    case ReduceOp::product:
      return total(stage, prefix);
    case ReduceOp::maximum:
    case ReduceOp::minimum:
      return extremum(stage, prefix);
    case ReduceOp::argmax:
    case ReduceOp::argmin:
      return place_of_extremum(stage);
    case ReduceOp::any:
    case ReduceOp::all:
      return truth_of(stage.op == ReduceOp::any);
    case ReduceOp::log_sum_exp:
      return log_of_sum();
  }
  return {};
}

}  // namespace kw
