#include "operators/program/kernels/contract_cuda.hpp"

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

constexpr const char* k_multiply_tile = "contract.cu/multiply_tile";

std::string_view contract_gpu_section(const char* name) {
  return kernel_text("program/contract.cu", name);
}

/// Locals of the texts, which no axis may be called.
const std::vector<std::string>& contract_gpu_locals() {
  static const std::vector<std::string> k_names = {"row_tiles",
                                                   "column_tiles",
                                                   "thread",
                                                   "thread_row",
                                                   "thread_column",
                                                   "tiles_across",
                                                   "tiles_down",
                                                   "first_row",
                                                   "first_column",
                                                   "batch",
                                                   "part",
                                                   "begin",
                                                   "end",
                                                   "sum",
                                                   "next_rows",
                                                   "next_columns",
                                                   "stage",
                                                   "next",
                                                   "i",
                                                   "j",
                                                   "m",
                                                   "n",
                                                   "k",
                                                   "at",
                                                   "element",
                                                   "from",
                                                   "four",
                                                   "part_steps",
                                                   "rows_whole",
                                                   "columns_whole",
                                                   "id",
                                                   "parts",
                                                   "step"};
  return k_names;
}

/// How a factor is called in the texts.
struct FactorNames {
  const char *index, *first, *tile, *registers, *tiles, *stride, *whole;
};
constexpr FactorNames k_row_names = {"m", "first_row", "TILE_M", "next_rows", "row_tiles", "ROW_STRIDE", "rows_whole"};
constexpr FactorNames k_column_names = {
    "n", "first_column", "TILE_N", "next_columns", "column_tiles", "COLUMN_STRIDE", "columns_whole"};

/// How a block's threads load a tile of a factor.
struct FactorLoad {
  std::string load, keep;
  std::string whole;  ///< the condition for four neighbours to be one access; empty where they never are
};

class CudaContraction {
 public:
  CudaContraction(const GroupContext& context, const Contraction& contraction)
      : context_(context),
        contraction_(contraction),
        out_(context.buffers[contraction.split.stage.buffer]),
        inner_(contraction.split.stage.inner),
        splits_(contract_splits(contract_size(contraction), context.device)) {}

  GroupKernels write() {
    write_tiles();
    if (splits_) write_sum();
    kernels_.own_helpers.insert(k_multiply_tile);
    kernels_.tunables =
        contract_simt_tunables(contract_sizes(context_.program, ColumnChoice::contiguous), context_.device);
    kernels_.constraints = contract_simt_constraints();
    return std::move(kernels_);
  }

 private:
  std::string parts_name() const { return "parts_of_" + out_.name; }

  void finish(const KernelScope& scope, const std::string& source, Launch launch) {
    kernels_.source += (kernels_.source.empty() ? "" : "\n") + with_short_lines(source);
    kernels_.launches.push_back(std::move(launch));
    kernels_.helpers.insert(scope.helpers().begin(), scope.helpers().end());
    kernels_.own_helpers.insert(scope.own_helpers().begin(), scope.own_helpers().end());
  }

  /// Whether neighbouring steps, rather than neighbours along `axes`, are neighbours in memory. Where both are, as in
  /// an image, the threads of a tile keep their pixel, and compute its place once.
  bool steps_are_neighbours(const ContractionFactor& factor, const StageAxes& axes) const {
    bool steps = false;
    bool others = false;
    for_each_load(factor.element, [&](const StageNode& load) {
      if (load.operands.empty()) return;
      const auto last = affine_index(load.operands.back(), contraction_.split.phases);
      if (!last) return;
      steps = steps || last->coefficients.count(inner_.back().name) > 0;
      others = others || last->coefficients.count(axes.back().name) > 0;
    });
    return steps && !others;
  }

  /// The condition for runs of four elements to be whole and to begin at multiples of 16 bytes; empty where neighbours
  /// are none, or the factor is more than a tensor of floats.
  std::string whole_text(KernelScope& scope, const ContractionFactor& factor, const StageAxes& axes, bool steps) const {
    const auto& fast = steps ? inner_ : axes;
    const auto& element = factor.element;
    const bool direct = element->op == StageOp::load && factor.guards.empty() && fast.size() == 1 &&
                        context_.buffers[element->tensor.buffer].dtype == DType::f32;
    if (!direct) return "";
    const auto memory = factor_memory(contraction_, factor, context_.buffers);
    if (!memory || memory->copy || !memory->address.terms.empty()) return "";
    std::vector<std::string> conditions;
    const auto add = [&](const Extent& extent) {
      const bool known = extent.is_constant() && extent.value() % 4 == 0;
      if (!known) conditions.push_back(scope.extent(extent) + " % 4 == 0");
    };
    add(memory->address.constant);
    for (const auto& [axis, coefficient] : memory->address.coefficients) {
      const bool one = coefficient.is_constant() && coefficient.value() == 1;
      if (axis == fast[0].name && !one) return "";
      if (axis != fast[0].name) add(coefficient);
    }
    if (memory->address.coefficients.count(fast[0].name) == 0) return "";
    return conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " && "));
  }

  FactorLoad load_of(KernelScope& scope, const ContractionFactor& factor, const StageAxes& axes,
                     const FactorNames& names) {
    const bool steps = steps_are_neighbours(factor, axes);
    FactorLoad load;
    load.whole = whole_text(scope, factor, axes, steps);
    const std::string tile = names.tile;
    const auto place = steps ? std::string("at / TILE_K") : "at % " + tile;
    const auto step = steps ? std::string("at % TILE_K") : "at / " + tile;
    Fillings fillings = {{"tile", tile},
                         {"index", names.index},
                         {"first", names.first},
                         {"place", place},
                         {"step", step},
                         {"count", scope.extent(extent_of(axes))},
                         {"registers", names.registers},
                         {"tiles", names.tiles},
                         {"stride", names.stride}};
    if (load.whole.empty()) {
      const auto guard = condition_text(scope, factor.guards);
      const auto element = "element = " + without_parentheses(scope.text(factor.element)) + ";";
      std::set<std::string> used = factor.axes;
      for (const auto& one : factor.guards) used.merge(axes_named(one));
      fillings.emplace_back("axes", axes_text(scope, axes, names.index, used));
      fillings.emplace_back("element",
                            broken_statement(guard.empty() ? element : fmt::format("if ({}) {}", guard, element), 96));
      load.load = fill_lines(contract_gpu_section("load"), fillings);
      load.keep = fill_lines(contract_gpu_section("keep"), fillings);
      return load;
    }
    const auto memory = *factor_memory(contraction_, factor, context_.buffers);
    const auto& buffer = context_.buffers[memory.buffer];
    loaded_.insert(memory.buffer);
    fillings.emplace_back("axes", axes_text(scope, axes, names.index, axes_in(memory.address)));
    fillings.emplace_back("memory", buffer.name);
    fillings.emplace_back("pointer", "float*");
    fillings.emplace_back(
        "address", address_text(scope, memory.address, joined_axes(contraction_.split.stage.axes, inner_), true));
    fillings.emplace_back("aligned", names.whole);
    fillings.emplace_back("further_index", steps ? "0" : "3");
    fillings.emplace_back("further_step", steps ? "3" : "0");
    fillings.emplace_back("one_index", steps ? "0" : "j");
    fillings.emplace_back("one_step", steps ? "j" : "0");
    load.load = fill_lines(contract_gpu_section("load_four"), fillings);
    load.keep = fill_lines(contract_gpu_section(steps ? "keep_four_steps" : "keep_four_rows"), fillings);
    return load;
  }

  /// The indices of an element of a tile.
  std::string axes_text(KernelScope& scope, const StageAxes& axes, const char* index,
                        const std::set<std::string>& used) const {
    auto statements = index_statements(scope, axes, index, used);
    for (auto& one : index_statements(scope, inner_, "k", used)) statements.push_back(std::move(one));
    return join_lines(statements);
  }

  std::string batch_text(KernelScope& scope) const {
    const auto batches = scope.extent(extent_of(contraction_.batch));
    if (batches == "1" && !splits_) return "";
    const std::string tile = "(int)blockIdx.x / (tiles_across * tiles_down)";
    if (!splits_) return fmt::format("const int batch = {};", tile);
    if (batches == "1") return fmt::format("const int part = {};", tile);
    return fmt::format("const int batch = {0} % {1};\nconst int part = {0} / {1};", tile, batches);
  }

  /// Which product of the batch in which part.
  std::string part_and_batch(KernelScope& scope) const {
    const auto batches = scope.extent(extent_of(contraction_.batch));
    return batches == "1" ? "(long)part" : fmt::format("((long)part * {} + batch)", batches);
  }

  std::string steps_text(KernelScope& scope) const {
    const auto steps = scope.extent(extent_of(inner_));
    if (!splits_) return fmt::format("const int begin = 0, end = {};", steps);
    return fmt::format(
        "const int part_steps = ({0} + SPLIT_K * TILE_K - 1) / (SPLIT_K * TILE_K) * TILE_K;\n"
        "const int begin = part * part_steps, end = min(begin + part_steps, {0});",
        steps);
  }

  void fill_tile_store(KernelScope& scope, Fillings& fillings) {
    std::set<std::string> used;
    if (splits_) {
      fillings.emplace_back("stored_guard", "");
      fillings.emplace_back("values", "");
      fillings.emplace_back("store", fmt::format("parts[({} * {} + m) * {} + n] = sum[i][j];", part_and_batch(scope),
                                                 scope.extent(extent_of(contraction_.rows)),
                                                 scope.extent(extent_of(contraction_.columns))));
    } else {
      const auto stored = stored_sum(scope, contraction_, out_, "sum[i][j]");
      fillings.emplace_back("stored_guard",
                            stored.guard.empty() ? "" : fmt::format("if (!({})) continue;", stored.guard));
      fillings.emplace_back("values", stored.values);
      fillings.emplace_back("store", stored.store);
      used = scope.used_axes();
    }
    fillings.emplace_back("stored_row_axes", join_lines(index_statements(scope, contraction_.rows, "m", used)));
    fillings.emplace_back("stored_column_axes", join_lines(index_statements(scope, contraction_.columns, "n", used)));
  }

  void write_tiles() {
    const auto& stage = contraction_.split.stage;
    KernelScope scope(context_.buffers, stage, context_.dialect, contract_gpu_locals());
    Fillings fillings = {
        {"parts", splits_ ? ", and one of SPLIT_K parts of the sum" : ""},
        {"qualifier", fill_lines(context_.dialect->kernel_qualifier, {{"threads", "TILE_THREADS, 1"}})}};
    fill_tile_store(scope, fillings);
    const auto rows = load_of(scope, contraction_.first, contraction_.rows, k_row_names);
    const auto columns = load_of(scope, contraction_.second, contraction_.columns, k_column_names);
    std::vector<std::string> whole;
    if (!rows.whole.empty()) whole.push_back(fmt::format("const bool rows_whole = {};", rows.whole));
    if (!columns.whole.empty()) whole.push_back(fmt::format("const bool columns_whole = {};", columns.whole));
    fillings.emplace_back("load_rows", rows.load);
    fillings.emplace_back("keep_rows", rows.keep);
    fillings.emplace_back("load_columns", columns.load);
    fillings.emplace_back("keep_columns", columns.keep);
    fillings.emplace_back("alignment", join_lines(whole));
    fillings.emplace_back("batch", batch_text(scope));
    fillings.emplace_back("steps", steps_text(scope));
    auto used = scope.used_axes();
    for (const auto* factor : {&contraction_.first, &contraction_.second}) {
      used.insert(factor->axes.begin(), factor->axes.end());
    }
    fillings.emplace_back("batch_axes", join_lines(index_statements(scope, contraction_.batch, "batch", used)));
    fillings.emplace_back("row_count", scope.extent(extent_of(contraction_.rows)));
    fillings.emplace_back("column_count", scope.extent(extent_of(contraction_.columns)));
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope, context_.buffers, stage.buffer);
    for (const auto buffer : loaded_) {
      const auto& held = context_.buffers[buffer];
      if (scope.loaded().count(buffer) == 0) arguments.add(held.dtype, false, held.name, held.argument);
    }
    if (splits_) {
      arguments.add(DType::f32, true, "parts", parts_name());
    } else {
      arguments.add(out_.dtype, true, out_.name, out_.argument);
    }
    arguments.add_integers(scope);
    const auto kernel = splits_ ? "multiply_" + out_.name : kernel_of_buffer(context_, stage.buffer);
    fillings.emplace_back("signature", arguments.signature(kernel));
    finish(scope, fill(contract_gpu_section("products"), fillings),
           {kernel,
            {fmt::format("ceil_div({}, TILE_M) * ceil_div({}, TILE_N) * {}{}", extent_of(contraction_.rows).text(),
                         extent_of(contraction_.columns).text(), bundle_operand(extent_of(contraction_.batch)),
                         splits_ ? " * SPLIT_K" : "")},
            {"(TILE_M / THREAD_M) * (TILE_N / THREAD_N)"},
            "0",
            arguments.arguments()});
  }

  void write_sum() {
    const auto& stage = contraction_.split.stage;
    KernelScope scope(context_.buffers, stage, context_.dialect, contract_gpu_locals());
    const auto stored = stored_sum(scope, contraction_, out_, "sum");
    const auto all = joined_axes(joined_axes(contraction_.batch, contraction_.rows), contraction_.columns);
    const auto count = scope.element_count(all);
    const auto rows = scope.extent(extent_of(contraction_.rows));
    const auto columns = scope.extent(extent_of(contraction_.columns));
    const auto used = scope.used_axes();
    auto axes = index_statements(scope, contraction_.batch, "batch", used);
    const bool batched = !axes.empty();
    for (auto& one : index_statements(scope, contraction_.rows, "m", used)) axes.push_back(std::move(one));
    for (auto& one : index_statements(scope, contraction_.columns, "n", used)) axes.push_back(std::move(one));
    ContractArguments arguments(context_.dialect);
    arguments.add(DType::f32, false, "parts", parts_name());
    arguments.add_loaded(scope, context_.buffers, stage.buffer);
    arguments.add(out_.dtype, true, out_.name, out_.argument);
    arguments.add_integers(scope);
    constexpr int k_threads = 256;
    const auto kernel = kernel_of_buffer(context_, stage.buffer);
    finish(
        scope,
        fill(contract_gpu_section("sum_parts"),
             {{"name", out_.name},
              {"qualifier", fill_lines(context_.dialect->kernel_qualifier, {{"threads", std::to_string(k_threads)}})},
              {"signature", arguments.signature(kernel)},
              {"global_index", context_.dialect->global_index},
              {"count", "(" + count + ")"},
              {"column_count", columns},
              {"row_count", rows},
              {"batch", batched ? fmt::format("const int batch = (int)(id / ((long){} * {}));", rows, columns) : ""},
              {"axes", join_lines(axes)},
              {"stored_guard", stored.guard.empty() ? "" : fmt::format("if (!({})) return;", stored.guard)},
              {"values", stored.values},
              {"store", stored.store}}),
        {kernel,
         {fmt::format("ceil_div({}, {})", extent_of(all).text(), k_threads)},
         {std::to_string(k_threads)},
         "0",
         arguments.arguments()});
    kernels_.scratch.push_back({parts_name(), DType::f32, fmt::format("SPLIT_K * {}", bundle_operand(extent_of(all)))});
  }

  const GroupContext& context_;
  const Contraction& contraction_;
  const KernelBuffer& out_;
  StageAxes inner_;
  bool splits_;
  std::set<std::size_t> loaded_;  ///< that no text of the scope has loaded
  GroupKernels kernels_;
};

}  // namespace

GroupKernels contract_cuda(const GroupContext& context, const Contraction& contraction) {
  return CudaContraction(context, contraction).write();
}

}  // namespace kw
