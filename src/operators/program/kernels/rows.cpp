#include "operators/program/kernels/rows.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_batches.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "operators/program/kernels/row_guards.hpp"
#include "operators/program/kernels/row_keeping.hpp"
#include "operators/program/kernels/row_pairs.hpp"
#include "operators/program/kernels/row_sharing.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

StageAxes columns_of(const Stage& stage, std::size_t rows) {
  if (stage.kind == StageKind::reduce) return stage.inner;
  return {stage.axes.begin() + static_cast<std::ptrdiff_t>(rows), stage.axes.end()};
}

class RowsWriter {
 public:
  RowsWriter(const GroupContext& context, const StageGroup& group)
      : context_(context),
        group_(group),
        stages_(stages_of(context, group)),
        scope_(context.buffers, stages_, context.dialect),
        rows_(stages_[0]->axes.begin(), stages_[0]->axes.begin() + static_cast<std::ptrdiff_t>(group.rows)) {
    scope_.divide_quickly(context.program);
    double longest = 0.0;
    for (const auto* stage : stages_) longest = std::max(longest, count_of(columns_of(*stage, group.rows)));
    sharing_ = row_sharing(count_of(rows_), longest, rows_are_contiguous(), gathers_one_number(),
                           static_cast<double>(context.device.compute_units));
    keeping_.emplace(context, stages_, group.rows, sharing_);
  }

  GroupKernels write() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto& stage = *stages_[i];
      scope_.forget_values();
      const auto pair = reads_together() && i + 1 < stages_.size() ? row_pair(stage, *stages_[i + 1]) : std::nullopt;
      if (stage.kind != StageKind::reduce) {
        write_map(stage);
      } else if (pair) {
        write_pair(stage, *stages_[++i], *pair);
      } else {
        write_reduction(stage);
      }
      keeping_->was_written(stage);
    }
    return kernel();
  }

 private:
  /// Whether what the reductions read is contiguous along the last axis of the rows rather than along the row.
  [[nodiscard]] bool rows_are_contiguous() const {
    bool along_columns = false;
    bool along_rows = false;
    for (const auto* stage : stages_) {
      const auto columns = columns_of(*stage, group_.rows);
      for_each_load(*stage, [&](const StageNode& load) {
        along_columns = along_columns || goes_along_columns(load, rows_, columns);
        along_rows = along_rows || (!rows_.empty() && is_contiguous(load, rows_.back().name));
      });
    }
    return along_rows && !along_columns;
  }

  /// Rather than a number and its place, or two reductions at a time.
  [[nodiscard]] bool gathers_one_number() const {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto& stage = *stages_[i];
      if (stage.kind == StageKind::reduce && (stage.position || stage.op == ReduceOp::log_sum_exp)) return false;
      if (i + 1 < stages_.size() && row_pair(stage, *stages_[i + 1])) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_local(std::size_t buffer) const {
    return std::find(group_.local.begin(), group_.local.end(), buffer) != group_.local.end();
  }

  [[nodiscard]] bool alone() const { return sharing_.share == RowShare::item; }
  /// Whether what two reductions gather at the same time is worth its instructions: the nearest cache has the row of a
  /// work-item or a warp when the second one reads it.
  [[nodiscard]] bool reads_together() const { return !alone() && sharing_.share != RowShare::warp; }

  /// Where a work-group may have too few rows, only those there are.
  void open_live() {
    if (sharing_.many()) body_.open("if (live)");
  }
  void close_live() {
    if (sharing_.many()) body_.close();
  }

  void write_map(const Stage& stage) {
    const auto columns = columns_of(stage, group_.rows);
    open_live();
    if (alone()) {
      auto statements = scope_.shared_values({stage.body}, true);
      statements.push_back(store(stage, without_parentheses(scope_.text(stage.body))));
      write_nested_loops(body_, columns, scope_, statements);
    } else {
      body_.open("");
      write_loops(stage, columns, [&] { return map_batches(stage); });
      body_.close();
    }
    close_live();
  }

  [[nodiscard]] BatchText map_batches(const Stage& stage) {
    BatchText text;
    text.arrays = {fmt::format("{} values[batch];", kernel_type(stage.body->type)), "long places[batch];"};
    text.reads = keeping_->reads(stage, printed_, sharing_, scope_);
    add(text.reads, scope_.shared_values({stage.body}, true));
    text.reads.push_back(fmt::format("values[part] = {};", without_parentheses(scope_.text(stage.body))));
    text.reads.push_back(fmt::format("places[part] = {};", place_of(stage)));
    text.uses = {stored_at(stage, "places[part]", "values[part]")};
    return text;
  }

  /// `print` prints the stage's batches; `print_fours` too, where elements go by fours.
  template <typename Print>
  void write_loops(const Stage& stage, const StageAxes& columns, const Print& print) {
    write_loops(stage, columns, print, print);
  }
  template <typename Print, typename PrintFours>
  void write_loops(const Stage& stage, const StageAxes& columns, const Print& print, const PrintFours& print_fours) {
    const auto first = first_batch(stage, print);
    const auto text = print();
    if (const auto in_fours = fours(stage, columns, print_fours)) {
      write_batches(body_, columns, scope_, sharing_, text, *in_fours);
    } else {
      write_batches(body_, columns, scope_, sharing_, text, first);
    }
  }

  /// The batch that work-items keep in registers, or that they kept.
  template <typename Print>
  [[nodiscard]] std::optional<BatchText> first_batch(const Stage& stage, const Print& print) {
    if (!keeping_->has_first_batch(stage)) return std::nullopt;
    printed_ = PrintedBatch::first;
    const auto text = print();
    printed_ = PrintedBatch::any;
    scope_.forget_values();
    return text;
  }

  /// The loop with fours, where there is one; `print` prints the stage's batches as elements are then called.
  template <typename Print>
  [[nodiscard]] std::optional<FourText> fours(const Stage& stage, const StageAxes& columns, const Print& print) {
    if (keeping_->in_registers() || !has_fours(columns, sharing_)) return std::nullopt;
    const bool map = stage.kind != StageKind::reduce;
    const auto& column = columns.back();
    const auto found = row_fours(stage, column.name, column.extent, map ? stage.place.get() : nullptr, scope_);
    if (!found) return std::nullopt;
    scope_.forget_values();
    auto reads = four_reads(*found, "part % 4", scope_, keeping_->read_fours(stage, sharing_, scope_));
    FourText fours;
    fours.conditions = found->conditions;
    fours.loads = std::move(reads.loads);
    fours.elements = std::move(reads.elements);
    printed_ = PrintedBatch::fours;
    fours.text = print();
    printed_ = PrintedBatch::any;
    if (map) {
      fours.uses = {
          fmt::format("*(float4*)({} + places[four]) = make_float4(values[four], values[four + 1], values[four + 2], "
                      "values[four + 3]);",
                      context_.buffers[stage.buffer].name)};
    }
    scope_.forget_values();
    return fours;
  }

  [[nodiscard]] std::string place_of(const Stage& stage) {
    if (!stage.place) return "0";  // a single number
    std::vector<std::string> indices;
    for (const auto& index : stage.place->operands) indices.push_back(scope_.text(index, Binding::sum));
    return scope_.offset(indices, stage.place->tensor.type.shape);
  }

  [[nodiscard]] std::string stored_at(const Stage& stage, const std::string& place, const std::string& value) {
    const auto& buffer = context_.buffers[stage.buffer];
    written_.insert(stage.buffer);
    return store_text(buffer.dtype, buffer.name, place, value, scope_.dialect());
  }

  [[nodiscard]] std::string store(const Stage& stage, const std::string& value) {
    return stored_at(stage, place_of(stage), value);
  }

  /// The variable that is to hold the reduction's result.
  [[nodiscard]] std::string declare_result(const Stage& stage) {
    auto result = scope_.new_name(kernel_name(context_.program.buffers[stage.buffer].name + "_of_row"));
    body_.line(fmt::format("{} {} = 0;", kernel_type(result_type_of(stage)), result));
    return result;
  }

  void write_reduction(const Stage& stage) {
    const auto result = declare_result(stage);
    body_.open("");
    auto sequential = stage;
    sequential.in_parts = false;  // each work-item gathers a short part
    const auto accumulator = accumulator_of(sequential, "");
    own_helpers_.insert(accumulator.own_helpers.begin(), accumulator.own_helpers.end());
    body_.lines(accumulator.declarations);
    open_live();
    if (alone()) {
      write_nested_loops(body_, stage.inner, scope_, elements(stage, accumulator));
    } else {
      write_loops(stage, stage.inner, [&] { return batches(stage, accumulator); });
    }
    close_live();
    scope_.forget_values();
    write_gathering(body_, accumulator, sharing_, scope_.dialect(), arrays_);
    write_result(stage, accumulator.result, result);
    body_.close();
    hold(stage, result);
  }

  /// Two reductions in one loop; see row_pairs.hpp.
  void write_pair(const Stage& first, const Stage& second, const RowPair& pair) {
    const auto first_result = declare_result(first);
    const auto second_result = declare_result(second);
    body_.open("");
    own_helpers_.insert(pair.both.own_helpers.begin(), pair.both.own_helpers.end());
    body_.lines(pair.both.declarations);
    open_live();
    const auto print = [&](bool by_fours) {
      auto text = pair_batches(first, pair);
      const auto counts =
          by_fours ? counts_in_fours(sharing_, text) : counts_in_batch(first.inner, scope_, sharing_, text);
      for (const auto& line : pair.after) text.after.push_back(fill_lines(line, {{"counts", counts}}));
      return text;
    };
    write_loops(
        first, first.inner, [&] { return print(false); }, [&] { return print(true); });
    close_live();
    scope_.forget_values();
    write_gathering(body_, pair.both, sharing_, scope_.dialect(), arrays_);
    write_result(first, pair.both.result, first_result);
    scope_.forget_values();
    scope_.hold(first.buffer, first_result);
    write_result(second, fill_lines(pair.second_result, {{"first", first_result}}), second_result);
    body_.close();
    hold(first, first_result);
    hold(second, second_result);
  }

  [[nodiscard]] BatchText pair_batches(const Stage& first, const RowPair& pair) {
    BatchText text;
    write_values(text, first);
    text.before = pair.before;
    text.uses = pair.uses;
    return text;
  }

  /// What follows from the row's reduction, in every work-item of the row; one of them stores it.
  void write_result(const Stage& stage, const std::string& reduced, const std::string& result) {
    scope_.call_result(reduced);
    const auto value = stage.epilogue ? stage.epilogue : reduction_result(stage.body->type);
    open_live();
    body_.lines(scope_.shared_values({stage.epilogue}, true));
    body_.line(fmt::format("{} = {};", result, without_parentheses(scope_.text(value))));
    if (!is_local(stage.buffer)) body_.line((alone() ? "" : "if (slice == 0) ") + store(stage, result));
    close_live();
  }

  void hold(const Stage& stage, const std::string& result) {
    scope_.forget_values();
    scope_.hold(stage.buffer, result);
  }

  static void add(std::vector<std::string>& statements, const std::vector<std::string>& more) {
    statements.insert(statements.end(), more.begin(), more.end());
  }

  static StageExpr guard_of(const Stage& stage) {
    StageExpr guard;
    for (const auto& one : stage.guards) guard = both(guard, one);
    return guard;
  }

  /// Statements for one element after the other.
  [[nodiscard]] std::vector<std::string> elements(const Stage& stage, const Accumulator& accumulator) {
    std::vector<std::string> statements;
    if (const auto guard = guard_of(stage)) {
      add(statements, scope_.shared_values({guard}, false));
      statements.push_back(fmt::format("if (!({})) continue;", scope_.text(guard)));
    }
    add(statements, scope_.shared_values({stage.body, stage.position}, true));
    const auto position = stage.position ? without_parentheses(scope_.text(stage.position)) : "";
    add(statements, accumulator.step(without_parentheses(scope_.text(stage.body)), position));
    return statements;
  }

  /// The elements of a batch that the stage reduces, in `values`.
  void write_values(BatchText& text, const Stage& stage) {
    text.arrays = {fmt::format("{} values[batch];", kernel_type(stage.body->type))};
    const auto guards = row_guards(stage);
    if (guards.length) {
      text.length = without_parentheses(scope_.text(guards.length));
      text.length_name = scope_.new_name("length");
    }
    if (guards.others) {
      text.guard_values = scope_.shared_values({guards.others}, false);
      text.guard = scope_.text(guards.others);
    }
    text.reads = keeping_->reads(stage, printed_, sharing_, scope_);
    add(text.reads, scope_.shared_values({stage.body, stage.position}, true));
    text.reads.push_back(fmt::format("values[part] = {};", without_parentheses(scope_.text(stage.body))));
  }

  [[nodiscard]] BatchText batches(const Stage& stage, const Accumulator& accumulator) {
    BatchText text;
    write_values(text, stage);
    if (stage.position) {
      text.arrays.emplace_back("int positions[batch];");
      text.reads.push_back(fmt::format("positions[part] = {};", without_parentheses(scope_.text(stage.position))));
    }
    if (stage.op == ReduceOp::sum && stage.body->type == StageType::real) {
      // The sum of a batch first: fewer roundings in a row.
      text.before = {"float chunk = 0.0f;"};
      text.uses = {"chunk += values[part];"};
      text.after = accumulator.step("chunk", "");
    } else {
      text.uses = accumulator.step("values[part]", "positions[part]");
    }
    return text;
  }

  [[nodiscard]] std::string opening() {
    std::string coordinates;
    for (const auto& one : row_coordinates(rows_, scope_)) coordinates += "  " + one + "\n";
    return arrays_.declarations(sharing_.threads.name) + keeping_->declarations(scope_) +
           row_variables(sharing_, scope_.element_count(rows_)) + coordinates;
  }

  [[nodiscard]] GroupKernels kernel() {
    const auto start = opening();
    const KernelSignature signature(context_, scope_, written_);
    auto kernels = signature.kernels(kernel_of_buffer(context_, stages_.back()->buffer), sharing_.threads.name,
                                     start + body_.text());
    Shape shape;
    for (const auto& row : rows_) shape.push_back(row.extent);
    const auto rows = rows_.empty() ? "1" : count_expression(shape);
    kernels.launches[0].grid = {sharing_.many() ? fmt::format("ceil_div({}, {})", rows, sharing_.lanes) : rows};
    kernels.tunables.push_back(sharing_.threads);
    keeping_->add_to(kernels, sharing_, arrays_.count(), context_.device);
    if (!alone()) kernels.tunables.push_back(sharing_.elements);
    kernels.own_helpers.insert(own_helpers_.begin(), own_helpers_.end());
    return kernels;
  }

  const GroupContext& context_;
  const StageGroup& group_;
  std::vector<const Stage*> stages_;
  KernelScope scope_;
  StageAxes rows_;
  RowSharing sharing_;
  std::optional<RowKeeping> keeping_;
  PrintedBatch printed_ = PrintedBatch::any;
  BodyWriter body_;
  std::set<std::size_t> written_;
  SharedArrays arrays_;
  std::set<std::string> own_helpers_;
};

}  // namespace

bool rows_take(const GroupContext& context, const StageGroup& group) {
  if (context.dialect->lanes == nullptr || context.dialect->warp.empty()) return false;
  const auto& first = context.program.stages[group.stages[0]];
  const bool single_number =
      group.stages.size() == 1 && first.kind == StageKind::reduce && first.axes.empty() && !first.inner.empty();
  return group.rows > 0 || single_number;
}

GroupKernels rows_kernels(const GroupContext& context, const StageGroup& group) {
  return RowsWriter(context, group).write();
}

}  // namespace kw
