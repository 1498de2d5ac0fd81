#include "program/testing/stage_interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "program/graph/precision.hpp"

namespace kw::program_test {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

double larger(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}

struct FunctionOfOne {
  StageOp op;
  double (*function)(double);
};

double function_of_one(StageOp op, double a) {
  static constexpr FunctionOfOne k_functions[] = {
      {StageOp::exp, std::exp},
      {StageOp::exp2, std::exp2},
      {StageOp::expm1, std::expm1},
      {StageOp::log, std::log},
      {StageOp::log2, std::log2},
      {StageOp::log10, std::log10},
      {StageOp::log1p, std::log1p},
      {StageOp::sqrt, std::sqrt},
      {StageOp::sin, std::sin},
      {StageOp::cos, std::cos},
      {StageOp::tan, std::tan},
      {StageOp::asin, std::asin},
      {StageOp::acos, std::acos},
      {StageOp::atan, std::atan},
      {StageOp::sinh, std::sinh},
      {StageOp::cosh, std::cosh},
      {StageOp::tanh, std::tanh},
      {StageOp::asinh, std::asinh},
      {StageOp::acosh, std::acosh},
      {StageOp::atanh, std::atanh},
      {StageOp::erf, std::erf},
      {StageOp::erfc, std::erfc},
      {StageOp::lgamma, std::lgamma},
      {StageOp::floor, std::floor},
      {StageOp::ceil, std::ceil},
      {StageOp::trunc, std::trunc},
      {StageOp::absolute, std::fabs},
      {StageOp::round, std::nearbyint},
      {StageOp::round_to_tf32, [](double x) { return static_cast<double>(rounded_to_tf32(static_cast<float>(x))); }},
      {StageOp::to_integer, std::trunc},
      {StageOp::to_real, [](double x) { return x; }},
      {StageOp::negate, [](double x) { return -x; }},
      {StageOp::rsqrt, [](double x) { return 1.0 / std::sqrt(x); }},
      {StageOp::negation, [](double x) { return x == 0 ? 1.0 : 0.0; }},
      {StageOp::bit_not, [](double x) { return -x - 1; }},
      {StageOp::to_truth, [](double x) { return x != 0 ? 1.0 : 0.0; }},
  };
  for (const auto& one : k_functions) {
    if (one.op == op) return one.function(a);
  }
  KW_CHECK(false, "the interpreter lacks operation {}", static_cast<int>(op));
  return 0.0;
}

std::int32_t bits_of(StageOp op, std::int32_t a, std::int32_t b) {
  if (op == StageOp::shift_left) return a << b;
  if (op == StageOp::shift_right) return a >> b;
  if (op == StageOp::bit_and) return a & b;
  return op == StageOp::bit_or ? a | b : a ^ b;
}

double function_value(StageOp op, double a, double b) {
  switch (op) {
    case StageOp::add:
      return a + b;
    case StageOp::subtract:
      return a - b;
    case StageOp::multiply:
      return a * b;
    case StageOp::divide:
      return a / b;
    case StageOp::minimum:
      return -larger(-a, -b);
    case StageOp::maximum:
      return larger(a, b);
    case StageOp::less:
      return a < b ? 1 : 0;
    case StageOp::less_equal:
      return a <= b ? 1 : 0;
    case StageOp::equal:
      return a == b ? 1 : 0;
    case StageOp::not_equal:
      return a != b ? 1 : 0;
    case StageOp::floor_divide:
      return std::floor(a / b);
    case StageOp::floor_modulo:
      return a - std::floor(a / b) * b;
    case StageOp::power:
      return std::pow(a, b);
    case StageOp::fmod:
      return std::fmod(a, b);
    case StageOp::atan2:
      return std::atan2(a, b);
    case StageOp::hypot:
      return std::hypot(a, b);
    case StageOp::copysign:
      return std::copysign(a, b);
    case StageOp::fmax:
      return std::fmax(a, b);
    case StageOp::fmin:
      return std::fmin(a, b);
    case StageOp::shift_left:
    case StageOp::shift_right:
    case StageOp::bit_and:
    case StageOp::bit_or:
    case StageOp::bit_xor:
      return static_cast<double>(bits_of(op, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)));
    default:
      return function_of_one(op, a);
  }
}

class StageRunner {
 public:
  StageRunner(const StageProgram& program, StageValues& values) : program_(program), values_(values) {}

  void run(const Stage& stage) {
    values_[stage.buffer].assign(count_of(stage.axes), 0.0);
    StageAxes items;
    for (const auto& axis : stage.axes) {
      if (stage.kind != StageKind::scan || axis.name != stage.inner[0].name) items.push_back(axis);
    }
    run(stage, items);
  }

  void run_recurrence(const std::vector<std::size_t>& stages) {
    const auto& first = program_.stages[stages.front()];
    const auto steps = first.axes[1].extent.value();
    for (const auto stage : stages)
      values_[program_.stages[stage].buffer].assign(count_of(program_.stages[stage].axes), 0.0);
    for (std::int64_t i = 0; i < steps; ++i) {
      for (const auto index : stages) {
        const auto& stage = program_.stages[index];
        indices_[stage.axes[1].name] = stage.backwards ? steps - 1 - i : i;
        run(stage, {stage.axes[0], stage.axes[2]});
      }
    }
  }

 private:
  /// All elements of these axes; along others it stays where it is.
  void run(const Stage& stage, const StageAxes& items) {
    stage_ = &stage;
    auto& elements = values_[stage.buffer];
    for_each(items, 0, [&] {
      if (!reduces(stage)) {
        elements[own_place()] = value_of(stage.body);
        return;
      }
      open();
      for_each(stage.inner, 0, [&] {
        step();
        if (stage.kind == StageKind::scan) elements[own_place()] = result();
      });
      if (stage.kind != StageKind::scan) elements[own_place()] = result();
    });
  }

  static std::size_t count_of(const StageAxes& axes) {
    std::size_t count = 1;
    for (const auto& axis : axes) count *= static_cast<std::size_t>(axis.extent.value());
    return count;
  }

  void for_each(const StageAxes& axes, std::size_t depth, const std::function<void()>& body) {
    if (depth == axes.size()) return body();
    for (std::int64_t i = 0; i < axes[depth].extent.value(); ++i) {
      indices_[axes[depth].name] = i;
      for_each(axes, depth + 1, body);
    }
  }

  [[nodiscard]] std::size_t own_place() {
    if (stage_->place) return static_cast<std::size_t>(place_of(*stage_->place));
    std::int64_t place = 0;
    for (const auto& axis : stage_->axes) place = place * axis.extent.value() + indices_.at(axis.name);
    return static_cast<std::size_t>(place);
  }

  void open() {
    gathered_ = stage_->op == ReduceOp::product || stage_->op == ReduceOp::all           ? 1.0
                : stage_->op == ReduceOp::maximum || stage_->op == ReduceOp::log_sum_exp ? -k_infinity
                : stage_->op == ReduceOp::minimum                                        ? k_infinity
                                                                                         : 0.0;
    position_ = -1;
  }

  void step() {
    for (const auto& guard : stage_->guards) {
      if (value_of(guard) == 0.0) return;
    }
    const double element = value_of(stage_->body);
    const bool last = stage_->kind == StageKind::scan;
    switch (stage_->op) {
      case ReduceOp::sum:
        gathered_ += element;
        break;
      case ReduceOp::product:
        gathered_ *= element;
        break;
      case ReduceOp::maximum:
        gathered_ = larger(gathered_, element);
        break;
      case ReduceOp::minimum:
        gathered_ = -larger(-gathered_, -element);
        break;
      case ReduceOp::any:
        gathered_ = gathered_ != 0 || element != 0 ? 1 : 0;
        break;
      case ReduceOp::all:
        gathered_ = gathered_ != 0 && element != 0 ? 1 : 0;
        break;
      case ReduceOp::log_sum_exp: {
        const double most = std::max(gathered_, element);
        gathered_ = most == -k_infinity ? most : most + std::log(std::exp(gathered_ - most) + std::exp(element - most));
        break;
      }
      case ReduceOp::argmax:
      case ReduceOp::argmin: {
        const double sign = stage_->op == ReduceOp::argmax ? 1.0 : -1.0;
        const bool better = last ? sign * element >= sign * gathered_ : sign * element > sign * gathered_;
        if (position_ >= 0 && !better) break;
        gathered_ = element;
        position_ = value_of(stage_->position);
      }
    }
  }

  double result() { return stage_->epilogue ? value_of(stage_->epilogue) : reduced(); }
  [[nodiscard]] double reduced() const { return stage_->position ? position_ : gathered_; }

  double value_of(const StageExpr& node) {
    const auto& operands = node->operands;
    switch (node->op) {
      case StageOp::integer:
        return static_cast<double>(node->integer.value());
      case StageOp::real:
        return node->real;
      case StageOp::axis:
        return static_cast<double>(indices_.at(node->axis));
      case StageOp::result:
        return reduced();
      case StageOp::select:
        return value_of(operands[value_of(operands[0]) != 0.0 ? 1 : 2]);
      case StageOp::both:
        return value_of(operands[0]) != 0.0 && value_of(operands[1]) != 0.0 ? 1 : 0;
      case StageOp::either:
        return value_of(operands[0]) != 0.0 || value_of(operands[1]) != 0.0 ? 1 : 0;
      case StageOp::load:
        return element_of(*node);
      default:
        break;
    }
    return function_value(node->op, value_of(operands[0]), operands.size() > 1 ? value_of(operands[1]) : 0.0);
  }

  double element_of(const StageNode& node) {
    return values_.at(node.tensor.buffer).at(static_cast<std::size_t>(place_of(node)));
  }

  std::int64_t place_of(const StageNode& node) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const auto extent = node.tensor.type.shape[i].value();
      const auto index = static_cast<std::int64_t>(value_of(node.operands[i]));
      KW_CHECK(index >= 0 && index < extent, "index {} of {} in '{}'", index, extent,
               program_.buffers[node.tensor.buffer].name);
      place = place * extent + index;
    }
    return place;
  }

  const StageProgram& program_;
  StageValues& values_;
  const Stage* stage_ = nullptr;
  std::map<std::string, std::int64_t> indices_;
  double gathered_ = 0.0;
  double position_ = -1.0;
};

}  // namespace

void run_stages(const StageProgram& program, StageValues& values) {
  StageRunner runner(program, values);
  const auto recurrences = recurrences_of(program);
  auto recurrence = recurrences.begin();
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    if (program.stages[i].kind != StageKind::step) {
      runner.run(program.stages[i]);
    } else if (recurrence != recurrences.end() && recurrence->front() == i) {
      runner.run_recurrence(*recurrence++);
    }
  }
}

}  // namespace kw::program_test
