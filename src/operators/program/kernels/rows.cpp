#include "operators/program/kernels/rows.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Neighbouring rows that a work-group has where those are contiguous.
constexpr int k_row_lanes = 32;
/// Shorter rows have one work-item each.
constexpr double k_shared_row = 32;

/// Work-items that share a row, by the length of the row: one tunable for all groups of like rows.
Tunable threads_tunable(double elements) {
  constexpr double k_short = 512;
  constexpr double k_long = 8192;
  if (elements < k_short) return {"SHORT_ROW_THREADS", {32, 64, 128}, 64};
  if (elements < k_long) return {"ROW_THREADS", {64, 128, 256, 512}, 256};
  return {"LONG_ROW_THREADS", {128, 256, 512, 1024}, 512};
}

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
        rows_(stages_[0]->axes.begin(), stages_[0]->axes.begin() + static_cast<std::ptrdiff_t>(group.rows)),
        rows_per_group_(rows_are_contiguous() ? k_row_lanes : 1) {
    double longest = 0.0;
    for (const auto* stage : stages_) longest = std::max(longest, count_of(columns_of(*stage, group.rows)));
    alone_ = longest < k_shared_row;
    // Neighbouring rows leave fewer work-items for each.
    threads_ = threads_tunable(alone_ ? k_row_lanes : longest * rows_per_group_);
    many_ = alone_ || rows_per_group_ > 1;
    lanes_ = alone_ ? threads_.name : std::to_string(rows_per_group_);
    slices_ = alone_ ? "1" : many_ ? fmt::format("({} / {})", threads_.name, lanes_) : threads_.name;
  }

  GroupKernels write() {
    for (const auto* stage : stages_) {
      scope_.forget_values();
      if (stage->kind == StageKind::reduce) {
        write_reduction(*stage);
      } else {
        write_map(*stage);
      }
    }
    return kernel();
  }

 private:
  static std::vector<const Stage*> stages_of(const GroupContext& context, const StageGroup& group) {
    std::vector<const Stage*> stages;
    for (const auto index : group.stages) stages.push_back(&context.program.stages[index]);
    return stages;
  }

  /// Whether what the reductions read is contiguous along the last axis of the rows rather than along the row.
  [[nodiscard]] bool rows_are_contiguous() const {
    bool along_columns = false;
    bool along_rows = false;
    for (const auto* stage : stages_) {
      const auto columns = columns_of(*stage, group_.rows);
      for_each_load(*stage, [&](const StageNode& load) {
        along_columns = along_columns || (!columns.empty() && is_contiguous(load, columns.back().name));
        along_rows = along_rows || (!rows_.empty() && is_contiguous(load, rows_.back().name));
      });
    }
    return along_rows && !along_columns;
  }

  [[nodiscard]] bool is_local(std::size_t buffer) const {
    return std::find(group_.local.begin(), group_.local.end(), buffer) != group_.local.end();
  }

  /// The loop of a work-item over its share of the columns; what is in it was written to `inside`.
  void write_loop(const StageAxes& columns, const BodyWriter& inside) {
    if (many_) body_.open("if (live)");
    const bool one = columns.size() == 1;
    const auto index = one ? scope_.axis(columns[0].name) : "at";
    const auto count =
        columns.empty() ? "1" : join(columns, " * ", [&](const StageAxis& axis) { return scope_.extent(axis.extent); });
    body_.open(alone_ ? fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", index, count)
                      : fmt::format("for (int {0} = slice; {0} < {1}; {0} += {2})", index, count, slices_));
    std::string inner;
    for (std::size_t i = columns.size(); !one && i-- > 0;) {
      const auto extent = scope_.extent(columns[i].extent);
      const auto place = inner.empty() ? "at" : fmt::format("at / ({})", inner);
      const auto whole = i == 0 ? place : fmt::format("{} % {}", place, extent);
      if (scope_.used_axes().count(columns[i].name) > 0) {
        body_.line(fmt::format("const int {} = {};", scope_.axis(columns[i].name), whole));
      }
      inner = inner.empty() ? extent : extent + " * " + inner;
    }
    body_.raw(inside.text());
    body_.close();
    if (many_) body_.close();
  }

  void write_map(const Stage& stage) {
    auto inside = nested();
    inside.lines(scope_.shared_values({stage.body}, true));
    inside.line(store(stage, stage.body));
    write_loop(columns_of(stage, group_.rows), inside);
  }

  [[nodiscard]] BodyWriter nested() const { return body_.nested(many_ ? 2 : 1); }

  [[nodiscard]] std::string store(const Stage& stage, const StageExpr& value) {
    return store_value(stage, without_parentheses(scope_.text(value)));
  }

  [[nodiscard]] std::string store_value(const Stage& stage, const std::string& value) {
    const auto& buffer = context_.buffers[stage.buffer];
    written_.insert(stage.buffer);
    std::vector<std::string> indices;
    for (const auto& index : stage.place->operands) indices.push_back(scope_.text(index, Binding::sum));
    return store_text(buffer.dtype, buffer.name, scope_.offset(indices, stage.place->tensor.type.shape), value,
                      scope_.dialect());
  }

  void write_reduction(const Stage& stage) {
    const auto type = result_type_of(stage);
    const auto result = scope_.new_name(kernel_name(context_.program.buffers[stage.buffer].name + "_of_row"));
    body_.line(fmt::format("{} {} = 0;", kernel_type(type), result));
    body_.open("");
    auto sequential = stage;
    sequential.in_parts = false;  // each work-item gathers a short part
    const auto accumulator = accumulator_of(sequential, "");
    own_helpers_.insert(accumulator.own_helpers.begin(), accumulator.own_helpers.end());
    body_.lines(accumulator.declarations);
    write_loop(stage.inner, elements(stage, accumulator));
    scope_.forget_values();
    gather(accumulator);
    scope_.call_result(accumulator.result);
    const auto value = stage.epilogue ? stage.epilogue : reduction_result(stage.body->type);
    if (many_) body_.open("if (live)");
    body_.lines(scope_.shared_values({stage.epilogue}, true));
    body_.line(fmt::format("{} = {};", result, without_parentheses(scope_.text(value))));
    if (!is_local(stage.buffer)) body_.line((alone_ ? "" : "if (slice == 0) ") + store_value(stage, result));
    if (many_) body_.close();
    body_.close();
    scope_.forget_values();
    scope_.hold(stage.buffer, result);
  }

  [[nodiscard]] BodyWriter elements(const Stage& stage, const Accumulator& accumulator) {
    auto inside = nested();
    StageExpr guard;
    for (const auto& one : stage.guards) guard = both(guard, one);
    if (guard) {
      inside.lines(scope_.shared_values({guard}, false));
      inside.line(fmt::format("if (!({})) continue;", scope_.text(guard)));
    }
    inside.lines(scope_.shared_values({stage.body, stage.position}, true));
    const auto position = stage.position ? without_parentheses(scope_.text(stage.position)) : "";
    inside.lines(accumulator.step(without_parentheses(scope_.text(stage.body)), position));
    return inside;
  }

  /// Halves the slices that hold a part until one holds the whole, which all read.
  void gather(const Accumulator& accumulator) {
    if (alone_) return;
    std::vector<std::string> shared;
    for (const auto& state : accumulator.state) {
      shared.push_back(shared_array(state.type));
      body_.line(fmt::format("{}[threadIdx.x] = {};", shared.back(), state.name));
      used_arrays_.insert(shared.back());
    }
    used_arrays_.clear();
    body_.line("__syncthreads();");
    body_.open(fmt::format("for (int reach = {} / 2; reach > 0; reach /= 2)", slices_));
    body_.open("if (slice < reach)");
    const auto other = many_ ? fmt::format("threadIdx.x + reach * {}", lanes_) : std::string("threadIdx.x + reach");
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const auto& state = accumulator.state[i];
      body_.line(fmt::format("const {} other_{} = {}[{}];", state.type, state.name, shared[i], other));
    }
    body_.lines(accumulator.merge);
    for (std::size_t i = 0; i < shared.size(); ++i) {
      body_.line(fmt::format("{}[threadIdx.x] = {};", shared[i], accumulator.state[i].name));
    }
    body_.close();
    body_.line("__syncthreads();");
    body_.close();
    for (std::size_t i = 0; i < shared.size(); ++i) {
      body_.line(fmt::format("{} = {}[{}];", accumulator.state[i].name, shared[i], many_ ? "lane" : "0"));
    }
    body_.line("__syncthreads();");
  }

  /// An array of that type that the gathering at hand does not use yet.
  std::string shared_array(const std::string& type) {
    for (int i = 1;; ++i) {
      auto name = fmt::format("{}s_{}", type, i);
      if (used_arrays_.count(name) > 0) continue;
      arrays_[name] = type;
      return name;
    }
  }

  [[nodiscard]] std::string opening() {
    std::string coordinates;
    for (const auto& one : row_coordinates(rows_, scope_)) coordinates += "  " + one + "\n";
    std::string text;
    for (const auto& [name, type] : arrays_)
      text += fmt::format("  __shared__ {} {}[{}];\n", type, name, threads_.name);
    if (!many_) return text + "  const int slice = threadIdx.x;\n  const long row = blockIdx.x;\n" + coordinates;
    text += fmt::format(
        "  const int lane = threadIdx.x{1};\n{2}"
        "  const long row = (long)blockIdx.x * {0} + lane;\n  const bool live = row < {3};\n",
        lanes_, alone_ ? "" : " % " + lanes_,
        alone_ ? "" : fmt::format("  const int slice = threadIdx.x / {};\n", lanes_), scope_.element_count(rows_));
    return text + coordinates;
  }

  [[nodiscard]] GroupKernels kernel() {
    const auto start = opening();
    const KernelSignature signature(context_, scope_, written_);
    auto kernels =
        signature.kernels(kernel_of_buffer(context_, stages_.back()->buffer), threads_.name, start + body_.text());
    Shape shape;
    for (const auto& row : rows_) shape.push_back(row.extent);
    const auto rows = count_expression(shape);
    kernels.launches[0].grid = {many_ ? fmt::format("ceil_div({}, {})", rows, lanes_) : rows};
    kernels.tunables.push_back(threads_);
    kernels.own_helpers.insert(own_helpers_.begin(), own_helpers_.end());
    return kernels;
  }

  const GroupContext& context_;
  const StageGroup& group_;
  std::vector<const Stage*> stages_;
  KernelScope scope_;
  StageAxes rows_;
  int rows_per_group_;
  bool alone_ = false;  ///< a work-item has a row to itself
  bool many_ = false;   ///< a work-group has several rows
  std::string lanes_;   ///< how many; of each row, `slices_` work-items
  std::string slices_;
  Tunable threads_;
  BodyWriter body_;
  std::set<std::size_t> written_;
  std::map<std::string, std::string> arrays_;  ///< types by name
  std::set<std::string> used_arrays_;
  std::set<std::string> own_helpers_;
};

}  // namespace

bool rows_take(const GroupContext& context, const StageGroup& group) {
  return group.rows > 0 && context.dialect->lanes != nullptr && !context.dialect->warp.empty();
}

GroupKernels rows_kernels(const GroupContext& context, const StageGroup& group) {
  return RowsWriter(context, group).write();
}

}  // namespace kw
