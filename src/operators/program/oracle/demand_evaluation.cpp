#include "operators/program/oracle/demand_evaluation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kw::program_oracle {
namespace {

/// Nodes that ask each other in a row; each takes a few hundred bytes of a thread's stack. What lies deeper is
/// evaluated whole.
constexpr std::size_t k_deepest = 256;
/// Nodes that are computed again for an element that somebody asks for: as many calls take as long as a memo.
constexpr std::size_t k_most_afresh = 8;
/// Where no more than one in so many of what is computed element by element is asked for, those alone are computed.
constexpr std::int64_t k_most_alone = 4;
/// Elements that are computed together. What is asked for ends somewhere, and the rest of a span is computed in vain.
constexpr std::size_t k_longest_span = 32;

/// The way out of an answer's loop over a whole tensor, of which nobody wants to know more.
struct CostsTooMuch {};

/// What elements follow from is looked for with as many reads of a node, some seconds of a core.
constexpr std::int64_t k_most_reads = std::int64_t{1} << 29;
/// Elements of a tensor of which some are held in flat memory: 4 GiB of addresses.
constexpr std::int64_t k_most_flat = std::int64_t{1} << 29;

}  // namespace

DemandEvaluation::DemandEvaluation(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves,
                                   OnTheWay on_the_way)
    : graph_(graph),
      leaves_(leaves),
      on_the_way_(on_the_way),
      memos_(graph.values.size()),
      whole_(graph.values.size()),
      held_(graph.values.size()),
      readers_(graph.values.size(), 0),
      answers_(graph.nodes.size()),
      depth_(graph.values.size(), 0),
      afresh_(graph.values.size(), 0),
      read_(graph.values.size(), false),
      follows_from_rows_(graph.values.size(), false),
      asked_(graph.values.size(), 0) {}

Result<void> DemandEvaluation::prepare(std::span<const WantedElements> wanted, const ParallelFor& parallel,
                                       Counting counting) {
  counting_ = counting;
  std::vector<std::size_t> values;
  for (const auto& one : wanted) values.push_back(one.value);
  KW_TRY(const auto needed, needed_nodes(graph_, values, [&](std::size_t value) { return is_leaf(value); }));
  for (const auto& one : wanted) asked_[one.value] += static_cast<std::int64_t>(one.elements.size());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    for (const auto operand : operands_of(graph_.nodes[i])) read_[operand] = true;
  }
  if (counting == Counting::nothing && on_the_way_ == OnTheWay::elements) {
    KW_TRY(needed_, needed_elements(
                        graph_, wanted, [&](std::size_t value) { return is_leaf(value); }, OfLeaves::none, parallel,
                        k_most_reads));
    for (const auto value : values) ++readers_[value];
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (!needed[i]) continue;
      for (const auto operand : operands_of(graph_.nodes[i])) ++readers_[operand];
    }
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) KW_TRY_VOID(prepare(i, parallel));
  }
  return {};
}

Result<void> DemandEvaluation::prepare(std::size_t index, const ParallelFor& parallel) {
  const auto& node = graph_.nodes[index];
  std::size_t depth = 0;
  for (const auto operand : operands_of(node)) depth = std::max(depth, depth_[operand] + 1);
  const OracleCall::OperandOf operand_of = [&](std::size_t value) { return operand(value); };
  KW_TRY(answers_[index], answer_of(graph_, node, operand_of));
  if (is_held(node)) {
    hold(index, parallel);
    return {};
  }
  const std::size_t afresh = afresh_steps(node, *answers_[index]);
  if (takes_all_of(node, *answers_[index], depth, afresh > 0)) {
    if (afresh == 0 && take_operands_whole(node, parallel)) {
      KW_TRY(answers_[index], answer_of(graph_, node, operand_of));
    }
    take_whole(index, parallel);
    return {};
  }
  const bool follows =
      std::holds_alternative<BySpan>(*answers_[index]) ||
      std::ranges::any_of(operands_of(node), [&](auto operand) { return follows_from_rows_[operand]; });
  for (const auto value : node.outputs) {
    follows_from_rows_[value] = follows;
    depth_[value] = depth;
    afresh_[value] = afresh;
    if (afresh == 0 && is_kept(value, *answers_[index]))
      memos_[value] = std::make_unique<ElementMemo>(elements_of(graph_.values[value].type));
  }
  return {};
}

/// Whether it is known which of its elements are needed.
bool DemandEvaluation::is_held(const Node& node) const {
  return !needed_.empty() && std::ranges::all_of(node.outputs, [&](std::size_t value) {
    return needed_[value].exact && elements_of(graph_.values[value].type) <= k_most_flat;
  });
}

/// Computes those, side by side, and gives back the memory of operands that nobody reads any more.
void DemandEvaluation::hold(std::size_t index, const ParallelFor& parallel) {
  const auto& node = graph_.nodes[index];
  std::vector<Ranges> needed;
  std::vector<FlatOutput> outputs;
  for (const auto value : node.outputs) {
    const auto& type = graph_.values[value].type;
    const auto all = static_cast<std::size_t>(elements_of(type));
    held_[value] = std::make_unique_for_overwrite<double[]>(std::max<std::size_t>(all, 1));
    outputs.push_back({type.dtype, held_[value].get()});
    needed.push_back(needed_[value].ranges);
  }
  compute_rows_behind(node, node.outputs.front(), needed.front(), parallel);
  fill_elements(*answers_[index], needed, outputs, parallel);
  answers_[index].reset();
  for (const auto operand : operands_of(node)) {
    if (--readers_[operand] == 0) held_[operand].reset();
  }
}

void DemandEvaluation::take_whole(std::size_t index, const ParallelFor& parallel) {
  const auto& node = graph_.nodes[index];
  auto outputs = whole_answer(graph_, node, *answers_[index], parallel);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    whole_[node.outputs[i]] = std::move(outputs[i]);
    afresh_[node.outputs[i]] = 0;
  }
  answers_[index].reset();
}

/// Those that are computed afresh: a convolution reads an element for each of its taps and channels. Returns whether
/// there are any, which the node is to read where they lie now.
bool DemandEvaluation::take_operands_whole(const Node& node, const ParallelFor& parallel) {
  bool any = false;
  for (const auto operand : operands_of(node)) {
    if (afresh_[operand] == 0) continue;
    take_whole(*graph_.values[operand].node, parallel);
    any = true;
  }
  return any;
}

/// What no other node reads is asked for once, and computed then where it is not computed with others.
bool DemandEvaluation::is_kept(std::size_t value, const Answer& answer) const {
  return counting_ != Counting::nothing || read_[value] || !std::holds_alternative<ByElement>(answer);
}

/// 0 where elements are to be kept.
std::size_t DemandEvaluation::afresh_steps(const Node& node, const Answer& answer) const {
  const auto* by_element = std::get_if<ByElement>(&answer);
  if (by_element == nullptr || by_element->reach == Reach::any) return 0;
  std::size_t steps = 1;
  for (const auto operand : operands_of(node)) steps += afresh_[operand];
  return steps <= k_most_afresh ? steps : 0;
}

/// Of what no other node reads, only what is wanted is computed, where that is little: rows of a product. Of a single
/// element all is wanted, and threads may share its parts.
bool DemandEvaluation::takes_all_of(const Node& node, const Answer& answer, std::size_t depth, bool is_afresh) const {
  if (depth >= k_deepest) return true;
  if (counting_ != Counting::nothing) return false;
  const std::int64_t beyond = std::holds_alternative<ByElement>(answer) ? k_most_alone : k_whole_beyond;
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](std::size_t value) {
    const std::int64_t elements = elements_of(graph_.values[value].type);
    if (elements == 1) return true;
    return on_the_way_ == OnTheWay::tensors && ((read_[value] && !is_afresh) || beyond * asked_[value] > elements);
  });
}

Operand DemandEvaluation::operand(std::size_t value) {
  const auto& type = graph_.values[value].type;
  auto extents = values_of(type.shape);
  if (whole_[value]) return {type.dtype, std::move(extents), whole_[value]->values.data()};
  if (held_[value] != nullptr) return {type.dtype, std::move(extents), held_[value].get()};
  const auto leaf = leaves_.find(value);
  if (leaf != leaves_.end() && counting_ != Counting::computed_and_read) {
    if (leaf->second.floats() != nullptr) return {type.dtype, std::move(extents), leaf->second.floats()};
    return {type.dtype, std::move(extents), leaf->second.source()};
  }
  return {type.dtype, std::move(extents), [this, value](std::int64_t i) { return element(value, i); }};
}

double DemandEvaluation::element(std::size_t value, std::int64_t i) {
  const auto leaf = leaves_.find(value);
  if (leaf != leaves_.end()) {
    if (costs_ != nullptr) charge(costs_->leaf);
    return leaf->second(i);
  }
  if (whole_[value]) return whole_[value]->values[static_cast<std::size_t>(i)];
  if (held_[value] != nullptr) return held_[value][static_cast<std::size_t>(i)];
  if (memos_[value] != nullptr) {
    if (const auto known = memos_[value]->find(i)) return *known;
  }
  const auto& node = graph_.nodes[*graph_.values[value].node];
  const auto& answer = *answers_[*graph_.values[value].node];
  const auto output =
      static_cast<std::size_t>(std::find(node.outputs.begin(), node.outputs.end(), value) - node.outputs.begin());
  return std::visit([&](const auto& kind) { return compute(kind, node, output, i); }, answer);
}

double DemandEvaluation::keep(std::size_t value, std::int64_t i, double computed) {
  const double held = held_as(graph_.values[value].type.dtype, computed);
  if (memos_[value] != nullptr) memos_[value]->keep(i, held);
  if (costs_ != nullptr) charge(memos_[value] != nullptr ? costs_->kept[value] : costs_->afresh);
  return held;
}

double DemandEvaluation::compute(const ByElement& answer, const Node& node, std::size_t output, std::int64_t i) {
  return keep(node.outputs[output], i, answer.at(output, i));
}

/// Who asked for the two elements before this one in its row will ask for the next ones: a span of them reads the
/// operands line by line, where elements one by one would read columns.
double DemandEvaluation::compute(const BySpan& answer, const Node& node, std::size_t output, std::int64_t i) {
  const std::size_t value = node.outputs[output];
  const std::int64_t row = i / answer.length;
  const std::int64_t first = i % answer.length;
  if (costs_ != nullptr && is_counted_by_rows(answer, node)) return count({row, first, 1}, answer, node, value);
  const bool in_order = first >= 2 && memos_[value]->find(i - 1) && memos_[value]->find(i - 2);
  std::array<double, k_longest_span> sums{};
  const std::int64_t count = in_order ? std::min<std::int64_t>(k_longest_span, answer.length - first) : 1;
  const std::span<double> into = std::span(sums).first(static_cast<std::size_t>(count));
  answer.fill(std::span(&row, 1), first, std::span(&into, 1));
  for (std::int64_t k = 1; k < count; ++k) keep(value, i + k, sums[static_cast<std::size_t>(k)]);
  return keep(value, i, sums.front());
}

/// Whether it is known what a row reads but for leaves.
bool DemandEvaluation::is_counted_by_rows(const BySpan& answer, const Node& node) const {
  const auto operands = operands_of(node);
  return answer.first_operand != nullptr &&
         std::all_of(operands.begin() + 1, operands.end(), [&](std::size_t operand) { return is_leaf(operand); });
}

/// What an element of a long sum takes, which is not computed for that.
double DemandEvaluation::count(const RowPart& part, const BySpan& answer, const Node& node, std::size_t value) {
  const std::size_t operand = operands_of(node).front();
  Ranges reads;
  if (!is_leaf(operand)) answer.first_operand(part, reads);
  for (const auto& range : reads) {
    for (auto i = range.begin; i < range.end; ++i) static_cast<void>(element(operand, i));
  }
  charge(costs_->leaf * static_cast<double>(answer.terms));
  return keep(value, part.row * answer.length + part.first, 0);
}

/// Keeps the whole line of all outputs.
double DemandEvaluation::compute(const ByLine& answer, const Node& node, std::size_t output, std::int64_t i) {
  const auto& lines = answer.lines;
  std::vector<std::vector<double>> buffers(node.outputs.size(),
                                           std::vector<double>(static_cast<std::size_t>(lines.length)));
  answer.fill(lines.line_of(i), buffers);
  const auto start = lines.start(lines.line_of(i));
  double found = 0.0;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    for (std::int64_t at = 0; at < lines.length; ++at) {
      const double held = keep(node.outputs[k], start + at * lines.stride, buffers[k][static_cast<std::size_t>(at)]);
      if (k == output && start + at * lines.stride == i) found = held;
    }
  }
  return found;
}

void DemandEvaluation::compute_rows(const WantedElements& wanted, const ParallelFor& parallel) {
  std::vector<bool> visited(graph_.values.size(), false);
  Ranges ranges;
  for (const auto i : wanted.elements) ranges.push_back({i, i + 1});
  compute_rows(wanted.value, joined(std::move(ranges)), parallel, visited);
}

/// Where they are known no more than by a guess.
void DemandEvaluation::compute_rows_behind(const Node& node, std::size_t output, const Ranges& ranges,
                                           const ParallelFor& parallel) {
  std::vector<bool> visited(graph_.values.size(), false);
  for (const auto& [operand, reads] : reads_of(node, output, ranges, parallel)) {
    compute_rows(operand, reads, parallel, visited);
  }
}

void DemandEvaluation::compute_rows(std::size_t value, const Ranges& ranges, const ParallelFor& parallel,
                                    std::vector<bool>& visited) {
  if (visited[value] || !follows_from_rows_[value]) return;
  visited[value] = true;
  const Node& node = graph_.nodes[*graph_.values[value].node];
  for (const auto& [operand, reads] : reads_of(node, value, ranges, parallel))
    compute_rows(operand, reads, parallel, visited);
  const auto* spans = std::get_if<BySpan>(&*answers_[*graph_.values[value].node]);
  if (spans == nullptr) return;
  fill_parts(*spans, parts_of_rows(ranges, spans->length), parallel,
             [&](std::int64_t row, std::int64_t first, std::span<const double> values) {
               std::int64_t i = row * spans->length + first;
               for (const double computed : values) keep(value, i++, computed);
             });
}

/// Of those operands whose rows can be computed.
std::map<std::size_t, Ranges> DemandEvaluation::reads_of(const Node& node, std::size_t value, const Ranges& ranges,
                                                         const ParallelFor& parallel) {
  std::map<std::size_t, Ranges> reads;
  const auto operands = operands_of(node);
  const auto follows = [&](std::size_t operand) { return bool{follows_from_rows_[operand]}; };
  if (std::ranges::none_of(operands, follows)) return reads;
  const Answer& answer = *answers_[*graph_.values[value].node];
  if (const auto* spans = std::get_if<BySpan>(&answer)) {
    if (!follows(operands.front())) return reads;
    if (auto rows = first_operand_reads(*spans, ranges, elements_of(graph_.values[operands.front()].type), parallel,
                                        k_most_reads))
      reads[operands.front()] = *std::move(rows);
    return reads;
  }
  const auto* by_element = std::get_if<ByElement>(&answer);
  if (by_element != nullptr && by_element->reach == Reach::same) {
    const std::int64_t all = elements_of(graph_.values[value].type);
    for (const auto operand : operands) {
      if (elements_of(graph_.values[operand].type) == all) reads[operand] = ranges;
    }
    return reads;
  }
  std::vector<Ranges> wanted(node.outputs.size());
  wanted[static_cast<std::size_t>(std::ranges::find(node.outputs, value) - node.outputs.begin())] = ranges;
  return traced_reads(graph_, node, wanted, parallel, k_most_reads).value_or(std::map<std::size_t, Ranges>());
}

std::int64_t DemandEvaluation::elements_on_the_way() const {
  std::int64_t all = 0;
  for_each_on_the_way([&](std::size_t value) { all += elements_of(graph_.values[value].type); });
  return all;
}

std::optional<double> DemandEvaluation::cost_of(std::span<const WantedElements> wanted, const AskingCosts& costs,
                                                double most) {
  costs_ = &costs;
  left_ = most;
  std::optional<double> cost;
  try {
    for (const auto& one : wanted) {
      for (const auto i : one.elements) static_cast<void>(element(one.value, i));
    }
    cost = most - left_;
  } catch (const CostsTooMuch&) {
    // Nothing is to be said of it then.
  }
  costs_ = nullptr;
  return cost;
}

void DemandEvaluation::charge(double cost) {
  left_ -= cost;
  if (left_ < 0) throw CostsTooMuch();
}

}  // namespace kw::program_oracle
