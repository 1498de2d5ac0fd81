#include "operators/program/kernels/grouping.hpp"

#include <algorithm>
#include <cmath>

#include "operators/program/kernels/cached_rows.hpp"
#include "operators/program/kernels/computed_factors.hpp"
#include "operators/program/kernels/contract.hpp"
#include "operators/program/kernels/exchange_sums.hpp"
#include "operators/program/kernels/pool_products.hpp"
#include "operators/program/kernels/recurrence_shape.hpp"
#include "operators/program/kernels/row_memory.hpp"
#include "operators/program/kernels/scans.hpp"
#include "operators/program/kernels/scratch_memory.hpp"
#include "operators/program/kernels/statistics_groups.hpp"
#include "operators/program/kernels/tail_groups.hpp"
#include "operators/program/kernels/windows.hpp"
#include "operators/program/program_detail.hpp"
#include "program/simplify/simplify.hpp"
#include "program/stages/access.hpp"
#include "program/stages/buffer_readers.hpp"
#include "program/stages/collapse.hpp"
#include "program/stages/fuse.hpp"
#include "program/stages/lower.hpp"
#include "program/stages/rounding.hpp"
#include "program/stages/row_groups.hpp"
#include "program/stages/split.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

/// Shorter rows are done by one work-item each, however few there are.
constexpr double k_shortest_row = 32;
/// Work that is done before a launch more would have begun.
constexpr double k_small = 1 << 18;
/// Elements that each part of a split reduction has at least.
constexpr double k_least_part = 2048;
/// Of a GPU: parts are many for each unit, so that the last ones keep few units waiting, but have enough elements that
/// starting and gathering them costs little. Where they are fewer than units, shorter ones are better.
constexpr double k_parts_per_unit = 32;
constexpr double k_rows_per_unit = 4;
constexpr double k_least_gpu_part = 16384;
constexpr double k_least_small_part = 4096;
/// Of much, neighbouring blocks read within few pages where parts are short: on an H100, 8.6 GB of parts of 1 MB took 7
/// % longer than of 256 KB (docs/results/2026-11-26-h100-cached-rows.md).
constexpr double k_much = 1 << 26;
constexpr double k_near_part = 65536;
/// An element's window is shorter; a longer sum of neighbours is worth many work-items.
constexpr double k_longest_window = 1024;

/// What tensors of 16-bit floats are stored as; scratch memory has none.
DType held_type(const StageBuffer& buffer) {
  const auto type = buffer.type.dtype;
  if (buffer.use != BufferUse::scratch && type == ElementType::float16) return DType::f16;
  if (buffer.use != BufferUse::scratch && type == ElementType::bfloat16) return DType::bf16;
  return scratch_type(type);
}

/// Elements of a row that a work-group of a GPU may read again: a cache or its own memory has them still.
double longest_row_at_once(const DeviceFacts& device) {
  constexpr double k_longest_cached = 32768.0;
  return std::max(k_longest_cached, longest_kept(device));
}

class Grouping {
 public:
  Grouping(StageProgram program, Dialect dialect, const DeviceFacts& device)
      : program_(std::move(program)),
        dialect_(dialect),
        device_(device),
        groups_wanted_(static_cast<double>(device.compute_units) * 2.0),
        longest_row_(longest_row_at_once(device)) {}

  /// Reductions that write these buffers are left as they are, each alone.
  void keep_apart(std::set<std::size_t> buffers) { apart_ = std::move(buffers); }

  [[nodiscard]] const std::vector<Stage>& stages() const { return program_.stages; }

  /// Long reductions split, and what works on the same rows together, also by rows of cached_rows.hpp. To be called
  /// once.
  [[nodiscard]] GroupedProgram by_cached_rows() {
    if (dialect_ == cuda_dialect()) cached_ = cached_buffers();
    return by_rows();
  }

  /// Without those. To be called once.
  [[nodiscard]] GroupedProgram by_rows() {
    // A work-item of a CPU does a whole row: a sum in sixteen lanes that is longer would lose too much to rounding.
    constexpr double k_longest_of_item = 1 << 20;
    constexpr double k_longest_of_group = 1 << 22;
    split_long_reductions(dialect_->has_vectors ? k_longest_of_item : k_longest_of_group);
    return with_rows();
  }

 private:
  /// What reductions and maps of long rows write that are one kernel of cached_rows.hpp, together.
  [[nodiscard]] std::set<std::size_t> cached_buffers() const {
    Grouping trial(*this);
    for (auto& stage : trial.program_.stages) {
      if (!is_row_reduction(stage) || !is_cached_row(count_of(stage.inner), device_)) continue;
      if (can_split(stage)) collapse_inner_axes(stage);
      trial.cached_.insert(stage.buffer);
    }
    if (trial.cached_.empty()) return {};
    for (const auto& stage : program_.stages) {
      if (stage.kind == StageKind::map) trial.cached_.insert(stage.buffer);
    }
    const auto grouped = trial.with_rows();
    const auto buffers = held_buffers(grouped.program);
    const GroupContext context{grouped.program, buffers, dialect_, device_};
    std::set<std::size_t> cached;
    for (const auto& group : grouped.groups) {
      if (!are_cached_rows(context, group)) continue;
      for (const auto index : group.stages) cached.insert(grouped.program.stages[index].buffer);
    }
    return cached;
  }

  /// Into parts of at most `longest` elements, and enough of them to keep the device busy.
  void split_long_reductions(double longest) {
    for (auto& stage : program_.stages) {
      if (on_gpu() && is_row_reduction(stage) && can_split(stage)) collapse_inner_axes(stage);
    }
    for (std::size_t i = program_.stages.size(); i-- > 0;) {
      const auto& stage = program_.stages[i];
      if (!is_row_reduction(stage) || !can_split(stage) || cached_.count(stage.buffer) > 0) continue;
      const double length = count_of(stage.inner);
      const double parts = std::max(wanted_parts(stage), std::ceil(length / longest));
      if (parts >= 2.0) split(i, static_cast<std::int64_t>(parts));
    }
  }

  [[nodiscard]] GroupedProgram with_rows() {
    RowRules rules;
    rules.reduction = [&](const Stage& stage) {
      if (!is_row_reduction(stage)) return false;
      if (on_gpu() || count_of(stage.inner) < k_shortest_row) return true;
      return work_groups(stage) >= groups_wanted_ / 2.0 || evaluations(stage) <= 4.0 * k_small;
    };
    rules.map = [&](const Stage& map, double rows) {
      if (cached_.count(map.buffer) > 0) return true;
      if (on_gpu() && evaluations(map) > rows * longest_row_ && evaluations(map) > k_small) return false;
      return rows >= groups_wanted_ / 2.0 || evaluations(map) <= k_small;
    };
    auto lists = recurrences_of(program_);
    std::map<std::size_t, std::size_t> rows;  // of the group that begins with a stage
    for (const auto& group : row_groups(program_, rules)) {
      rows[group.stages.front()] = group.rows;
      lists.push_back(group.stages);
    }
    const BufferReaders readers(program_);
    GroupedProgram grouped;
    for (const auto& stages : in_running_order(program_, lists)) {
      const auto found = rows.find(stages.front());
      auto& first = program_.stages[stages.front()];
      const bool recurs = first.kind == StageKind::step;
      if (found == rows.end() && !recurs) collapse_axes(first);
      auto local = recurs ? locals_of_steps(stages) : local_buffers(stages, readers);
      grouped.groups.push_back({stages, std::move(local), found == rows.end() ? 0 : found->second});
    }
    grouped.program = std::move(program_);
    return grouped;
  }

  [[nodiscard]] bool on_gpu() const { return !dialect_->warp.empty(); }

  /// Whether it is to be done by rows: no product, and no window that slides over its elements.
  [[nodiscard]] bool is_row_reduction(const Stage& stage) const {
    if (stage.kind != StageKind::reduce || apart_.count(stage.buffer) > 0) return false;
    if (goes_to_contract(stage) || is_window(stage, dialect_)) return false;
    return !slides(stage) || (on_gpu() && count_of(stage.inner) >= k_longest_window);
  }

  /// Parts that leave no unit of the device idle; less than 2 where the rows do so.
  [[nodiscard]] double wanted_parts(const Stage& stage) const {
    const double groups = std::max(work_groups(stage), 1.0);
    const double length = count_of(stage.inner);
    if (!on_gpu()) return std::min(std::ceil(groups_wanted_ / groups), std::floor(length / k_least_part));
    const double units = groups_wanted_ / 2.0;
    const bool near = !has_contiguous_rows(stage) && groups * length >= k_much;
    const double near_parts = near ? std::floor(length / k_near_part) : 1.0;
    if (groups >= units * k_rows_per_unit) return near_parts;
    // Where neighbouring rows are what is contiguous, a work-group has 32 of them.
    const double rows = count_of(stage.axes) / groups;
    const double longest = std::floor(length * rows / k_least_gpu_part);
    const double least = std::floor(std::min(length * rows / k_least_small_part, 2.0 * units / groups));
    return std::max(near_parts, std::min(std::ceil(units * k_parts_per_unit / groups), std::max(longest, least)));
  }

  /// Sums of elements and of their squared differences from the mean are split together.
  void split(std::size_t index, std::int64_t parts) {
    for (std::size_t i = 0; on_gpu() && i < index; ++i) {
      if (!are_moments(program_.stages[i], program_.stages[index])) continue;
      (void)split_moments(program_, i, index, parts);
      return;
    }
    (void)split_reduction(program_, index, parts);
  }

  /// As the family will be asked, once the stage is a group of its own.
  [[nodiscard]] bool goes_to_contract(Stage stage) const {
    collapse_axes(stage);
    return is_contraction(stage, held_buffers(program_), dialect_);
  }

  [[nodiscard]] static std::vector<KernelBuffer> held_buffers(const StageProgram& program) {
    std::vector<KernelBuffer> buffers;
    for (const auto& buffer : program.buffers) buffers.push_back({buffer.name, "", held_type(buffer)});
    return buffers;
  }

  /// Work-groups that a reduction of rows has, a row or a warp's width of rows each.
  static double work_groups(const Stage& stage) {
    return count_of(stage.axes) / (has_contiguous_rows(stage) ? 32.0 : 1.0);
  }

  /// What only stages of the list read.
  [[nodiscard]] std::vector<std::size_t> local_buffers(const std::vector<std::size_t>& stages,
                                                       const BufferReaders& readers) const {
    std::vector<std::size_t> local;
    for (const auto index : stages) {
      const auto buffer = program_.stages[index].buffer;
      const bool scratch = program_.buffers[buffer].use == BufferUse::scratch;
      if (scratch && !readers.has_others(buffer, stages)) local.push_back(buffer);
    }
    return local;
  }

  /// What a recurrence leaves in one step is read in another; only kernels of one step hold products.
  [[nodiscard]] std::vector<std::size_t> locals_of_steps(const std::vector<std::size_t>& stages) const {
    const auto shape = dialect_->warp.empty() ? std::nullopt : StepShape::of(program_, stages);
    return shape && !shape->maps().empty() ? std::vector<std::size_t>{shape->product().buffer}
                                           : std::vector<std::size_t>();
  }

  StageProgram program_;
  Dialect dialect_;
  const DeviceFacts& device_;
  double groups_wanted_;
  double longest_row_;
  std::set<std::size_t> apart_;
  std::set<std::size_t> cached_;  ///< see cached_buffers()
};

}  // namespace

Result<GroupedProgram> grouped_for(const Problem& problem, Dialect dialect, const DeviceFacts& device,
                                   ContractWays ways) {
  const auto& detail = program_detail(problem);
  auto simple = simplified(detail.program.graph, detail.outputs);
  KW_TRY(auto stages, lower(simple.graph, simple.outputs));
  mark_rounded(stages, simple.graph, detail.module.precision);
  auto grouped = grouped_for(std::move(stages), dialect, device, ways);
  grouped.graph = std::move(simple.graph);
  std::vector<std::string> applied;
  for (const auto& one : simple.applied) applied.push_back(applied_text(one));
  grouped.simplifications.insert(grouped.simplifications.begin(), applied.begin(), applied.end());
  return grouped;
}

GroupedProgram grouped_for(StageProgram program, Dialect dialect, const DeviceFacts& device, ContractWays ways) {
  auto joined = fused(std::move(program));
  auto exchanged = exchange_sums(joined.program);
  for (auto& line : pool_products(joined.program)) exchanged.push_back(std::move(line));
  reverse_scans(joined.program, dialect);
  shift_scans(joined.program, dialect);
  store_computed_factors(joined.program, dialect);
  const auto by_rows = [&] { return Grouping(joined.program, dialect, device).by_rows(); };
  const auto statistics = statistics_groups(joined.program, by_rows, dialect, device, ways);
  for (const auto& group : statistics) exchanged.insert(exchanged.end(), group.applied.begin(), group.applied.end());
  Grouping grouping(std::move(joined.program), dialect, device);
  grouping.keep_apart(reductions_of(statistics));
  const auto whole = grouping.stages();
  auto grouped = grouping.by_cached_rows();
  join_statistics(grouped, whole, statistics, dialect, device, ways);
  if (!dialect->warp.empty()) join_tails(grouped, whole, dialect, device, ways);
  grouped.fusions = std::move(joined.fusions);
  grouped.simplifications = std::move(exchanged);
  return grouped;
}

}  // namespace kw
