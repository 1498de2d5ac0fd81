#include "operators/program/kernels/contract_patch_text.hpp"

#include <iterator>
#include <sstream>

#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

/// Names of the texts, which no axis may be called.
constexpr const char* k_patch_locals =
    "Places place_from top left patches patch other depth first_depth next_pixels load_patch keep_patch "
    "slices slices_from tiles_place slices_place copy_slice place_of_unit turn slice filter pixels unit units across "
    "line outer "
    "tile first_place first_line tiles_wide tiles_high inside patch_inside filters depth_at tap to "
    "places part_sum inside_of_stored own_lines place_of_step own_others own_across own_steps own_slices "
    "across_part first_step steps leading last filter_patch waiting first_batch sums_place even odd "
    "computed first_waiting waiting_floats first_pixel pixels_at_once sums_of_stored line_of_stored across_of_stored "
    "phase_of_stored place_of_stored of_phase "
    "place is_inside result_of results pixel sums_line loop_floats sum_floats kept item result "
    "next_exponent exponent largest scale small_sum power near bits fewer largest_of_warp "
    "filter_exponents row stored_places column_of_stored pixels_of_stored by_twos of_warp totals "
    "of_lane of_thread kept_line sums_column at";

std::string_view patch_section(const char* name) {
  return kernel_text("program/patches.cu", name);
}

}  // namespace

PatchText::PatchText(const GroupContext& context, const Contraction& contraction, const PatchContraction& patch,
                     std::optional<PatchPhases> phases, std::int64_t joined, PatchNumbers numbers, std::string out)
    : context_(context),
      contraction_(contraction),
      patch_(patch),
      phases_(std::move(phases)),
      joined_(joined),
      numbers_(numbers),
      out_(std::move(out)) {}

const std::vector<std::string>& PatchText::locals() {
  static const std::vector<std::string> k_names = [] {
    std::istringstream words(k_patch_locals);
    return std::vector<std::string>{std::istream_iterator<std::string>(words), {}};
  }();
  return k_names;
}

Stage PatchText::scope_stage() const {
  Stage stage = contraction_.split.stage;
  for (const auto* axis : {patch_.line ? &*patch_.line : nullptr, patch_.across ? &*patch_.across : nullptr}) {
    if (axis != nullptr) stage.axes.push_back({axis->index, axis->extent});
  }
  return stage;
}

std::string PatchText::place_type() const {
  const PatchAxis none;
  const auto& line = patch_.line ? *patch_.line : none;
  const auto& across = patch_.across ? *patch_.across : none;
  return fmt::format("Patch<{}, {}, {}, {}, {}, {}, {}, {}, {}>", patch_.line.has_value(),
                     numbers_.wide ? "PATCH_WIDE" : "false", line.step, line.span(), across.step, across.span(),
                     patch_.taps(), parts(), patch_unit(size()));
}

std::vector<std::string> PatchText::own_helpers() const {
  std::vector<std::string> names = {"contract_functions.cu/block_tile", "contract_functions.cu/group_tile",
                                    "patches.cu/patch_tile"};
  const std::string how = numbers_.rounded ? "rounded" : "split";
  if (numbers_.halves) {
    names.insert(names.end(), {"patches.cu/patch_tile_of_halves", "contract_scaled_halves.cu/numbers"});
  } else {
    names.insert(names.end(), {"contract_functions.cu/factors_" + how, "patches.cu/patch_" + how});
  }
  if (phases_ || joined_ > 1) names.emplace_back("patches.cu/patch_tile_of_phases");
  return names;
}

std::string PatchText::resident_blocks() const {
  return fmt::format("PATCH_BLOCKS({}, ({}::load_registers))", patch_copies(size(), numbers_.rounded, numbers_.is_long),
                     place_type());
}

std::string PatchText::width(KernelScope& scope) const {
  return scope.extent(patch_.across ? patch_.tile.back().extent : extent_of(patch_.tile));
}

std::string PatchText::height(KernelScope& scope) const {
  return patch_.line ? scope.extent(patch_.tile[0].extent) : "1";
}

PatchSize PatchText::size() const {
  auto size = patch_size(contraction_, patch_);
  if (joined_ == 1) forget_joined(size);
  size.halves = numbers_.halves;
  size.wide = numbers_.wide;
  return size;
}

/// What blocks have one index of each.
StageAxes PatchText::block_batch() const {
  return {contraction_.batch.begin(), contraction_.batch.end() - (joined_ > 1 ? 1 : 0)};
}

std::string PatchText::grid() const {
  const auto wide = (patch_.across ? patch_.tile.back().extent : extent_of(patch_.tile)).text();
  const auto high =
      patch_.line ? fmt::format(" * ceil_div({}, {})", patch_.tile[0].extent.text(), tile_lines_text(size())) : "";
  return fmt::format("ceil_div({}, TILE_M) * ceil_div({}, {}){} * {} * {}", extent_of(contraction_.rows).text(), wide,
                     tile_width_text(size()), high, bundle_operand(extent_of(patch_.outer)),
                     bundle_operand(extent_of(block_batch())));
}

std::string PatchText::shared_bytes() const {
  return patch_bytes_text(size(), numbers_.rounded);
}

std::string PatchText::phase_name(KernelScope& scope, const PhaseTaps& taps) const {
  return taps.phase.empty() ? "0" : scope.axis(taps.phase);
}

/// How many indices there are of the axes that a patch has one of; those of the phase alone where they are its `own`.
std::string PatchText::others(KernelScope& scope, bool own) const {
  return own && phases_ && !phases_->other.phase.empty() ? "own_others" : scope.extent(extent_of(patch_.others));
}

std::string PatchText::patches(KernelScope& scope, bool own) const {
  const auto chunks = fmt::format("({} + PATCH_K - 1) / PATCH_K", scope.extent(patch_.depth.extent));
  const auto count = others(scope, own);
  return count == "1" ? chunks : fmt::format("{} * {}", chunks, count);
}

std::string PatchText::chunk(KernelScope& scope, bool own) const {
  const auto count = others(scope, own);
  return count == "1" ? "patch" : fmt::format("patch / {}", count);
}

/// Indices of the axes that a patch has one of.
std::vector<std::string> PatchText::others_lines(KernelScope& scope, const std::set<std::string>& used,
                                                 bool own) const {
  const auto count = others(scope, own);
  auto lines = index_statements(scope, patch_.others, "other", used);
  if (!lines.empty()) lines.insert(lines.begin(), fmt::format("const int other = patch % {};", count));
  return lines;
}

/// In the tensor, of the tile's first output and the tap that is read before all others.
std::string PatchText::first_index(KernelScope& scope, const PatchAxis& axis, const std::string& first) const {
  auto text = axis.step == 1 ? first : fmt::format("{} * {}", first, axis.step);
  const auto rest = address_text(scope, axis.rest, contraction_.batch, true);
  if (rest != "0") text = fmt::format("(int)({} + {})", text, rest);
  if (axis.dilation < 0) text += fmt::format(" - {}", axis.span());
  return text;
}

std::string PatchText::places_text(KernelScope& scope) const {
  const auto bounded = [&](const PatchAxis& axis) {
    const auto name = scope.axis(axis.index);
    return fmt::format("{0} >= 0 && {0} < {1}", name, scope.extent(axis.extent));
  };
  Fillings fillings = {{"depth_stride", scope.extent(patch_.depth_stride)}};
  const auto across = patch_.across ? scope.axis(patch_.across->index) : "pixel";
  auto inside = patch_.across ? bounded(*patch_.across) : fmt::format("pixel < {}", width(scope));
  auto place = across;
  if (patch_.line) {
    inside = bounded(*patch_.line) + " && " + inside;
    place = fmt::format("{} * {} + {}", scope.axis(patch_.line->index), scope.extent(patch_.across->extent), across);
  }
  const auto guards = condition_text(scope, patch_.pixel_guards);
  if (!guards.empty()) inside += " && " + guards;
  fillings.emplace_back("line_statement",
                        patch_.line
                            ? fmt::format("const int {} = {} + at % Places::group_places / Places::line_places;",
                                          scope.axis(patch_.line->index), "top")
                            : "");
  fillings.emplace_back("across_index", across);
  fillings.emplace_back(
      "top", patch_.line ? fmt::format("const int top = {};", first_index(scope, *patch_.line, "first_line")) : "");
  fillings.emplace_back("first_across",
                        patch_.across ? first_index(scope, *patch_.across, "first_place") : "first_place");
  fillings.emplace_back("inside", inside);
  fillings.emplace_back("place", place);
  return fill_lines(patch_section("patch_places"), fillings);
}

void PatchText::fill_load(KernelScope& scope, Fillings& fillings) const {
  constexpr std::int64_t k_largest_chunk = 32;
  const auto around = joined_axes(joined_axes(contraction_.batch, patch_.outer), patch_.others);
  const auto start = address_text(scope, patch_.start, around, true);
  const auto step = fmt::format("(long)first_depth * {}", scope.extent(patch_.depth_stride));
  const auto guard = condition_text(scope, patch_.patch_guards);
  std::set<std::string> used = axes_in(patch_.start);
  for (const auto& one : patch_.patch_guards) used.merge(axes_named(one));
  const auto& depth = patch_.depth.extent;
  const bool whole = depth.is_constant() && depth.value() % k_largest_chunk == 0;
  std::string loaded = "place_from[i] >= 0";
  if (!guard.empty()) loaded += " && patch_inside";
  if (!whole) loaded += fmt::format(" && ({0} % PATCH_K == 0 || depth + j < {0})", scope.extent(depth));
  fillings.emplace_back(
      "depth_line",
      whole ? ""
            : "const int depth = first_depth + (thread + i * TILE_THREADS) / Places::group_places * Places::unit;");
  fillings.emplace_back("patch_axes", join_lines(others_lines(scope, used, true)));
  const auto loaded_chunk = chunk(scope, true);
  fillings.emplace_back("chunk", joined_ > 1 ? fmt::format("not_followed({})", loaded_chunk) : loaded_chunk);
  fillings.emplace_back("patch_inside", guard.empty() ? "" : fmt::format("const bool patch_inside = {};", guard));
  fillings.emplace_back("memory", context_.buffers[image()].name);
  fillings.emplace_back("start", start == "0" ? step : start + " + " + step);
  fillings.emplace_back("loaded", loaded);
  // Wide filters, and many pixels in both parts, leave no registers for the addresses of several: NVRTC 13.0 spilled
  // them.
  constexpr std::int64_t k_wide_filter = 5;
  const bool one_by_one = numbers_.halves && taps_across() >= k_wide_filter;
  const bool may_be_many = numbers_.halves && !numbers_.rounded && !one_by_one;
  const auto next = fmt::format("pixel + {}", scope.extent(patch_.depth_stride));
  fillings.emplace_back("first_pixel", one_by_one ? "computed_here(from + place_from[i])" : "from + place_from[i]");
  fillings.emplace_back("pixel_here",
                        may_be_many ? "if constexpr (Places::loads > 3) pixel = computed_here(pixel);" : "");
  fillings.emplace_back("next_pixel", one_by_one && numbers_.rounded ? fmt::format("computed_here({})", next) : next);
}

std::string PatchText::loop_text(KernelScope& scope) const {
  Fillings fillings = {{"patches", patches(scope, true)}, {"filters", "filters"}};
  fill_load(scope, fillings);
  const std::string step = std::to_string(patch_.across ? patch_.across->step : 1);
  fillings.emplace_back("kept_place",
                        step == "1" ? "const int place = at;"
                                    : fmt::format("const int place = at / Places::line_places * Places::line_places + "
                                                  "at % Places::line_places % {0} * Places::plane_places + "
                                                  "at % Places::line_places / {0};",
                                                  step));
  fillings.emplace_back("kept_turn", phases_ ? "not_followed(patch % 2)" : "patch % 2");
  fillings.emplace_back("keep_pixel",
                        fmt::format("{}(places + place * 4, {}next_pixels[i]{});",
                                    numbers_.halves ? (numbers_.rounded ? "keep_rounded_halves" : "keep_scaled_pixel")
                                                    : (numbers_.rounded ? "keep_rounded_pixel" : "keep_pixel"),
                                    numbers_.rounded ? "" : "Places::part_floats, ", numbers_.halves ? ", scale" : ""));
  fillings.emplace_back("exponents", numbers_.halves ? fill_lines(patch_section("half_exponents")) : "");
  fillings.emplace_back("find_exponent", numbers_.halves ? fill_lines(patch_section("find_exponent")) : "");
  const auto batches = scope.extent(extent_of(contraction_.batch));
  fillings.emplace_back("filter_batch", batches == "1" ? "0" : "batch");
  fillings.emplace_back("filter_patches", phases_ ? fmt::format("({})", patches(scope, false)) : "patches");
  fillings.emplace_back("turns", turns_text(scope));
  return (phases_ ? own_taps_text(scope) + "\n" : "") + fill_lines(patch_section("loop_patches"), fillings);
}

/// How many taps the phase of the block has.
std::string PatchText::own_taps_text(KernelScope& scope) const {
  const auto line = [&](const PhaseTaps& taps) { return phase_taps_text(taps, phase_name(scope, taps)); };
  return fill_lines(
      patch_section("own_taps"),
      {{"lines", line(phases_->line)},
       {"across", line(phases_->across)},
       {"others",
        phases_->other.phase.empty() ? "" : fmt::format("const int own_others = {};", line(phases_->other))}});
}

std::string PatchText::turns_text(KernelScope& scope) const {
  const std::string step = std::to_string(patch_.across ? patch_.across->step : 1);
  Fillings fillings = {{"taps", std::to_string(patch_.taps())}, {"taps_across", std::to_string(taps_across())}};
  fillings.emplace_back("line_dilation", std::to_string(patch_.line ? patch_.line->apart() : 0));
  const auto apart = std::to_string(patch_.across ? patch_.across->apart() : 0);
  fillings.emplace_back(
      "tap_place", step == "1"
                       ? fmt::format("across * {}", apart)
                       : fmt::format("across * {0} % {1} * Places::plane_places + across * {0} / {1}", apart, step));
  const auto zeros = fill_lines(patch_section("zero_parts"), {{"sums", "part_sum"}});
  std::string declared = numbers_.rounded ? zeros : "";
  if (numbers_.halves && !numbers_.rounded)
    declared = "float small_sum[THREAD_N / 2][4];\n" + fill_lines(patch_section("zero_parts"), {{"sums", "small_sum"}});
  fillings.emplace_back("zero_parts", declared);
  const std::string add = "add_products(part_sum, sum);";
  fillings.emplace_back("add_products", !numbers_.rounded ? add
                                        : numbers_.is_long
                                            ? fill_lines(patch_section("gathered"), {{"zero_parts", zeros}})
                                            : "");
  fillings.emplace_back("last_products", !numbers_.rounded  ? ""
                                         : numbers_.is_long ? add
                                                            : "take_products(part_sum, sum);");
  fill_exponents(scope, fillings);
  if (phases_) return turns_of_phase(scope, std::move(fillings));
  const char* products = numbers_.rounded  ? "products_of_rounded_slice"
                         : numbers_.halves ? "products_of_half_slice"
                                           : "products_of_slice";
  fillings.emplace_back("products", fill_lines(patch_section(products), fillings));
  return fill_lines(patch_section("turns"), fillings);
}

/// What halves were divided by, and how a rounded product is multiplied.
void PatchText::fill_exponents(KernelScope& scope, Fillings& fillings) const {
  fillings.emplace_back("multiply", numbers_.halves ? "multiply_half_places" : "multiply_places");
  if (!numbers_.halves) {
    fillings.emplace_back("take_exponent", "");
    fillings.emplace_back("end_exponents", "");
    return;
  }
  const std::string products = (numbers_.rounded ? "part_sum" : "small_sum") + std::string("[j / 2][2 * i + j % 2]");
  const bool adds = !numbers_.rounded || numbers_.is_long;
  fillings.emplace_back("take_exponent",
                        fill_lines(patch_section("take_exponent"),
                                   {{"scaled_sums", (adds ? "sum[i][j] *= fewer;\n" : "") + products + " *= fewer;"}}));
  fillings.emplace_back(
      "end_exponents",
      fill_lines(
          patch_section("end_exponents"),
          {{"filter_batch", scope.extent(extent_of(contraction_.batch)) == "1" ? "0" : "batch"},
           {"total", numbers_.rounded ? "sum[i][j]" : "(sum[i][j] + " + products + " * (1.0f / SMALL_SCALE))"}}));
}

std::string PatchText::turns_of_phase(KernelScope& scope, Fillings fillings) const {
  // The first taps of those that all phases have are read last.
  const auto first_of = [&](const std::optional<PatchAxis>& axis, const char* own) {
    return axis && axis->dilation < 0 ? fmt::format("{} - {} + ", axis->taps, own) : std::string();
  };
  fillings.emplace_back("first_across", first_of(patch_.across, "own_across"));
  fillings.emplace_back("first_line", first_of(patch_.line, "own_lines"));
  const auto own = others(scope, true);
  const auto all = others(scope, false);
  fillings.emplace_back(
      "filter_patch", own == all ? "const int filter_patch = patch;"
                                 : fmt::format("const int filter_patch = patch / {0} * {1} + patch % {0};", own, all));
  const char* products = numbers_.rounded  ? "rounded_products_of_phase"
                         : numbers_.halves ? "half_products_of_phase"
                                           : "products_of_phase";
  fillings.emplace_back("products", fill_lines(patch_section(products), fillings));
  return fill_lines(patch_section("turns_of_phase"), fillings);
}

void PatchText::fill_products(KernelScope& scope, Fillings& fillings) const {
  const auto batches = scope.extent(extent_of(block_batch()));
  const bool is_one = batches == "1";
  const auto block_batch = is_one ? "0" : fmt::format("(int)blockIdx.x % {}", batches);
  std::string batch_line = is_one ? "" : fmt::format("const int batch = {};", block_batch);
  if (joined_ > 1)
    batch_line = fmt::format("const int first_batch = {}{};", block_batch, is_one ? "" : fmt::format(" * {}", joined_));
  fillings.emplace_back("comment", fill_lines(patch_section("comment")));
  fillings.emplace_back("batch", "");
  fillings.emplace_back("tiles", fill_lines(patch_section("tiles"), {{"patch", place_type()}}));
  fillings.emplace_back("step_tables", "");
  fillings.emplace_back(
      "tile_place", fill_lines(patch_section("tile_place"),
                               {{"row_count", scope.extent(extent_of(contraction_.rows))},
                                {"width", width(scope)},
                                {"height", height(scope)},
                                {"batch", batch_line},
                                {"block", is_one ? "(int)blockIdx.x" : fmt::format("(int)blockIdx.x / {}", batches)}}));
  fillings.emplace_back("steps", "");
  fillings.emplace_back("column_places", places_text(scope));
  fillings.emplace_back("first_steps", "");
  fillings.emplace_back("loop", loop_text(scope));
  fillings.emplace_back("column", "");
  fillings.emplace_back("outside", "!inside_of_stored[j % COLUMN_PLACES]");
  fillings.emplace_back("stored_column", "column_of_place<Places::tile_lines, Places::tile_width>(at % TILE_N)");
  auto used = scope.used_axes();
  used.merge(axes_in(patch_.start));
  if (const auto address = stored_address(contraction_)) used.merge(axes_in(*address));
  fillings.emplace_back("row_places", join_lines(index_statements(scope, patch_.outer, "outer", used)));
}

StoredColumns PatchText::stored_pixels(KernelScope& scope, const std::set<std::string>& used, const KeptValue& place,
                                       const std::set<std::string>& place_axes, int at_once) const {
  StoredColumns stored;
  const bool of_lines = at_once > 0;
  const std::string count = of_lines ? "stored_places" : "COLUMN_PLACES";
  std::vector<std::string> declarations;
  std::vector<std::string> values;
  const auto keep = [&](const KeptValue& one) {
    declarations.push_back(fmt::format("{} {}[{}];", one.type, one.name, count));
    values.push_back(fmt::format("{}[i] = {};", one.name, one.value));
  };
  auto computed = used;
  computed.insert(place_axes.begin(), place_axes.end());
  for (const auto& axis : patch_.tile) {
    if (used.count(axis.name) == 0) continue;
    const auto name = scope.axis(axis.name);
    const bool steps = at_once > 1 && axis.name == patch_.tile.back().name;
    keep({"int", name + "_of_stored", name});
    stored.lines.push_back(fmt::format("const int {0} = {0}_of_stored[{1}]{2};", name,
                                       of_lines ? "j" : "j % COLUMN_PLACES", steps ? " + item" : ""));
  }
  if (!place.name.empty()) keep(place);
  std::vector<std::string> axes;
  if (patch_.line && computed.count(patch_.tile[0].name) > 0)
    axes.push_back(fmt::format("const int {} = line;", scope.axis(patch_.tile[0].name)));
  const auto run = patch_.run();
  for (auto& statement : index_statements(scope, run, "across", computed)) axes.push_back(std::move(statement));
  stored.before = fill_lines(kernel_text("program/patch_stores.cu", of_lines ? "stored_lines" : "stored_pixels"),
                             {{"at_once", std::to_string(at_once)},
                              {"pixels", at_once > 1 ? "neighbours" : "one"},
                              {"declarations", join_lines(declarations)},
                              {"width", width(scope)},
                              {"height", height(scope)},
                              {"axes", join_lines(axes)},
                              {"values", join_lines(values)}});
  return stored;
}

}  // namespace kw
