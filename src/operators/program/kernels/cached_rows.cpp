#include "operators/program/kernels/cached_rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "operators/program/kernels/row_memory.hpp"
#include "operators/program/kernels/row_pairs.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

using Statements = std::vector<std::string>;

/// Locals of the text, which no axis may be called.
const std::vector<std::string> k_locals = {
    "shared_ticket", "lane",   "warp",     "row_length",  "parts",   "next_ticket", "of_parts",
    "ticket",        "later",  "reduces",  "maps",        "arrived", "of_rows",     "rows",
    "counts",        "before", "elements", "shared_word", "turn",    "choice",      "fours",
    "place_of",      "start",  "part",     "row",         "four",    "values",      "batch",
    "reach",         "word",   "item",     "results",     "at",      "first",       "beside",
    "count",         "mean",   "squares",  "best",        "sum",     "most",        "neighbours",
    "product",       "chunk",  "any",      "all",         "shift",   "other_count", "apart",
    "together"};

/// A block has room for no more than two arrays of parts beside the values.
constexpr std::size_t k_most_tensors = 2;

std::string rows_section(const char* name, const Fillings& fillings) {
  return fill_lines(kernel_text("program/cached_rows.cu", name), fillings);
}

/// Elements of f32 that are read in any case, and whose neighbours along the column are neighbours in memory.
std::vector<const StageNode*> neighbours_in(const Stage& stage, const StageAxis& column,
                                            const std::vector<KernelBuffer>& buffers) {
  std::vector<const StageNode*> loads;
  for (const auto* load : certain_loads(stage.body)) {
    if (buffers[load->tensor.buffer].dtype == DType::f32 && is_contiguous(*load, column.name)) loads.push_back(load);
  }
  return loads;
}

/// How a part is gathered.
struct Gathering {
  Accumulator accumulator;
  Statements before, uses, after;  ///< of a part's values
  std::string second_result;       ///< of a pair
};

Gathering gathering_of(const std::vector<const Stage*>& reductions) {
  if (reductions.size() == 2) {
    auto pair = row_pair(*reductions[0], *reductions[1]);
    KW_CHECK(pair.has_value(), "two reductions of cached rows are no pair");
    Statements after;
    for (const auto& line : pair->after) after.push_back(fill(line, {{"counts", "if (counts(start, part))"}}));
    return {std::move(pair->both), std::move(pair->before), std::move(pair->uses), std::move(after),
            std::move(pair->second_result)};
  }
  auto reduction = *reductions[0];
  reduction.in_parts = false;
  auto accumulator = accumulator_of(reduction, "");
  auto uses = accumulator.step("values[part]", "");
  return {std::move(accumulator), {}, std::move(uses), {}, ""};
}

/// What of its state a part leaves: how many elements it had is known.
std::vector<std::string> left_states(const Accumulator& accumulator) {
  std::vector<std::string> names;
  for (const auto& one : accumulator.state) {
    if (one.name != "count") names.push_back(one.name);
  }
  return names;
}

class CachedRowsText {
 public:
  CachedRowsText(const GroupContext& context, const StageGroup& group)
      : context_(context),
        buffers_(context.buffers),
        map_(context.program.stages[group.stages.back()]),
        rows_(map_.axes.begin(), map_.axes.begin() + static_cast<std::ptrdiff_t>(group.rows)),
        columns_(map_.axes.begin() + static_cast<std::ptrdiff_t>(group.rows), map_.axes.end()),
        kernel_(kernel_of_buffer(context, map_.buffer)) {
    const auto stages = stages_of(context, group);
    reductions_.assign(stages.begin(), stages.end() - 1);
    words_ = buffers_.size();
    const auto name = fmt::format("words_of_{}", buffers_[map_.buffer].name);
    buffers_.push_back({name, name, DType::i32});
    scope_.emplace(buffers_, stages, context.dialect, k_locals);
    scope_->divide_quickly(context.program);
    gathering_ = gathering_of(reductions_);
  }

  GroupKernels write() {
    Fillings fillings = {{"words", buffers_[words_].name}};
    fill_loads(fillings);
    fill_values(fillings);
    fill_states(fillings);
    fill_results(fillings);
    fillings.emplace_back("row_length", scope_->extent(extent_of(reductions_[0]->inner)));
    fillings.emplace_back("rows", scope_->element_count(rows_));
    fillings.emplace_back("row_axes", join_lines(row_coordinates(rows_, *scope_)));
    return kernels(fillings);
  }

 private:
  /// The tensors that both readings have neighbours of, in arrays; and the condition for fours.
  void fill_loads(Fillings& fillings) {
    const auto& column = reductions_[0]->inner.back();
    const auto reduced = row_fours(*reductions_[0], column.name, column.extent, nullptr, *scope_);
    const auto mapped = row_fours(map_, columns_.back().name, columns_.back().extent, map_.place.get(), *scope_);
    Statements arrays;
    fillings.emplace_back("reduced_loads",
                          loads(neighbours_in(*reductions_[0], column, buffers_), "reduced", {column}, arrays));
    fillings.emplace_back("mapped_loads",
                          loads(neighbours_in(map_, columns_.back(), buffers_), "mapped", columns_, arrays));
    fillings.emplace_back("arrays", join_lines(arrays));
    // Both have fours of all that they read, or none.
    const bool fours = reduced && mapped && reduced->loads.size() + mapped->loads.size() == arrays.size();
    fillings.emplace_back("turn", fours ? turn_by_condition(*reduced, *mapped) : "turn(Choice<false>());");
  }

  static std::string turn_by_condition(const RowFours& reduced, const RowFours& mapped) {
    Statements conditions = reduced.conditions;
    for (const auto& one : mapped.conditions) {
      if (std::ranges::count(conditions, one) == 0) conditions.push_back(one);
    }
    return fmt::format("if ({}) turn(Choice<true>());\nelse turn(Choice<false>());", fmt::join(conditions, " && "));
  }

  std::string loads(const std::vector<const StageNode*>& all, const std::string& name, const StageAxes& columns,
                    Statements& arrays) {
    Statements texts;
    for (const auto* load : all) {
      const auto array = fmt::format("{}_{}", name, texts.size());
      arrays.push_back(fmt::format("float {}[PART_ELEMENTS] = {{}};", array));
      const auto place = scope_->place_text(*load);
      texts.push_back(rows_section("load", {{"memory", scope_->buffer(load->tensor.buffer).name},
                                            {"array", array},
                                            {"four_place", place},
                                            {"four_columns", join_lines(columns_of("at", "0", columns))},
                                            {"hint", name == "mapped" ? "__ldcs(" : "*"},
                                            {"close", name == "mapped" ? ")" : ""}}));
      arrays_[load] = array + "[part]";
    }
    return join_lines(texts);
  }

  /// Indices along the columns' axes of the element `beside` the one at `first` of the row, along its last axis.
  Statements columns_of(const std::string& first, const std::string& beside, const StageAxes& columns) {
    Statements lines;
    std::string inner;
    for (std::size_t i = columns.size(); i-- > 0;) {
      const auto& axis = columns[i];
      const auto extent = scope_->extent(axis.extent);
      auto place = inner.empty() ? first : fmt::format("{} / ({})", first, inner);
      if (i > 0) place += " % " + extent;
      if (i + 1 == columns.size() && beside != "0") place += " + " + beside;
      lines.push_back(fmt::format("const int {} = {};", scope_->axis(axis.name), place));
      inner = inner.empty() ? extent : extent + " * " + inner;
    }
    return lines;
  }

  /// Statements after which `target` has the body's value for element `part`.
  std::string value_of(const Stage& stage, const StageAxes& columns, const std::string& target) {
    scope_->forget_values();
    for (const auto* load : certain_loads(stage.body)) {
      const auto array = arrays_.find(load);
      if (array != arrays_.end()) scope_->call_value(load, array->second);
    }
    const auto shared = scope_->shared_values({stage.body}, true);
    const auto value = without_parentheses(scope_->text(stage.body));
    const auto used = [&](const StageAxis& axis) { return scope_->used_axes().count(axis.name) > 0; };
    Statements lines;
    if (std::ranges::any_of(columns, used)) {
      // Behind the end of the row the last ones stand for those that are not there.
      lines.emplace_back("const int beside = fours ? part % 4 : 0;");
      lines.emplace_back("const int first = min(place_of(start, part - beside), row_length - (fours ? 4 : 1));");
      for (auto& line : columns_of("first", "beside", columns)) lines.push_back(std::move(line));
    }
    lines.insert(lines.end(), shared.begin(), shared.end());
    lines.push_back(fmt::format("{} = {};", target, value));
    scope_->forget_values();
    return join_lines(lines);
  }

  void fill_values(Fillings& fillings) {
    fillings.emplace_back("reduced_value", value_of(*reductions_[0], reductions_[0]->inner, "values[part]"));
    fillings.emplace_back("before", join_lines(gathering_.before));
    fillings.emplace_back("uses", join_lines(gathering_.uses));
    fillings.emplace_back("after", join_lines(gathering_.after));
  }

  void fill_states(Fillings& fillings) {
    const auto& accumulator = gathering_.accumulator;
    const auto merge = join_lines(accumulator.merge);
    Statements shared, others, keep_warp, take_warp;
    for (const auto& [type, name] : accumulator.state) {
      shared.push_back(fmt::format("__shared__ {} {}_of_warps[PART_WARPS];", type, name));
      others.push_back(fmt::format("const {0} other_{1} = __shfl_xor_sync(0xffffffffu, {1}, reach);", type, name));
      keep_warp.push_back(fmt::format("{0}_of_warps[warp] = {0};", name));
      take_warp.push_back(fmt::format("{0} = {0}_of_warps[lane];", name));
    }
    const auto left = left_states(accumulator);
    fillings.emplace_back("shared", join_lines(shared));
    fillings.emplace_back("state", join_lines(accumulator.declarations));
    fillings.emplace_back("merge", merge);
    const auto join = [&](const char* lanes) {
      return rows_section("join_lanes", {{"lanes", lanes}, {"others", join_lines(others)}, {"merge", merge}});
    };
    fillings.emplace_back("join_lanes", join("32"));
    fillings.emplace_back("join_warps", join("PART_WARPS"));
    fillings.emplace_back("keep_warp", join_lines(keep_warp));
    fillings.emplace_back("take_warp", join_lines(take_warp));
    fillings.emplace_back("word_state", word_state("other_", "word", "elements"));
    fillings.emplace_back("take_row", word_state("", "shared_word", "row_length"));
    fillings.emplace_back("left", fmt::format("{}, {}", left.front(), left.size() == 2 ? left.back() : "0.0f"));
  }

  /// The state that a word holds, of so many elements.
  std::string word_state(const std::string& prefix, const std::string& word, const std::string& elements) const {
    const auto left = left_states(gathering_.accumulator);
    Statements lines = {
        fmt::format("const float {}{} = __uint_as_float((unsigned)({} >> 32));", prefix, left[0], word)};
    if (left.size() == 2)
      lines.push_back(fmt::format("const float {}{} = __uint_as_float((unsigned){});", prefix, left[1], word));
    if (left.size() < gathering_.accumulator.state.size())
      lines.push_back(fmt::format("const float {}count = (float){};", prefix, elements));
    return join_lines(lines);
  }

  /// What follows from the whole row, then the map.
  void fill_results(Fillings& fillings) {
    Statements results;
    std::string first;
    for (const auto* stage : reductions_) {
      const auto name = scope_->new_name(buffers_[stage->buffer].name + "_of_row");
      scope_->call_result(first.empty() ? gathering_.accumulator.result
                                        : fill(gathering_.second_result, {{"first", first}}));
      const auto value = stage->epilogue ? stage->epilogue : reduction_result(stage->body->type);
      for (auto& line : scope_->shared_values({stage->epilogue}, true)) results.push_back(std::move(line));
      results.push_back(fmt::format("const float {} = {};", name, without_parentheses(scope_->text(value))));
      scope_->forget_values();
      scope_->hold(stage->buffer, name);
      first = name;
    }
    fillings.emplace_back("results", join_lines(results));
    fillings.emplace_back("mapped_value", value_of(map_, columns_, "results[item]"));
    const auto place = scope_->place_text(*map_.place);
    fillings.emplace_back("stores", rows_section("stores", {{"columns", join_lines(columns_of("at", "0", columns_))},
                                                            {"out", buffers_[map_.buffer].name},
                                                            {"place", place}}));
  }

  GroupKernels kernels(const Fillings& fillings) {
    const auto& words = buffers_[words_];
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(*scope_, buffers_, map_.buffer);
    arguments.add(words.dtype, true, words.name, words.argument);
    arguments.add(DType::f32, true, buffers_[map_.buffer].name, buffers_[map_.buffer].argument);
    arguments.add_integers(*scope_);
    const auto qualifier = [&](const char* threads) {
      return fill_lines(context_.dialect->kernel_qualifier, {{"threads", threads}});
    };
    const auto parts =
        fmt::format("ceil_div({}, PART_THREADS * PART_ELEMENTS)", extent_of(reductions_[0]->inner).text());
    const auto rows = bundle_operand(extent_of(rows_));
    const auto count = fmt::format("1 + 2 * {0} + {0} * {1}", rows, parts);
    GroupKernels kernels;
    const auto clear = "clear_" + words.name;
    const auto body = "{\n" + fill_lines(kernel_text("program/cached_rows.cu", "body"), fillings) + "\n}\n";
    kernels.source = with_short_lines(
        qualifier("PART_THREADS, PART_BLOCKS") + "\n" + arguments.signature(kernel_) + " " + body + "\n" +
        fill(kernel_text("program/cached_rows.cu", "clear"),
             {{"qualifier", qualifier("256")},
              {"signature",
               fmt::format("void {}(int* __restrict__ {}, const int rows, const int count)", clear, words.name)},
              {"words", words.name}}));
    kernels.scratch = {{words.argument, words.dtype, fmt::format("2 * ({})", count)}};
    kernels.launches.push_back(
        {clear, {fmt::format("ceil_div({}, 256)", count)}, {"256"}, "0", {words.argument, rows, count}});
    kernels.launches.push_back({kernel_,
                                {fmt::format("({} + 1) * {} + PARTS_AHEAD", rows, parts)},
                                {"PART_THREADS"},
                                "0",
                                arguments.arguments()});
    kernels.tunables = tunables();
    kernels.constraints = {
        "PART_THREADS * PART_BLOCKS <= 2048",
        "PART_ELEMENTS * 5 / 2 <= min(max_registers_per_thread, registers_per_block / (PART_THREADS * PART_BLOCKS))"};
    kernels.helpers = scope_->helpers();
    kernels.own_helpers = scope_->own_helpers();
    kernels.own_helpers.insert("cached_rows.cu/words");
    for (const auto& helper : gathering_.accumulator.own_helpers) kernels.own_helpers.insert(helper);
    return kernels;
  }

  /// As many parts are ahead as blocks are under way, so that a part has left its word before it is mapped. A row of
  /// many parts is gathered from longer ones. A state of two numbers leaves registers for a block more.
  [[nodiscard]] std::vector<Tunable> tunables() const {
    constexpr double k_many = 1 << 20;
    constexpr std::size_t k_few_states = 2;
    const bool longer = count_of(reductions_[0]->inner) >= k_many;
    const bool more = reductions_.size() == 2 && gathering_.accumulator.state.size() == k_few_states;
    const std::int64_t unit_blocks = longer ? 2 : more ? 5 : 4;
    Tunable ahead{"PARTS_AHEAD", {64, 128, 256, 384, 512, 640, 768, 1024}, 64};
    for (const auto value : ahead.values) {
      if (value <= unit_blocks * context_.device.compute_units) ahead.default_value = value;
    }
    return {{"PART_THREADS", {128, 256, 512}, longer ? 512 : 256},
            {"PART_ELEMENTS", {8, 16, 32}, 16},
            {"PART_BLOCKS", {1, 2, 3, 4, 5, 6, 8}, unit_blocks},
            ahead};
  }

  const GroupContext& context_;
  std::vector<KernelBuffer> buffers_;  ///< of the program, and the words behind them
  const Stage& map_;
  StageAxes rows_, columns_;
  std::string kernel_;
  std::vector<const Stage*> reductions_;
  std::size_t words_ = 0;
  std::optional<KernelScope> scope_;
  Gathering gathering_;
  std::map<const StageNode*, std::string> arrays_;
};

bool is_plain_reduction(const Stage& stage) {
  return stage.kind == StageKind::reduce && stage.guards.empty() && !stage.position && stage.inner.size() == 1 &&
         stage.body->type == StageType::real && stage.op != ReduceOp::log_sum_exp && stage.op != ReduceOp::argmax &&
         stage.op != ReduceOp::argmin;
}

/// Whether the stage reads tensors by neighbours, and few of them.
bool has_neighbours(const GroupContext& context, const Stage& stage, const StageAxis& column) {
  const auto loads = neighbours_in(stage, column, context.buffers);
  return !loads.empty() && loads.size() <= k_most_tensors;
}

}  // namespace

bool is_cached_row(double elements, const DeviceFacts& device) {
  constexpr double k_bytes = 4.0, k_part_of_l2 = 0.25, k_usual_l2 = 1 << 25;
  const double l2 = device.l2_cache_bytes > 0 ? static_cast<double>(device.l2_cache_bytes) : k_usual_l2;
  return elements > static_cast<double>(row_memory_elements(device)) && elements * k_bytes <= k_part_of_l2 * l2;
}

bool are_cached_rows(const GroupContext& context, const StageGroup& group) {
  const auto count = group.stages.size();
  if (context.dialect != cuda_dialect() || group.rows == 0 || count < 2 || count > 3) return false;
  const auto stage = [&](std::size_t i) -> const Stage& { return context.program.stages[group.stages[i]]; };
  const auto& map = stage(count - 1);
  const auto columns = static_cast<std::ptrdiff_t>(group.rows);
  if (map.kind != StageKind::map || !map.place || map.body->type != StageType::real ||
      context.buffers[map.buffer].dtype != DType::f32 || map.axes.size() <= group.rows)
    return false;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (!is_plain_reduction(stage(i)) || std::ranges::count(group.local, stage(i).buffer) == 0) return false;
  }
  if (count == 3 && !row_pair(stage(0), stage(1))) return false;
  const double length = count_of({map.axes.begin() + columns, map.axes.end()});
  return is_cached_row(length, context.device) && count_of(stage(0).inner) == length &&
         has_neighbours(context, stage(0), stage(0).inner.back()) && has_neighbours(context, map, map.axes.back()) &&
         is_contiguous(*map.place, map.axes.back().name);
}

GroupKernels cached_rows_kernels(const GroupContext& context, const StageGroup& group) {
  return CachedRowsText(context, group).write();
}

}  // namespace kw
