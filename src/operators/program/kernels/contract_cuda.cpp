#include "operators/program/kernels/contract_cuda.hpp"

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_boxes.hpp"
#include "operators/program/kernels/contract_direct.hpp"
#include "operators/program/kernels/contract_halves.hpp"
#include "operators/program/kernels/contract_joined_phases.hpp"
#include "operators/program/kernels/contract_needed_tiles.hpp"
#include "operators/program/kernels/contract_packing.hpp"
#include "operators/program/kernels/contract_parts.hpp"
#include "operators/program/kernels/contract_patch_text.hpp"
#include "operators/program/kernels/contract_products.hpp"
#include "operators/program/kernels/contract_scaled_halves.hpp"
#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/contract_statistics_text.hpp"
#include "operators/program/kernels/contract_stores.hpp"
#include "operators/program/kernels/contract_strips.hpp"
#include "operators/program/kernels/contract_tail_text.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/contract_tile_loads.hpp"
#include "operators/program/kernels/program_contracts.hpp"

namespace kw {
namespace {

std::string_view contract_gpu_section(const char* name) {
  return kernel_text("program/contract.cu", name);
}

class CudaContraction {
 public:
  CudaContraction(const GroupContext& context, const Contraction& contraction, const ContractTail* tail,
                  const ContractStatistics* statistics, const SplitContraction* split = nullptr)
      : context_(context),
        contraction_(contraction),
        out_(context.buffers[contraction.split.stage.buffer]),
        inner_(contraction.split.stage.inner),
        size_(contract_size(contraction)),
        products_(own_products(size_, context.contracts->products(), context.device)),
        rounded_(products_ != TileProducts::simt && contraction.split.stage.rounds_factors),
        splits_(contract_splits(size_, context.device)),
        split_(split),
        tail_(tail),
        statistics_(statistics) {
    if (products_ == TileProducts::halves) halves_ = half_factors(contraction, context.program);
    boxed_ = split_ != nullptr || (halves_ && are_boxed(contraction, *halves_, context_.ways.boxes));
    if (products_ != TileProducts::patches) return;
    patch_ = patch_contraction(contraction);
    KW_CHECK(patch_.has_value(), "a contraction without patches is multiplied by them");
    auto size = patch_size(contraction, *patch_);
    choose_ways(size, rounded_, context_.ways);
    if (size.joined > 1) joined_ = joined_phases(contraction, *patch_);
    auto phases = size.of_phases.empty() ? std::nullopt : patch_phases(contraction, *patch_, size.joined > 1);
    const PatchNumbers numbers{size.halves, rounded_, is_long_sum(size_), is_wide()};
    patch_text_.emplace(context_, contraction_, *patch_, std::move(phases), joined_ ? joined_->count() : 1, numbers,
                        out_.name);
  }

  GroupKernels write() {
    if (patch_text_) kernels_ = patch_text_->packing();
    write_tiles();
    if (boxed_) kernels_.scratch.push_back({maps_name(), DType::i32, box_map_words(grid())});
    if (splits_) add(sum_of_parts(context_, contraction_, parts_name()));
    if (statistics_ != nullptr) add(joined_statistics(context_, *statistics_, statistics_parts()));
    if (joins_tiles()) add(joined_tiles(context_, contraction_, patch_ ? &*patch_ : nullptr, *tail_, parts_name()));
    add_helpers();
    kernels_.tunables = context_.contracts->tunables();
    kernels_.constraints = context_.contracts->constraints();
    return std::move(kernels_);
  }

 private:
  /// Of one contraction of the program.
  static TileProducts own_products(const ContractSize& size, TileProducts products, const DeviceFacts& device) {
    if (products != TileProducts::patches || by_patches(size, products, device)) return products;
    return TileProducts::wgmma;
  }

  bool is_wide() const {
    const auto& sizes = context_.contracts->sizes();
    return sizes.size() == 1 && sizes[0].patch && sizes[0].patch->wide;
  }

  void add_helpers() {
    kernels_.own_helpers.merge(product_helpers(products_, rounded_));
    if (halves_) kernels_.own_helpers.merge(half_helpers(*halves_));
    if (split_ != nullptr) kernels_.own_helpers.merge(scaled_helpers(rounded_));
    if (!patch_text_) return;
    if (statistics_ != nullptr) kernels_.own_helpers.insert("patches.cu/patch_tile_of_phases");
    for (const auto& name : patch_text_->own_helpers()) kernels_.own_helpers.insert(name);
  }

  std::string section_for_products(const std::string& name, const Fillings& fillings = {}) const {
    return product_section(name, products_, rounded_, fillings);
  }

  /// How many blocks a unit is to hold.
  std::string resident_blocks() const {
    if (patch_text_) return patch_text_->resident_blocks();
    if (halves_ || (split_ != nullptr && rounded_)) return "RESIDENT_HALF_BLOCKS";
    if (split_ != nullptr) return "RESIDENT_SCALED_BLOCKS";
    constexpr double k_short_sum = 64;
    // Guards of elements take the registers that a second block would need.
    if (products_ == TileProducts::tf32 && !splits_ && !size_.guarded && size_.steps <= k_short_sum)
      return "RESIDENT_SHORT_BLOCKS";
    if (!by_warpgroups(products_) || !rounded_) return "RESIDENT_BLOCKS";
    return is_long_sum(size_) ? "RESIDENT_LONG_BLOCKS" : "RESIDENT_ROUNDED_BLOCKS";
  }

  /// Of warpgroups' tiles: two of both parts of each number, or three of rounded ones; and up to 1024 bytes to begin at
  /// a multiple of these.
  std::string shared_bytes() const {
    if (patch_text_) return patch_text_->shared_bytes();
    if (!by_warpgroups(products_)) return "0";
    if (halves_ || (split_ != nullptr && rounded_)) return "2 * TILE_STAGES * TILE_K * (TILE_M + TILE_N) + 1024";
    if (split_ != nullptr) return "4 * TILE_STAGES * TILE_K * (TILE_M + TILE_N) + 1024";
    return rounded_ ? "12 * TILE_K * (TILE_M + TILE_N) + 1024" : "16 * TILE_K * (TILE_M + TILE_N) + 1024";
  }

  std::string grid() const {
    return fmt::format("ceil_div({}, TILE_M) * ceil_div({}, TILE_N) * {}{}", extent_of(contraction_.rows).text(),
                       extent_of(contraction_.columns).text(), bundle_operand(extent_of(contraction_.batch)),
                       splits_ ? " * SPLIT_K" : "");
  }

  /// Whether a second launch joins what the tiles have left.
  bool joins_tiles() const { return tail_ != nullptr && tail_->kind != TailKind::windows; }
  /// Whether it computes the output, from parts in scratch memory.
  bool has_parts() const { return splits_ || joins_tiles(); }

  std::vector<std::string> locals() const {
    auto names = contract_gpu_locals();
    if (tail_ != nullptr || statistics_ != nullptr)
      names.insert(names.end(), tail_locals().begin(), tail_locals().end());
    if (patch_text_) names.insert(names.end(), PatchText::locals().begin(), PatchText::locals().end());
    return names;
  }

  StatisticsParts statistics_parts() const {
    return {parts_name(), statistics_->batch, patch_tiles_expression(contraction_, *patch_, is_wide()),
            [this](KernelScope& scope) { return patch_tiles_text(scope, contraction_, *patch_, is_wide()); }};
  }

  std::string parts_name() const { return "parts_of_" + out_.name; }
  /// Scratch for what blocks tell the copy engine.
  std::string maps_name() const { return "maps_of_" + out_.name; }

  void finish(const KernelScope& scope, const std::string& source, Launch launch) {
    kernels_.source += (kernels_.source.empty() ? "" : "\n") + with_short_lines(source);
    kernels_.launches.push_back(std::move(launch));
    kernels_.helpers.insert(scope.helpers().begin(), scope.helpers().end());
    kernels_.own_helpers.insert(scope.own_helpers().begin(), scope.own_helpers().end());
  }

  void add(const GroupKernels& more) {
    kernels_.source += "\n" + more.source;
    kernels_.launches.insert(kernels_.launches.end(), more.launches.begin(), more.launches.end());
    kernels_.scratch.insert(kernels_.scratch.end(), more.scratch.begin(), more.scratch.end());
    kernels_.helpers.insert(more.helpers.begin(), more.helpers.end());
    kernels_.own_helpers.insert(more.own_helpers.begin(), more.own_helpers.end());
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
    const auto needed = needed_tile_text(scope, contraction_);
    const std::string part_steps =
        splits_
            ? fmt::format("const int part_steps = ({0} + SPLIT_K * TILE_K - 1) / (SPLIT_K * TILE_K) * TILE_K;\n", steps)
            : "";
    const std::string begin = splits_ ? "part * part_steps" : "0";
    const std::string end = splits_ ? fmt::format("min(begin + part_steps, {})", steps) : steps;
    if (needed.empty()) return fmt::format("{}const int begin = {}, end = {};", part_steps, begin, end);
    return fmt::format("{}const int begin = {};\n// Of other tiles no sum is stored.\nconst int end = {} ? {} : begin;",
                       part_steps, begin, needed, end);
  }

  TileStores stores() const {
    return {contraction_, out_, patch_ ? &*patch_ : nullptr, patch_text_ ? &*patch_text_ : nullptr, tail_, statistics_};
  }

  void fill_tile_store(KernelScope& scope, Fillings& fillings) {
    if (joined_) {
      fill_joined_phases(scope, contraction_, *patch_, *joined_, out_, fillings);
    } else if (splits_) {
      fillings.emplace_back("stored_row_axes", "");
      fillings.emplace_back("stored_column_axes", "");
      fillings.emplace_back("stored_places", "");
      fillings.emplace_back("stored_guard", "");
      fillings.emplace_back("values", "");
      fillings.emplace_back("store", fmt::format("parts[({} * {} + m) * {} + n] = total;", part_and_batch(scope),
                                                 scope.extent(extent_of(contraction_.rows)),
                                                 scope.extent(extent_of(contraction_.columns))));
    } else {
      stores().fill(scope, fillings);
      if (statistics_ != nullptr) windows_ = stores().windows(scope, context_.buffers);
    }
  }

  /// Which tile a block computes, of products whose columns are counted as one axis.
  void fill_tile_places(KernelScope& scope, Fillings& fillings) const {
    fillings.emplace_back("comment", fill_lines(contract_gpu_section("comment"),
                                                {{"parts", splits_ ? ", and one of SPLIT_K parts of the sum" : ""}}));
    fillings.emplace_back("tile_place", fill_lines(contract_gpu_section("tile_place"),
                                                   {{"row_count", scope.extent(extent_of(contraction_.rows))},
                                                    {"column_count", scope.extent(extent_of(contraction_.columns))}}));
    fillings.emplace_back("steps", steps_text(scope));
    fillings.emplace_back("column", ", n = first_column + at % TILE_N");
    fillings.emplace_back("outside", "n >= " + scope.extent(extent_of(contraction_.columns)));
    fillings.emplace_back("stored_column", "at % TILE_N");
  }

  /// Of 16-bit numbers, whose tiles are copied as they are.
  void fill_copied_loop(KernelScope& scope, Fillings& fillings, std::set<std::size_t>& loaded) const {
    const auto tiles = split_ != nullptr ? scaled_tiles(scope, contraction_, *split_)
                                         : half_tiles(scope, contraction_, *halves_, boxed_);
    fill_tile_places(scope, fillings);
    fillings.emplace_back("tiles", tiles.tiles);
    fillings.emplace_back("step_tables", "");
    fillings.emplace_back("row_places", tiles.places);
    fillings.emplace_back("column_places", "");
    fillings.emplace_back("first_steps", "int stage = 0;");
    fillings.emplace_back("loop", tiles.loop);
    if (split_ != nullptr) {
      loaded = {split_->rows.halves, split_->rows.exponents, split_->columns.halves, split_->columns.exponents};
    } else {
      loaded = {halves_->rows.buffer, halves_->columns.buffer};
    }
  }

  void fill_loop(KernelScope& scope, Fillings& fillings, std::set<std::size_t>& loaded) const {
    TileLoads loads(context_, contraction_, products_, rounded_);
    const auto rows = loads.rows(scope);
    const auto columns = loads.columns(scope);
    fill_tile_places(scope, fillings);
    fillings.emplace_back("tiles", section_for_products("tiles"));
    fillings.emplace_back("step_tables", loads.step_tables());
    fillings.emplace_back("row_places", rows.before);
    fillings.emplace_back("column_places", columns.before);
    const auto registers = fill_lines(contract_gpu_section("registers"));
    const auto first_steps = loads.first_steps(scope);
    fillings.emplace_back("first_steps", registers + (first_steps.empty() ? "" : "\n" + first_steps));
    const bool is_long = is_long_sum(size_);
    const auto rounded_products = fmt::format("multiply_rounded_tile<{}>", is_long);
    fillings.emplace_back(
        "loop", section_for_products("loop", {{"load_rows", rows.load},
                                              {"load_columns", columns.load},
                                              {"keep_rows", rows.keep},
                                              {"keep_columns", columns.keep},
                                              {"next_steps", loads.next_steps(scope)},
                                              {"gather", is_long ? fill_lines(contract_gpu_section("gather")) : ""},
                                              {"multiply_tile", rounded_ ? rounded_products : "multiply_tile"}}));
    loaded = loads.loaded();
  }

  void fill_batch_axes(KernelScope& scope, Fillings& fillings) const {
    auto used = scope.used_axes();
    for (const auto* factor : {&contraction_.first, &contraction_.second}) {
      used.insert(factor->axes.begin(), factor->axes.end());
    }
    if (const auto address = stored_address(contraction_)) used.merge(axes_in(*address));
    if (joined_) used.erase(joined_->phase.name);
    fillings.emplace_back(
        "batch_axes", join_lines(index_statements(scope, contraction_.batch, joined_ ? "first_batch" : "batch", used)));
  }

  /// `loaded`: buffers that the loop reads.
  ContractArguments arguments_of(const KernelScope& scope, const std::set<std::size_t>& loaded) const {
    ContractArguments arguments(context_.dialect);
    arguments.add_loaded(scope, context_.buffers, contraction_.split.stage.buffer);
    for (const auto buffer : loaded) {
      const auto& held = context_.buffers[buffer];
      if (scope.loaded().count(buffer) == 0) arguments.add(held.dtype, false, held.name, held.argument);
    }
    if (patch_text_) patch_text_->add_filters(arguments);
    if (has_parts()) {
      arguments.add(DType::f32, true, "parts", parts_name());
    } else if (statistics_ == nullptr || statistics_->stored) {
      arguments.add(out_.dtype, true, out_.name, out_.argument);
    }
    if (statistics_ != nullptr) {
      arguments.add(DType::f32, true, "parts", parts_name());
      for (const auto& window : statistics_->windows) {
        const auto& out = context_.buffers[window.tail.reduction.buffer];
        arguments.add(out.dtype, true, out.name, out.argument);
      }
    }
    if (boxed_) arguments.add(DType::i32, true, "maps", maps_name());
    arguments.add_integers(scope);
    return arguments;
  }

  void write_tiles() {
    const auto& stage = contraction_.split.stage;
    const auto whole = stores().with_window_axes(patch_text_ ? patch_text_->scope_stage() : stage);
    KernelScope scope(context_.buffers, whole, context_.dialect, locals());
    scope.divide_quickly(context_.program);
    Fillings fillings = {{"qualifier", fill_lines(context_.dialect->kernel_qualifier,
                                                  {{"threads", fmt::format("TILE_THREADS, {}", resident_blocks())}})}};
    // More outputs at a time would take the registers of a second block.
    fillings.emplace_back("at_a_time", rounded_ ? " 8" : "");
    fillings.emplace_back("fours_at_a_time", rounded_ ? " 2" : "");
    fillings.emplace_back("fours_at_once", rounded_ ? "2" : "4");
    fillings.emplace_back("gathered_at_a_time", rounded_ ? "4" : "8");
    fill_tile_store(scope, fillings);
    std::set<std::size_t> loaded;
    if (patch_text_) {
      patch_text_->fill_products(scope, fillings);
      loaded = {patch_text_->image()};
    } else {
      const bool copied = halves_ || split_ != nullptr;
      copied ? fill_copied_loop(scope, fillings, loaded) : fill_loop(scope, fillings, loaded);
      fillings.emplace_back("batch", batch_text(scope));
    }
    fill_batch_axes(scope, fillings);
    fillings.emplace_back("row_count", scope.extent(extent_of(contraction_.rows)));
    if (!patch_text_) fillings.emplace_back("column_count", scope.extent(extent_of(contraction_.columns)));
    if (!joined_) fillings.emplace_back("stores", stores().text(splits_, fillings) + windows_);
    const auto arguments = arguments_of(scope, loaded);
    const auto kernel = has_parts() ? "multiply_" + out_.name : kernel_of_buffer(context_, stage.buffer);
    fillings.emplace_back("signature", arguments.signature(kernel));
    const auto products =
        joined_ ? kernel_text("program/patches.cu", "products_of_phases") : contract_gpu_section("products");
    finish(scope, fill(products, fillings),
           {kernel,
            {patch_text_ ? patch_text_->grid() : grid()},
            {"(TILE_M / THREAD_M) * (TILE_N / THREAD_N)"},
            shared_bytes(),
            arguments.arguments()});
  }

  const GroupContext context_;
  const Contraction& contraction_;
  const KernelBuffer& out_;
  StageAxes inner_;
  ContractSize size_;
  TileProducts products_;  ///< of this contraction
  bool rounded_;           ///< factors, to tf32 numbers that are multiplied once
  std::optional<HalfFactors> halves_;
  bool boxed_ = false;  ///< the copy engine brings tiles
  bool splits_;
  const SplitContraction* split_;         ///< null where no launches have split the factors
  const ContractTail* tail_;              ///< null where all sums are stored
  const ContractStatistics* statistics_;  ///< null where no parts of these are left
  std::string windows_;                   ///< text of what is reduced of windows besides
  std::optional<PatchContraction> patch_;
  std::optional<JoinedPhases> joined_;   ///< that a block computes
  std::optional<PatchText> patch_text_;  ///< where it is multiplied by patches
  GroupKernels kernels_;
};

/// With phases among windows that threads reduce, more pixels: on an H200 4 x 16 sums of each phase took 0.77 to 0.84
/// times as long as 2 x 16 in three problems, although two of them spill 124 bytes.
void prefer_for_phases(const DirectSize& size, const DirectTail& tail, std::vector<Tunable>& tunables) {
  if (size.phases != 2 || !tail.rows.empty()) return;
  for (auto& tunable : tunables) {
    if (tunable.name == "DIRECT_PIXELS") tunable.default_value = 4;
    if (tunable.name == "DIRECT_CHANNELS") tunable.default_value = 16;
    if (tunable.name == "DIRECT_THREADS") tunable.default_value = 128;
  }
}

}  // namespace

namespace {

/// What is reduced is not written, so that nothing is gained by joined phases. Through its own taps the one such
/// convolution that was measured took 1.19 times as long on an H200; it has another tile by estimate.
ContractWays ways_with_tail(ContractWays ways) {
  ways.joined = WayUse::never;
  if (ways.phases == WayUse::estimated) ways.phases = WayUse::never;
  return ways;
}

/// The kernels, and before them the launches that make what they read.
GroupKernels behind(const GroupKernels& before, GroupKernels kernels) {
  kernels.source = before.source + "\n" + kernels.source;
  kernels.launches.insert(kernels.launches.begin(), before.launches.begin(), before.launches.end());
  kernels.scratch.insert(kernels.scratch.begin(), before.scratch.begin(), before.scratch.end());
  kernels.helpers.insert(before.helpers.begin(), before.helpers.end());
  kernels.own_helpers.insert(before.own_helpers.begin(), before.own_helpers.end());
  return kernels;
}

GroupContext with_buffers(const GroupContext& context, const std::vector<KernelBuffer>& buffers) {
  return {context.program, buffers, context.dialect, context.device, context.ways, context.contracts};
}

/// The program's contractions, as the one of this group is multiplied. One assignment is for all contractions of a
/// program, which have no tail; a single one has what suits it.
std::shared_ptr<ProgramContracts> contracts_with(const GroupContext& given, ContractWays ways, bool has_windows) {
  if (given.contracts->sizes().size() != 1) return given.contracts;
  auto sizes = contract_sizes(given.program, ColumnChoice::contiguous, ways);
  // What is reduced of windows needs as many lines of a tile.
  if (has_windows && sizes[0].patch) sizes[0].patch->wide = false;
  return std::make_shared<ProgramContracts>(given.program, given.dialect, given.device, ways, std::move(sizes));
}

}  // namespace

GroupKernels contract_cuda(const GroupContext& given, const Contraction& contraction, const ContractTail* tail,
                           const DirectTail* direct_tail, const ContractStatistics* statistics) {
  const auto ways = tail == nullptr ? given.ways : ways_with_tail(given.ways);
  const bool has_windows = tail != nullptr || (statistics != nullptr && !statistics->windows.empty());
  const GroupContext context{given.program, given.buffers, given.dialect,
                             given.device,  ways,          contracts_with(given, ways, has_windows)};
  const auto products = context.contracts->products();
  if (products == TileProducts::strips || products == TileProducts::direct) {
    auto kernels = products == TileProducts::strips ? contract_by_strips(context, contraction)
                                                    : contract_directly(context, contraction, direct_tail, statistics);
    kernels.tunables = context.contracts->tunables();
    kernels.constraints = context.contracts->constraints();
    const auto& sizes = context.contracts->sizes();
    if (direct_tail != nullptr && sizes.size() == 1)
      prefer_for_phases(*sizes[0].direct, *direct_tail, kernels.tunables);
    return kernels;
  }
  if (products == TileProducts::scaled_halves) {
    const auto split = split_contraction(context, contraction);
    const auto with_halves = with_buffers(context, split.buffers);
    auto kernels = CudaContraction(with_halves, contraction, tail, statistics, &split).write();
    return behind(split.splitting, std::move(kernels));
  }
  // What is copied into tiles as it is needs no packing, and patches pack in their own way.
  const bool packs =
      products != TileProducts::halves && !by_patches(contract_size(contraction), products, context.device);
  auto packed = packs ? packed_contraction(context, contraction) : std::nullopt;
  if (!packed) return CudaContraction(context, contraction, tail, statistics).write();
  const auto with_copy = with_buffers(context, packed->buffers);
  auto kernels = CudaContraction(with_copy, packed->contraction, tail, nullptr).write();
  return behind(packed->copying, std::move(kernels));
}

}  // namespace kw
