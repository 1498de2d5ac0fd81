#include "operators/program/shared_axes.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle_glue.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

/// Elements that may be computed to find out, for one pair of them.
constexpr double k_most_elements = 1e5;
/// More subsets of axes are not tried.
constexpr std::size_t k_most_axes = 6;
/// An element that takes less than this part of what another one takes shares with it what takes long.
constexpr double k_little = 0.4;

std::vector<std::int64_t> extents_of(const TensorSpec& tensor, const Axes& axes) {
  std::vector<std::int64_t> extents;
  for (const auto& axis : tensor.axes) extents.push_back(axes.at(axis));
  return extents;
}

/// On which most axes of the output have two places, of those the one that takes the fewest steps.
const Workload* telling_workload(const Problem& problem) {
  const Workload* best = nullptr;
  std::int64_t most = -1;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& workload : problem.workloads) {
    const auto extents = extents_of(problem.outputs.front(), workload.axes);
    const std::int64_t wide = std::ranges::count_if(extents, [](std::int64_t extent) { return extent > 1; });
    const double steps = program_cost(problem, workload).steps;
    if (wide < most || (wide == most && steps >= least)) continue;
    best = &workload;
    most = wide;
    least = steps;
  }
  return best;
}

/// Rows or elements of the only output, or of one like the others, on a small workload.
class SmallRows {
 public:
  SmallRows(const Problem& problem, bool by_element)
      : problem_(problem),
        workload_(*telling_workload(problem)),
        extents_(extents_of(problem.outputs.front(), workload_.axes)) {
    if (by_element) return;
    length_ = extents_.back();
    extents_.pop_back();
  }

  [[nodiscard]] std::size_t axes() const { return extents_.size(); }
  /// What the first one takes.
  [[nodiscard]] std::optional<double> cost_of_first() const { return cost_of({}, elements_of(0)); }
  /// What the last one takes after it, in the first one's place on `alike` axes; nothing where both are the same.
  [[nodiscard]] std::optional<double> cost_of_last(std::uint32_t alike) const {
    std::int64_t row = 0;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      row = row * extents_[i] + ((alike >> i & 1U) != 0 ? 0 : extents_[i] - 1);
    }
    return row == 0 ? std::nullopt : cost_of(elements_of(0), elements_of(row));
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> elements_of(std::int64_t row) const {
    std::vector<std::int64_t> elements;
    for (std::int64_t i = 0; i < length_; ++i) elements.push_back(row * length_ + i);
    return elements;
  }
  [[nodiscard]] std::optional<double> cost_of(std::vector<std::int64_t> before,
                                              std::vector<std::int64_t> elements) const {
    const std::size_t value = program_detail(problem_).outputs.front();
    const TwoRows two = {std::vector{WantedElements{value, std::move(before)}},
                         std::vector{WantedElements{value, std::move(elements)}}};
    const auto cost = elements_asked_for(checked_program(problem_, workload_.axes)->graph, two, k_most_elements);
    return cost ? std::optional(*cost) : std::nullopt;
  }

  const Problem& problem_;
  const Workload& workload_;
  std::vector<std::int64_t> extents_;
  std::int64_t length_ = 1;
};

bool have_one_shape(const Problem& problem) {
  return std::ranges::all_of(problem.outputs,
                             [&](const TensorSpec& output) { return output.axes == problem.outputs.front().axes; });
}

}  // namespace

std::vector<std::size_t> shared_axes(const Problem& problem, bool by_element) {
  const std::size_t rank = problem.outputs.front().axes.size();
  if (rank == 0 || rank > k_most_axes || !have_one_shape(problem)) return {};
  const SmallRows rows(problem, by_element);
  const auto first = rows.cost_of_first();
  const auto apart = rows.cost_of_last(0);
  if (!first || !apart || *apart < k_little * *first) return {};
  std::uint32_t best = 0;
  for (std::uint32_t axes = 1; axes < 1U << rows.axes(); ++axes) {
    if (best != 0 && std::popcount(axes) >= std::popcount(best)) continue;
    const auto cost = rows.cost_of_last(axes);
    if (cost && *cost < k_little * *apart) best = axes;
  }
  std::vector<std::size_t> sharing;
  for (std::size_t i = 0; i < rows.axes(); ++i) {
    if ((best >> i & 1U) != 0) sharing.push_back(i);
  }
  return sharing;
}

AxisSlices::AxisSlices(const TensorSpec& output, const Axes& axes, const std::vector<std::size_t>& sharing,
                       bool by_element) {
  const auto extents = extents_of(output, axes);
  std::int64_t stride = 1;
  for (std::size_t i = extents.size() - (by_element ? 0 : 1); i-- > 0;) {
    const bool shared = std::ranges::find(sharing, i) != sharing.end();
    axes_.push_back({extents[i], stride, shared});
    stride *= extents[i];
    if (shared) count_ *= extents[i];
  }
}

std::int64_t AxisSlices::row_of(std::int64_t slice, std::int64_t place) const {
  std::int64_t row = 0;
  for (const Axis& axis : axes_) {
    std::int64_t& rest = axis.shared ? slice : place;
    row += rest % axis.extent * axis.stride;
    rest /= axis.extent;
  }
  return row;
}

}  // namespace kw
