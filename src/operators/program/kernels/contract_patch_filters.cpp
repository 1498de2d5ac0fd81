// The launch before a product of a filter and patches, which packs the filter as the loop over patches reads it.
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_patch_text.hpp"

namespace kw {
namespace {

constexpr const char* k_store_small =
    "to[TILE_M * Places::unit] = __float2half_rn((number - __half2float(large)) * SMALL_SCALE);";

std::string_view filters_section(const char* name) {
  return kernel_text("program/patch_filters.cu", name);
}

}  // namespace

/// What an element of the filter is called for: its own axes, from the place in the packed filter.
std::vector<std::string> PatchText::packed_axes(KernelScope& scope, const std::set<std::string>& used) const {
  auto lines = index_statements(scope, contraction_.batch, "batch", used);
  for (auto& line : index_statements(scope, contraction_.rows, "m", used)) lines.push_back(std::move(line));
  for (auto& line : others_lines(scope, used, false)) lines.push_back(std::move(line));
  if (used.count(patch_.depth.name) > 0)
    lines.push_back(fmt::format("const int {} = depth_at;", scope.axis(patch_.depth.name)));
  const auto add_tap = [&](const PatchAxis& axis, const std::string& at, const std::string& last) {
    if (axis.tap.empty() || used.count(axis.tap) == 0) return;
    const auto from = axis.dilation < 0 ? last + " - " : "";
    lines.push_back(fmt::format("const int {} = {}{};", scope.axis(axis.tap), from, at));
  };
  std::string across = std::to_string(taps_across());
  if (phases_) {
    // Of a phase without taps no element is read.
    const auto own = [&](const PhaseTaps& taps) { return phase_taps_text(taps, phase_name(scope, taps), 1); };
    lines.push_back(fmt::format("const int own_lines = {};", own(phases_->line)));
    lines.push_back(fmt::format("const int own_across = {};", own(phases_->across)));
    across = "own_across";
  }
  const auto last_of = [&](const PatchAxis& axis, const char* own) {
    return phases_ ? fmt::format("{} - 1", own) : std::to_string(axis.taps - 1);
  };
  if (patch_.line) add_tap(*patch_.line, "tap / " + across, last_of(*patch_.line, "own_lines"));
  if (patch_.across) add_tap(*patch_.across, "tap % " + across, last_of(*patch_.across, "own_across"));
  return lines;
}

GroupKernels PatchText::packing() const {
  const auto& stage = contraction_.split.stage;
  const auto& out = context_.buffers[stage.buffer];
  auto names = locals();
  names.insert(names.end(), {"id", "rest", "m", "batch", "element", "parts", "tiles_down", "thread", "element_at",
                             "of_warp", "exponents", "first", "number", "large", "place"});
  KernelScope scope(context_.buffers, stage, context_.dialect, names);
  const auto guard = condition_text(scope, contraction_.first.guards);
  const auto element = without_parentheses(scope.text(contraction_.first.element));
  auto used = scope.used_axes();
  if (phases_) used.insert({phases_->line.phase, phases_->across.phase});
  const bool batched = !index_statements(scope, contraction_.batch, "batch", used).empty();
  const auto axes = packed_axes(scope, used);
  const std::string row_tile = numbers_.halves ? "((int)blockIdx.x / TILE_M)" : "rest";
  Fillings fillings = {{"name", out.name},
                       {"patch", place_type()},
                       {"global_index", context_.dialect->global_index},
                       {"row_count", scope.extent(extent_of(contraction_.rows))},
                       {"patches", patches(scope, false)},
                       {"filter_count", scope.extent(extent_of(contraction_.batch))},
                       {"chunk", chunk(scope, false)},
                       {"axes", join_lines(axes)},
                       {"batch", batched ? fmt::format("const int batch = (int)({} / tiles_down);", row_tile) : ""},
                       {"depth", scope.extent(patch_.depth.extent)},
                       {"taps", phases_ ? "own_lines * own_across" : std::to_string(patch_.taps())},
                       {"guard", guard.empty() ? "" : fmt::format(" && ({})", guard)},
                       {"element", element},
                       {"parts", std::to_string(parts())}};
  if (!numbers_.halves)
    fillings.emplace_back("store", fill_lines(filters_section(numbers_.rounded ? "store_rounded" : "store_split")));
  fillings.emplace_back("store_small", numbers_.rounded ? "" : k_store_small);
  ContractArguments arguments(context_.dialect);
  arguments.add_loaded(scope, context_.buffers, stage.buffer);
  arguments.add(numbers_.halves ? DType::f16 : DType::f32, true, "filters", filters());
  if (numbers_.halves) arguments.add(DType::i32, true, "exponents", filter_exponents());
  arguments.add_integers(scope);
  auto kernels = packing_launch(fillings, arguments);
  kernels.helpers = scope.helpers();
  kernels.own_helpers = scope.own_helpers();
  return kernels;
}

/// Without the helpers that its element needs.
GroupKernels PatchText::packing_launch(const Fillings& given, const ContractArguments& arguments) const {
  const int threads = numbers_.halves ? 128 : 256;
  const auto kernel = "pack_" + out_;
  Fillings fillings = given;
  fillings.emplace_back("qualifier",
                        fill_lines(context_.dialect->kernel_qualifier, {{"threads", std::to_string(threads)}}));
  fillings.emplace_back("signature", arguments.signature(kernel));
  GroupKernels kernels;
  kernels.source =
      with_short_lines(fill(filters_section(numbers_.halves ? "pack_half_filters" : "pack_filters"), fillings));
  const auto& batch = extent_of(contraction_.batch);
  const auto& rows = extent_of(contraction_.rows);
  const auto count = packed_count_text(size(), batch, rows, extent_of(patch_.others), patch_.depth.extent);
  const auto packed_rows = fmt::format("{} * ceil_div({}, TILE_M) * TILE_M", bundle_operand(batch), rows.text());
  const auto blocks = numbers_.halves ? packed_rows : fmt::format("ceil_div({}, {})", count, threads);
  kernels.launches.push_back({kernel, {blocks}, {std::to_string(threads)}, "0", arguments.arguments()});
  kernels.scratch.push_back(
      {filters(), numbers_.halves ? DType::f16 : DType::f32, numbers_.rounded ? count : "2 * " + count});
  if (numbers_.halves) kernels.scratch.push_back({filter_exponents(), DType::i32, packed_rows});
  return kernels;
}

void PatchText::add_filters(ContractArguments& arguments) const {
  arguments.add(DType::f32, false, "filters", filters());
  if (numbers_.halves) arguments.add(DType::i32, false, "filter_exponents", filter_exponents());
}

}  // namespace kw
