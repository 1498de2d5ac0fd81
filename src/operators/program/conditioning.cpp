#include "operators/program/conditioning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/normal.hpp"
#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle_glue.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

/// Beyond this a kernel that computes what is written, and stores it in this type, overflows, though float64 does not.
double reach_of(ElementType type) {
  constexpr double k_f32_reach = 1e37;  // of bf16 too
  constexpr double k_f16_reach = 3e4;
  return type == ElementType::float16 ? k_f16_reach : k_f32_reach;
}
/// What is left of numbers this much larger is their rounding: a variance of equal numbers.
constexpr double k_f32_cancelled = 1e-6;
/// As a share of a row: by how much roundings may change an output. A plain kernel that errs by five times as much is
/// wrong.
constexpr double k_close = 2e-3;
/// The same of factors that are rounded to tf32: of products of numbers of either sign, the worst elements move by
/// some thousandths, and by some hundredths where only the rare sums beyond a bound count.
constexpr double k_close_of_tf32 = 5e-2;

using GraphValues = std::map<std::size_t, DenseTensor>;

/// The largest finite magnitude of an element; NaN where one is.
double magnitude_of(const DenseTensor& tensor) {
  double most = 0;
  for (const double value : tensor.values) {
    if (std::isnan(value)) return value;
    if (std::isfinite(value)) most = std::max(most, std::fabs(value));
  }
  return most;
}

bool has_infinity(const DenseTensor& tensor) {
  return std::any_of(tensor.values.begin(), tensor.values.end(), [](double value) { return std::isinf(value); });
}

/// Whether a mask's -infinity enters the call, so that its result may have some. Otherwise it would be an overflow.
bool takes_infinity(const Node& node, const GraphValues& values) {
  const auto& arguments = node.arguments;
  const bool number = std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
    const auto* real = std::get_if<double>(&argument.value);
    return real != nullptr && std::isinf(*real);
  });
  const auto operands = program_oracle::operands_of(node);
  return number || std::any_of(operands.begin(), operands.end(),
                               [&](std::size_t operand) { return has_infinity(values.at(operand)); });
}

/// About two units of f32: what no kernel can know better.
template <typename Value>
void move_by_roundings(std::vector<Value>& values, Rng& rng) {
  constexpr double k_two_units = 0x1p-22;
  std::vector<float> moves(values.size());
  fill_normal(moves, rng.next());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<Value>(values[i] * (1.0 + k_two_units * static_cast<double>(moves[i])));
  }
}

/// The root of the mean square of the finite ones.
double rms_of(std::span<const double> values) {
  double squares = 0;
  double count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    squares += value * value;
    count += 1;
  }
  return count == 0 ? 0 : std::sqrt(squares / count);
}

/// Calls that add products of their operands and of weights that are not negative: given magnitudes, they return the
/// sums of the magnitudes of what they add.
bool adds_up(const Node& node) {
  static constexpr std::array<std::string_view, 27> k_sums = {"sum",
                                                              "nansum",
                                                              "mean",
                                                              "cumsum",
                                                              "matmul",
                                                              "mm",
                                                              "bmm",
                                                              "mv",
                                                              "dot",
                                                              "addmm",
                                                              "baddbmm",
                                                              "addmv",
                                                              "linear",
                                                              "bilinear",
                                                              "einsum",
                                                              "conv1d",
                                                              "conv2d",
                                                              "conv3d",
                                                              "conv_transpose1d",
                                                              "conv_transpose2d",
                                                              "conv_transpose3d",
                                                              "avg_pool1d",
                                                              "avg_pool2d",
                                                              "avg_pool3d",
                                                              "adaptive_avg_pool1d",
                                                              "adaptive_avg_pool2d",
                                                              "adaptive_avg_pool3d"};
  return std::ranges::find(k_sums, node.op) != k_sums.end();
}

/// What additions round away is a share of what was added, however little is left of it: two units of the sum of its
/// magnitudes. One after the other, additions of numbers that cancel lose about one.
void move_by_additions(const Program& program, const Node& node, const GraphValues& values, DenseTensor& result,
                       Rng& rng) {
  constexpr double k_two_units = 0x1p-22;
  if (!adds_up(node) || !is_floating(result.dtype)) return;
  GraphValues magnitudes;
  for (const auto operand : program_oracle::operands_of(node)) {
    DenseTensor& tensor = magnitudes[operand] = values.at(operand);
    if (!is_floating(tensor.dtype)) continue;
    for (double& value : tensor.values) value = std::fabs(value);
  }
  const auto added = evaluate_graph(program.graph, magnitudes, node.outputs);
  KW_CHECK(added.has_value(), "{} has an answer, but none of magnitudes", node.op);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double lost = k_two_units * std::fabs(added->front().values[i]);
    if (std::isfinite(lost)) result.values[i] += rng.below(2) == 0 ? lost : -lost;
  }
}

/// GELU adds one to a number near minus one where its input is negative, in PyTorch as well: an f32 knows that sum to
/// half a unit of one, and x / 2 multiplies it.
void move_by_gelu(const Node& node, const GraphValues& values, DenseTensor& result, Rng& rng) {
  constexpr double k_unit = 0x1p-23;
  if (node.op != "gelu") return;
  const DenseTensor& input = values.at(program_oracle::operands_of(node).front());
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    const double lost = k_unit / 2 * std::fabs(input.values[i]);
    if (input.values[i] < 0 && std::isfinite(lost)) result.values[i] += rng.below(2) == 0 ? lost : -lost;
  }
}

/// Which elements of its input a normalisation takes one mean of: of element i those with the same group_of(i). Nothing
/// for other calls, and where the mean is given.
std::optional<std::function<std::size_t(std::size_t)>> groups_of_mean(const Node& node, const DenseTensor& input) {
  const auto is_false = [&](const char* name) {
    const auto* argument = node.find(name);
    const auto* truth = argument == nullptr ? nullptr : std::get_if<bool>(&argument->value);
    return truth != nullptr && !*truth;
  };
  if (input.extents.empty() || is_false("training") || is_false("use_input_stats")) return std::nullopt;
  const auto& extents = input.extents;
  const auto elements_behind = [&](std::size_t axis) {
    std::size_t count = 1;
    for (; axis < extents.size(); ++axis) count *= static_cast<std::size_t>(extents[axis]);
    return count;
  };
  if (node.op == "layer_norm") {
    const auto normalised = std::get<Shape>(node.find("normalized_shape")->value).size();
    return [length = elements_behind(extents.size() - normalised)](std::size_t i) { return i / length; };
  }
  if (extents.size() < 2) return std::nullopt;
  const auto inner = elements_behind(2);
  const auto channels = static_cast<std::size_t>(extents[1]);
  if (node.op.starts_with("batch_norm")) return [=](std::size_t i) { return i / inner % channels; };
  if (node.op.starts_with("instance_norm")) return [=](std::size_t i) { return i / inner; };
  const auto* groups = node.op == "group_norm" ? node.find("num_groups") : nullptr;
  if (groups == nullptr) return std::nullopt;
  const auto length = channels * inner / static_cast<std::size_t>(std::get<Extent>(groups->value).value());
  return [=](std::size_t i) { return i / length; };
}

/// Of the elements that share a mean.
struct Moments {
  double count = 0, magnitudes = 0, sum = 0, squares = 0, result_sum = 0, result_squares = 0;

  void add(double from, double to) {
    count += 1;
    magnitudes += std::fabs(from);
    sum += from;
    squares += from * from;
    result_sum += to;
    result_squares += to * to;
  }
};

/// What the mean loses, as the result has it. Additions one after the other lose about the root of their number of
/// units; long sums are made of shorter ones. Elements that are all equal lose as well, and a normalisation divides it
/// by no more than the root of eps: the weights, which the result does not show then, are taken to be one.
double lost_by_mean(const Moments& all, double eps) {
  constexpr double k_unit = 0x1p-24;
  const double units = std::clamp(std::sqrt(all.count), 4.0, 32.0);
  const double from = all.squares / all.count - std::pow(all.sum / all.count, 2);
  const double to = all.result_squares / all.count - std::pow(all.result_sum / all.count, 2);
  const bool all_equal = from <= 1e-12 * all.squares / all.count;
  const double gain = all_equal ? 1 / std::sqrt(eps) : std::sqrt(to / from);
  const double lost = k_unit * units * all.magnitudes / all.count * gain;
  return std::isfinite(lost) ? lost : 0;
}

/// The mean inside of a normalisation is a sum too, and all elements that it was taken of move together: what averages
/// them afterwards does not take that away.
void move_by_means(const Node& node, const GraphValues& values, DenseTensor& result, Rng& rng) {
  const auto operands = program_oracle::operands_of(node);
  if (operands.empty()) return;
  const DenseTensor& input = values.at(operands.front());
  const auto group_of = groups_of_mean(node, input);
  if (!group_of) return;
  const auto* given = node.find("eps");
  const auto* eps = given == nullptr ? nullptr : std::get_if<double>(&given->value);
  std::map<std::size_t, Moments> moments;
  for (std::size_t i = 0; i < input.values.size(); ++i) moments[(*group_of)(i)].add(input.values[i], result.values[i]);
  std::map<std::size_t, double> moves;
  for (const auto& [group, all] : moments) {
    const double lost = lost_by_mean(all, eps == nullptr ? 1e-5 : *eps);
    moves[group] = rng.below(2) == 0 ? lost : -lost;
  }
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] += moves[(*group_of)(i)];
}

/// Whether the call adds the operand to its products.
bool is_only_added(const Node& node, std::size_t operand) {
  const bool adds_input = node.op == "addmm" || node.op == "baddbmm";
  return std::any_of(node.arguments.begin(), node.arguments.end(), [&](const Argument& argument) {
    const auto* value = std::get_if<ValueRef>(&argument.value);
    const bool added = argument.name == "bias" || (adds_input && argument.name == "input");
    return added && value != nullptr && value->value == operand;
  });
}

/// What the call is given, with its factors as a product of tf32 numbers has them.
GraphValues rounded_operands(const Node& node, const GraphValues& values) {
  GraphValues rounded;
  for (const auto operand : program_oracle::operands_of(node)) {
    DenseTensor& tensor = rounded[operand] = values.at(operand);
    if (tensor.dtype != ElementType::float32 || is_only_added(node, operand)) continue;
    for (double& value : tensor.values) value = rounded_to_tf32(static_cast<float>(value));
  }
  return rounded;
}

/// Every value of the graph, call by call; each moved by roundings where a generator is given. Nothing where the oracle
/// refuses.
std::optional<GraphValues> all_values(const Program& program, Precision precision, GraphValues values, Rng* roundings) {
  const auto moved = [&](DenseTensor& tensor) {
    if (roundings != nullptr && is_floating(tensor.dtype)) move_by_roundings(tensor.values, *roundings);
  };
  for (auto& [value, leaf] : values) moved(leaf);
  for (const auto& node : program.graph.nodes) {
    const bool rounds = roundings != nullptr && rounds_factors(precision, node);
    auto answers = evaluate_graph(program.graph, rounds ? rounded_operands(node, values) : values, node.outputs);
    if (!answers) return std::nullopt;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      moved((*answers)[i]);
      if (roundings != nullptr) {
        move_by_additions(program, node, values, (*answers)[i], *roundings);
        move_by_gelu(node, values, (*answers)[i], *roundings);
        if (i == 0) move_by_means(node, values, (*answers)[i], *roundings);
      }
      values[node.outputs[i]] = std::move((*answers)[i]);
    }
  }
  return values;
}

/// The largest magnitude on the way, at least 1; nothing where its type cannot hold it.
std::optional<double> largest_of(const Program& program, const GraphValues& values) {
  double largest = 1;
  for (const auto& [value, tensor] : values) {
    const double most = magnitude_of(tensor);
    if (!(most < reach_of(tensor.dtype))) return std::nullopt;
    largest = std::max(largest, most);
    const auto node = program.graph.values[value].node;
    if (node && has_infinity(tensor) && !takes_infinity(program.graph.nodes[*node], values)) return std::nullopt;
  }
  return largest;
}

/// The largest difference between the tensors, relative to the row of the first one and a tenth of all of it, as errors
/// are judged. Infinite where what is not finite differs.
double difference(const DenseTensor& one, const DenseTensor& other) {
  constexpr double k_tensor_share = 0.1;
  const std::span<const double> values = one.values;
  const std::size_t length = one.extents.empty() ? 1 : static_cast<std::size_t>(one.extents.back());
  const double floor = k_tensor_share * rms_of(values);
  double worst = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += length) {
    const double scale = rms_of(values.subspan(begin, length)) + floor;
    for (std::size_t i = begin; i < begin + length; ++i) {
      if (values[i] == other.values[i]) continue;
      const double moved = std::fabs(values[i] - other.values[i]);
      worst = std::isfinite(moved) ? std::max(worst, moved / scale) : std::numeric_limits<double>::infinity();
    }
  }
  return worst;
}

/// How often roundings are drawn. Where an answer has few elements, one draw may move the only one that hangs on them
/// by next to nothing.
int draws_of(const Problem& problem, const Workload& workload) {
  constexpr double k_most_steps_drawn = 2e5, k_most_draws = 8.0;
  const double steps = std::max(program_cost(problem, workload).steps, 1.0);
  return static_cast<int>(std::clamp(k_most_steps_drawn / steps, 1.0, k_most_draws));
}

std::optional<double> conditioning(const Problem& problem, const Program& program, const InputValues& operands,
                                   int draws) {
  const auto precision = program_detail(problem).module.precision;
  const auto leaves = oracle_leaves(problem, program, operands);
  const auto values = all_values(program, precision, leaves, nullptr);
  if (!values) return std::nullopt;
  const auto largest = largest_of(program, *values);
  if (!largest) return std::nullopt;
  Rng roundings(k_nominal_seed);
  double worst = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const auto moved = all_values(program, precision, leaves, &roundings);
    for (const auto output : program_detail(problem).outputs) {
      const DenseTensor& answer = values->at(output);
      if (!is_floating(answer.dtype)) continue;
      if (!(magnitude_of(answer) > k_f32_cancelled * *largest)) return std::nullopt;
      worst = std::max(worst, difference(answer, moved->at(output)));
    }
  }
  if (worst > (rounds_factors(precision, program.graph) ? k_close_of_tf32 : k_close)) return std::nullopt;
  return worst;
}

/// Standard normal, then as the operands may be.
InputValues normal_operands(const Problem& problem, const Workload& workload, Rng& rng) {
  InputValues operands;
  for (const auto& tensor : problem.inputs) {
    auto& values = operands.emplace_back(static_cast<std::size_t>(element_count(tensor, workload.axes).value()));
    for (float& value : values) value = static_cast<float>(rng.normal());
  }
  settle_operands(problem, workload, Settled::all, operands, rng, serial_for);
  return operands;
}

}  // namespace

std::optional<double> conditioning_of(const Problem& problem, const Workload& workload, const InputValues& operands,
                                      double most_steps) {
  if (program_cost(problem, workload).steps > most_steps) return 0;
  return conditioning(problem, *checked_program(problem, workload.axes), operands, draws_of(problem, workload));
}

bool is_answered(const Problem& problem, const Workload& workload, ShapeOperands shape) {
  Rng rng(k_nominal_seed);
  InputValues operands = normal_operands(problem, workload, rng);
  shape(problem, workload, {}, operands, rng, serial_for);
  return conditioning(problem, *checked_program(problem, workload.axes), operands, 1).has_value();
}

bool depends_on_inputs(const Problem& problem, const Workload& workload) {
  const ProgramDetail& detail = program_detail(problem);
  Rng rng(k_nominal_seed);
  const InputValues first = normal_operands(problem, workload, rng);
  InputValues second = normal_operands(problem, workload, rng);
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (!is_forward_input(detail.program, detail.inputs[i])) second[i] = first[i];
  }
  const auto program = checked_program(problem, workload.axes);
  const auto a = evaluate_graph(program->graph, oracle_leaves(problem, *program, first), detail.outputs);
  const auto b = evaluate_graph(program->graph, oracle_leaves(problem, *program, second), detail.outputs);
  if (!a || !b) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if (difference((*a)[i], (*b)[i]) <= k_close) return false;
  }
  return true;
}

}  // namespace kw
