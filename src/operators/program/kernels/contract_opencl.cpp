#include "operators/program/kernels/contract_opencl.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "hardware/vector_registers.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/contract_vector_stores.hpp"
#include "operators/program/kernels/program_contracts.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

constexpr const char* k_multiply_add = "contract.cl/multiply_add";
constexpr const char* k_panel_columns = "(16 * TILE_VECTORS)";

std::string_view contract_section(const char* name) {
  return kernel_text("program/contract.cl", name);
}

/// Locals of the texts, which no axis may be called.
const std::vector<std::string>& contract_locals() {
  static const std::vector<std::string> k_names = names_in(
      "group lanes first_row first_column first_line rows columns block begin end row total panel "
      "panels at to sum sums line i copied step j l m n r t width column place places column_place "
      "steps runs p start step first_panel panel_count panel_floats panels_here");
  return k_names;
}

StageAxes axes_after_first(const StageAxes& axes) {
  return {axes.begin() + 1, axes.end()};
}

class OpenClContraction {
 public:
  OpenClContraction(const GroupContext& context, const Contraction& contraction, const FactorMemory& rows)
      : context_(context),
        contraction_(contraction),
        rows_(rows),
        out_(context.buffers[contraction.split.stage.buffer]),
        copied_("copy_of_" + out_.name),
        panels_("panels_of_" + out_.name) {}

  GroupKernels write() {
    if (rows_.copy) write_copy(*rows_.copy);
    write_pack();
    write_products();
    kernels_.own_helpers.insert(k_multiply_add);
    kernels_.tunables = context_.contracts->tunables();
    kernels_.constraints = context_.contracts->constraints();
    return std::move(kernels_);
  }

 private:
  void finish(const KernelScope& scope, const std::string& source, Launch launch) {
    kernels_.source += (kernels_.source.empty() ? "" : "\n") + with_short_lines(source);
    kernels_.launches.push_back(std::move(launch));
    kernels_.helpers.insert(scope.helpers().begin(), scope.helpers().end());
    kernels_.own_helpers.insert(scope.own_helpers().begin(), scope.own_helpers().end());
  }

  /// Steps of the longest inner axis in a block of `steps`, and floats of a panel per such step.
  std::string block_text(KernelScope& scope, const std::string& steps) const {
    const auto others = axes_after_first(contraction_.inner);
    return others.empty() ? steps : fmt::format("max(1, {} / ({}))", steps, scope.extent(extent_of(others)));
  }
  std::string step_floats(KernelScope& scope) const {
    const auto others = axes_after_first(contraction_.inner);
    return others.empty() ? "COLUMNS" : fmt::format("({} * COLUMNS)", scope.extent(extent_of(others)));
  }
  std::string batch_statements(KernelScope& scope, const std::set<std::string>& used) const {
    return join_lines(index_statements(scope, contraction_.batch, "(int)get_group_id(2)", used));
  }

  void write_copy(const FactorCopy& copy) {
    KernelScope scope(context_.buffers, stage_over(copy.axes, {}), context_.dialect, contract_locals());
    const StageAxes outer(copy.axes.begin(), copy.axes.end() - 1);
    const auto& last = copy.axes.back();
    std::vector<StageExpr> of_line;
    std::vector<StageExpr> of_last;
    std::vector<StageExpr> bounds;
    for (const auto& guard : copy.guards) {
      const bool line = axes_named(guard).count(last.name) == 0;
      const bool compares = guard->op == StageOp::less || guard->op == StageOp::less_equal;
      const bool bound = compares && affine_index(guard->operands[0], {}) && affine_index(guard->operands[1], {});
      (line ? of_line : bound ? bounds : of_last).push_back(guard);
    }
    const auto element = guarded_text(scope, copy.element, of_last);
    const auto line_guard = condition_text(scope, of_line);
    const auto guard = condition_text(scope, bounds);
    const auto width = scope.extent(last.extent);
    // Enough of them for a work-group to be worth starting.
    constexpr std::int64_t k_floats = 4096;
    const auto lines = std::max<std::int64_t>(1, k_floats / std::max<std::int64_t>(1, last.extent.value()));
    const auto line_count = scope.element_count(outer);
    const auto axes = index_statements(scope, outer, "line", scope.used_axes());
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope, context_.buffers, contraction_.split.stage.buffer);
    arguments.add(DType::f32, true, "copied", copied_);
    arguments.add_integers(scope);
    const auto kernel = "copy_" + out_.name;
    const auto last_name = scope.axis(last.name);
    finish(
        scope,
        fill(contract_section("copy"),
             {{"name", out_.name},
              {"around", copy.guards.empty() ? "" : ", with zeros where it has no elements"},
              {"signature", arguments.signature(kernel)},
              {"lines", std::to_string(lines)},
              {"line_count", line_count},
              {"line_axes", join_lines(axes)},
              {"width", width},
              {"line_guard", line_guard.empty() ? "" : fmt::format("if (!({})) begin = end;", line_guard)},
              {"ends",
               guard.empty() ? "" : fill_lines(contract_section("copy_ends"), {{"last", last_name}, {"guard", guard}})},
              {"last", last_name},
              {"element", element}}),
        {kernel,
         {fmt::format("ceil_div({}, {})", count_expression(extents_of(outer)), lines)},
         {"1"},
         "0",
         arguments.arguments()});
    kernels_.scratch.push_back({copied_, DType::f32, count_expression(extents_of(copy.axes))});
  }

  /// Whether neighbouring columns are neighbours in memory.
  bool columns_are_neighbours() const {
    bool neighbours = false;
    for_each_load(contraction_.second.element, [&](const StageNode& load) {
      if (load.operands.empty()) return;
      const auto last = affine_index(load.operands.back(), contraction_.split.phases);
      neighbours = neighbours || (last && last->coefficients.count(contraction_.columns.back().name) > 0);
    });
    return neighbours;
  }

  /// How a work-group packs: text, panels, and steps.
  struct Packing {
    const char* section;
    std::string panels;
    std::string steps;
  };

  /// Columns that are neighbours are read a row of 256 at a time. With one panel at a time, whose row is one line of a
  /// cache, a matrix of 1024 x 1024 took 1.3 ms from memory, so 1.0 (two cores of Zen 3).
  Packing packing() const {
    if (columns_are_neighbours()) return {"pack_by_steps", "max(1, 16 / TILE_VECTORS)", "16"};
    return {"pack_by_columns", "1", "BLOCK_K"};
  }

  void write_pack() {
    KernelScope scope(context_.buffers,
                      stage_over(joined_axes(contraction_.batch, contraction_.columns), contraction_.inner),
                      context_.dialect, contract_locals());
    const auto element = guarded_text(scope, contraction_.second.element, contraction_.second.guards);
    const auto used = scope.used_axes();
    const auto floats = step_floats(scope);
    const auto column_axes = index_statements(scope, contraction_.columns, "n", used);
    const auto columns = scope.extent(extent_of(contraction_.columns));
    const auto way = packing();
    const auto loops = fill_lines(contract_section(way.section), {{"open_loops", loops_text(scope, contraction_.inner)},
                                                                  {"column_axes", join_lines(column_axes)},
                                                                  {"column_count", columns},
                                                                  {"panels", way.panels},
                                                                  {"element", element},
                                                                  {"step_floats", floats}});
    const auto batch = batch_statements(scope, used);
    const auto block = block_text(scope, way.steps);
    const auto longest = scope.extent(contraction_.inner[0].extent);
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope, context_.buffers, contraction_.split.stage.buffer);
    arguments.add(DType::f32, true, "panels", panels_);
    arguments.add_integers(scope);
    const auto kernel = "pack_" + out_.name;
    const auto others = extent_of(axes_after_first(contraction_.inner));
    const auto& steps = contraction_.inner[0].extent;
    finish(scope,
           fill(contract_section("pack"), {{"name", out_.name},
                                           {"signature", arguments.signature(kernel)},
                                           {"column_count", columns},
                                           {"panels", way.panels},
                                           {"block", block},
                                           {"longest", longest},
                                           {"batch_axes", batch},
                                           {"step_floats", floats},
                                           {"loops", loops}}),
           {kernel,
            {fmt::format("ceil_div({}, {} * {})", extent_of(contraction_.columns).text(), k_panel_columns, way.panels),
             fmt::format("ceil_div({}, max(1, {} / {}))", steps.text(), way.steps, bundle_operand(others)),
             extent_of(contraction_.batch).text()},
            {"1", "1", "1"},
            "0",
            arguments.arguments()});
    kernels_.scratch.push_back(
        {panels_, DType::f32,
         fmt::format("{} * {} * {} * {} * {}", bundle_operand(extent_of(contraction_.batch)), panel_count(),
                     k_panel_columns, bundle_operand(steps), bundle_operand(others))});
  }

  std::string panel_count() const {
    return fmt::format("ceil_div({}, {})", extent_of(contraction_.columns).text(), k_panel_columns);
  }

  /// Which guards of the columns' factor hold for all columns or for none: of taps of a filter, some of which a phase
  /// of a transposed convolution does not meet. `of_batch`: those that no step decides either, or the others.
  std::vector<StageExpr> guards_of_steps(bool of_batch) const {
    const auto names_any = [](const std::set<std::string>& named, const StageAxes& axes) {
      return std::ranges::any_of(axes, [&](const StageAxis& axis) { return named.count(axis.name) > 0; });
    };
    std::vector<StageExpr> guards;
    for (const auto& guard : contraction_.second.guards) {
      const auto named = axes_named(guard);
      if (names_any(named, contraction_.columns)) continue;
      if (names_any(named, contraction_.inner) != of_batch) guards.push_back(guard);
    }
    return guards;
  }

  /// Where registers are short a step of a tile is some 20 instructions. With one of them in each turn of the loop the
  /// same product took 15.7 ms in one process and 18.2 in another, with four 14.4 to 16.2; a convolution with taps of
  /// 3 x 3 took 21.7 and 25.6 ms, and with three in each turn 16.8 and 17.6 (Zen 3).
  std::string product_loops(KernelScope& scope) const {
    constexpr int k_steps = 4;
    const bool short_registers = vector_registers(context_.device).per_float16 > 1;
    return loops_text(scope, contraction_.inner, short_registers ? k_steps : 1);
  }

  void write_products() {
    const auto& stage = contraction_.split.stage;
    KernelScope scope(context_.buffers, stage, context_.dialect, contract_locals());
    Fillings fillings;
    const auto stores = contract_vector_stores(scope, contraction_, out_);
    fillings.emplace_back("stores", stores.text);
    auto used = axes_in(rows_.address);
    const auto memory = rows_.copy ? std::string("copied") : context_.buffers[rows_.buffer].name;
    fillings.emplace_back("row_axes", join_lines(index_statements(scope, contraction_.rows, "m", used)));
    fillings.emplace_back(
        "row_start",
        fmt::format("{} + ({})", memory,
                    address_text(scope, rows_.address, joined_axes(contraction_.batch, contraction_.rows), true)));
    const auto without_step = condition_text(scope, guards_of_steps(false));
    const auto with_steps = condition_text(scope, guards_of_steps(true));
    const auto longest = scope.extent(contraction_.inner[0].extent);
    fillings.emplace_back(
        "without_step",
        without_step.empty() ? "" : fmt::format("if (!({})) {{\n  at += COLUMNS;\n  continue;\n}}", without_step));
    fillings.emplace_back("steps", with_steps.empty() ? longest : fmt::format("{} ? {} : 0", with_steps, longest));
    fillings.emplace_back("step", address_text(scope, rows_.address, contraction_.inner, false));
    used.insert(scope.used_axes().begin(), scope.used_axes().end());
    used.insert(stores.axes.begin(), stores.axes.end());
    fillings.emplace_back("batch_axes", batch_statements(scope, used));
    fillings.emplace_back("row_count", scope.extent(extent_of(contraction_.rows)));
    fillings.emplace_back("column_count", scope.extent(extent_of(contraction_.columns)));
    fillings.emplace_back("block", block_text(scope, "BLOCK_K"));
    fillings.emplace_back("longest", longest);
    fillings.emplace_back("step_floats", step_floats(scope));
    fillings.emplace_back("open_loops", product_loops(scope));
    ContractArguments arguments(context_.dialect);
    if (rows_.copy) arguments.add(DType::f32, false, "copied", copied_);
    const bool loaded = !rows_.copy && scope.loaded().count(rows_.buffer) == 0;
    if (loaded) arguments.add(DType::f32, false, memory, context_.buffers[rows_.buffer].argument);
    arguments.add(DType::f32, false, "panels", panels_);
    arguments.add_loaded(scope, context_.buffers, stage.buffer);
    arguments.add(out_.dtype, true, out_.name, out_.argument);
    arguments.add_integers(scope);
    const auto kernel = kernel_of_buffer(context_, stage.buffer);
    fillings.emplace_back("signature", arguments.signature(kernel));
    const bool bf16_by_hand = out_.dtype == DType::bf16;
    if (bf16_by_hand) kernels_.helpers.insert(KernelHelper::to_bf16);
    finish(scope, fill(contract_section("products"), fillings),
           {kernel,
            {fmt::format("ceil_div({}, TILE_ROWS * ROW_TILES)", extent_of(contraction_.rows).text()), panel_count(),
             extent_of(contraction_.batch).text()},
            {"1", "1", "1"},
            "0",
            arguments.arguments()});
  }

  const GroupContext& context_;
  const Contraction& contraction_;
  const FactorMemory& rows_;
  const KernelBuffer& out_;
  std::string copied_;
  std::string panels_;
  GroupKernels kernels_;
};

}  // namespace

GroupKernels contract_opencl(const GroupContext& context, const Contraction& contraction, const FactorMemory& rows) {
  return OpenClContraction(context, contraction, rows).write();
}

}  // namespace kw
