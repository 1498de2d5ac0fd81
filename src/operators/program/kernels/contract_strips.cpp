#include "operators/program/kernels/contract_strips.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/factor_memory.hpp"

namespace kw {
namespace {

/// Locals of the text, which no axis may be called.
constexpr const char* k_strip_locals =
    "shared_memory row_tile thread lane strips tiles_down first_row batch end apart block chunks blocks_across "
    "turns turns_each pass first_pass last_pass tiles columns_whole stores_whole first_column turn keep_rows "
    "first_step at eight of_lane m k n element parts "
    "copy_strip to first_n steps from i j step inside sum clear_sums ahead place_of_stored results item total";

std::vector<std::string> strip_locals() {
  std::istringstream words(k_strip_locals);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string strip_section(const char* name, const Fillings& fillings) {
  return fill_lines(kernel_text("program/strips.cu", name), fillings);
}

class StripText {
 public:
  StripText(const GroupContext& context, const Contraction& contraction, const StripContraction& strip, bool rounded,
            bool is_long)
      : context_(context),
        contraction_(contraction),
        strip_(strip),
        rounded_(rounded),
        is_long_(is_long),
        out_(context.buffers[contraction.split.stage.buffer]),
        second_(contraction.second.element->tensor.buffer),
        scope_(context.buffers, contraction.split.stage, context.dialect, strip_locals()) {
    scope_.divide_quickly(context.program);
  }

  GroupKernels write() {
    const auto kernel = kernel_of_buffer(context_, contraction_.split.stage.buffer);
    Fillings fillings = {{"qualifier", fill_lines(context_.dialect->kernel_qualifier,
                                                  {{"threads", "TILE_THREADS, RESIDENT_STRIP_BLOCKS"}})},
                         {"parts", rounded_ ? "1" : "2"},
                         {"row_count", count(contraction_.rows)},
                         {"column_count", count(contraction_.columns)},
                         {"tiles", tiles()},
                         {"steps", count(contraction_.inner)}};
    fillings.emplace_back("stores", stores());
    fill_rows(fillings);
    fill_columns(fillings);
    fillings.emplace_back("stores_whole",
                          out_.dtype == DType::f32
                              ? whole(strip_.stored, fmt::format("(unsigned long){} % 16 == 0", out_.name))
                              : "false");
    // What belongs to a batch is used by the texts before and after the loop.
    const auto batch = index_statements(scope_, contraction_.batch, "batch", used_axes());
    const auto of_batch = fmt::format("const int batch = (int)blockIdx.x / tiles_down % {};\n{}",
                                      count(contraction_.batch), join_lines(batch));
    fillings.emplace_back("batch", batch.empty() ? "" : of_batch);
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope_, context_.buffers, contraction_.split.stage.buffer);
    if (scope_.loaded().count(second_) == 0)
      arguments.add(DType::f32, false, context_.buffers[second_].name, context_.buffers[second_].argument);
    arguments.add(out_.dtype, true, out_.name, out_.argument);
    arguments.add_integers(scope_);
    fillings.emplace_back("signature", arguments.signature(kernel));
    GroupKernels kernels;
    kernels.source = with_short_lines(fill(kernel_text("program/strips.cu", "products"), fillings));
    kernels.launches.push_back({kernel, {grid()}, {"32 * STRIP_WARPS"}, shared_bytes(), arguments.arguments()});
    kernels.helpers = scope_.helpers();
    kernels.own_helpers = scope_.own_helpers();
    kernels.own_helpers.insert(rounded_ ? "contract_functions.cu/factors_rounded"
                                        : "contract_functions.cu/factors_split");
    kernels.own_helpers.insert("strips.cu/lane_strip");
    kernels.own_helpers.insert(rounded_ ? "strips.cu/multiply_strip_rounded" : "strips.cu/multiply_strip");
    return kernels;
  }

 private:
  std::string count(const StageAxes& axes) { return scope_.extent(extent_of(axes)); }

  std::string tiles() {
    const auto batches = count(contraction_.batch);
    return batches == "1" ? "tiles_down" : "tiles_down * " + batches;
  }

  std::vector<std::string> axes_of(const StageAxes& axes, const std::string& flat, const std::set<std::string>& used) {
    return index_statements(scope_, axes, flat, used);
  }

  std::set<std::string> used_axes() const {
    auto used = scope_.used_axes();
    used.merge(axes_in(strip_.columns));
    used.merge(axes_in(strip_.stored));
    return used;
  }

  void fill_rows(Fillings& fillings) {
    const auto& first = contraction_.first;
    fillings.emplace_back("row_element", guarded_text(scope_, first.element, first.guards));
    auto used = first.axes;
    for (const auto& guard : first.guards) used.merge(axes_named(guard));
    auto lines = axes_of(contraction_.rows, "m", used);
    for (auto& line : axes_of(contraction_.inner, "k", used)) lines.push_back(std::move(line));
    fillings.emplace_back("row_axes", join_lines(lines));
    fillings.emplace_back("keep_row", strip_section(rounded_ ? "keep_rounded_row" : "keep_row", {}));
    fillings.emplace_back("multiply_strip", rounded_ ? fmt::format("multiply_rounded_strip<{}>", is_long_)
                                                     : std::string("multiply_strip"));
  }

  void fill_columns(Fillings& fillings) {
    const auto around = joined_axes(contraction_.batch, contraction_.columns);
    fillings.emplace_back("memory", context_.buffers[second_].name);
    fillings.emplace_back("start", address_text(scope_, strip_.columns, around, true));
    fillings.emplace_back("column_axes", join_lines(axes_of(contraction_.columns, "n", axes_in(strip_.columns))));
    fillings.emplace_back("step_stride",
                          scope_.extent(strip_.columns.coefficients.at(contraction_.inner.front().name)));
    fillings.emplace_back("columns_whole", whole(strip_.columns));
  }

  /// The condition for four neighbouring columns from a multiple of four on to be neighbours in memory, at a multiple
  /// of 16 bytes.
  std::string whole(const AffineIndex& address, const std::string& more = "") {
    std::vector<std::string> conditions;
    const auto add = [&](const Extent& extent) {
      if (extent.is_constant() && extent.value() % 4 == 0) return;
      const auto condition = scope_.extent(extent) + " % 4 == 0";
      if (std::ranges::count(conditions, condition) == 0) conditions.push_back(condition);
    };
    add(extent_of(strip_.run));
    add(address.constant);
    for (const auto& [axis, coefficient] : address.coefficients) {
      const auto is_it = [&name = axis](const StageAxis& one) { return one.name == name; };
      if (std::ranges::none_of(strip_.run, is_it)) add(coefficient);
    }
    if (!more.empty()) conditions.push_back(more);
    return conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " && "));
  }

  std::string stores() {
    const auto of_rows = address_text(scope_, strip_.stored, contraction_.rows, false);
    const auto of_columns =
        address_text(scope_, strip_.stored, joined_axes(contraction_.batch, contraction_.columns), true);
    const auto place = of_rows == "0" ? std::string("place_of_stored") : "place_of_stored + " + of_rows;
    const auto stored = stored_sum(scope_, contraction_, out_, "total", place);
    const auto of_values = scope_.used_axes();
    scope_.forget_values();
    auto all = of_values;
    all.merge(axes_in(strip_.stored));
    const auto columns = [&](const std::set<std::string>& used) {
      return join_lines(index_statements(scope_, contraction_.columns, "n", used));
    };
    const auto value_axes = columns(of_values);
    return strip_section("stores",
                         {{"row_count", count(contraction_.rows)},
                          {"column_count", count(contraction_.columns)},
                          {"place_axes", columns(axes_in(strip_.stored))},
                          {"stored_place", of_columns},
                          {"row_axes", join_lines(index_statements(scope_, contraction_.rows, "m", all))},
                          {"value_axes", value_axes.empty() ? "" : "const int n = first_n + item;\n" + value_axes},
                          {"column_axes", columns(all)},
                          {"values", stored.values},
                          {"value", stored.value},
                          {"out", out_.name},
                          {"place", place},
                          {"store", stored.store}});
  }

  /// Blocks that go through the strips: as many as a device has work for, several times over where it holds few.
  std::string grid() const {
    constexpr int k_unit_warps = 16;
    const auto around = fmt::format("ceil_div({}, TILE_M) * {}", extent_of(contraction_.rows).text(),
                                    bundle_operand(extent_of(contraction_.batch)));
    return fmt::format(
        "min(ceil_div({}, 32 * STRIP_WARPS), max(1, ceil_div(compute_units * {} / STRIP_WARPS, {}))) * {}",
        extent_of(contraction_.columns).text(), k_unit_warps, around, around);
  }

  /// The rows, as one number or two parts each, and the strips.
  std::string shared_bytes() const {
    return fmt::format("4 * TILE_K * ({} * TILE_M + 32 * STRIP_WARPS * STRIP_STAGES)", rounded_ ? 1 : 2);
  }

  const GroupContext& context_;
  const Contraction& contraction_;
  const StripContraction& strip_;
  bool rounded_, is_long_;
  const KernelBuffer& out_;
  std::size_t second_;  ///< buffer of the second factor
  KernelScope scope_;
};

}  // namespace

std::optional<StripContraction> strip_contraction(const Contraction& contraction) {
  const auto& split = contraction.split;
  const auto& element = contraction.second.element;
  const bool usable = element->op == StageOp::load && element->tensor.type.dtype == ElementType::float32 &&
                      contraction.second.guards.empty() && split.phases.empty() && !split.stored &&
                      contraction.inner.size() == 1 && !contraction.columns.empty();
  if (!usable) return std::nullopt;
  auto columns = load_address(*element, split.phases);
  auto stored = stored_address(contraction);
  if (!columns || !stored || !columns->terms.empty() || !stored->terms.empty() ||
      columns->coefficients.count(contraction.inner.front().name) == 0)
    return std::nullopt;
  StageAxes run;
  for (std::size_t first = contraction.columns.size(); first-- > 0;) {
    const StageAxes longer(contraction.columns.begin() + static_cast<std::ptrdiff_t>(first), contraction.columns.end());
    if (!is_one_run(*columns, longer) || !is_one_run(*stored, longer)) break;
    run = longer;
  }
  if (run.empty()) return std::nullopt;
  return StripContraction{std::move(run), *std::move(columns), *std::move(stored)};
}

GroupKernels contract_by_strips(const GroupContext& context, const Contraction& contraction) {
  const auto strip = strip_contraction(contraction);
  KW_CHECK(strip.has_value(), "a contraction without strips is multiplied by them");
  const auto size = contract_size(contraction);
  return StripText(context, contraction, *strip, size.rounded, is_long_sum(size)).write();
}

}  // namespace kw
