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

/// What the last element takes after the first, where it takes the first one's place on `shared` axes.
std::optional<double> cost_when_alike(const Problem& problem, const Workload& workload, std::uint32_t shared) {
  const auto extents = extents_of(problem.outputs.front(), workload.axes);
  std::int64_t other = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    other = other * extents[i] + ((shared >> i & 1U) != 0 ? 0 : extents[i] - 1);
  }
  const std::size_t value = program_detail(problem).outputs.front();
  const TwoRows two = {std::vector{WantedElements{value, {0}}}, std::vector{WantedElements{value, {other}}}};
  const auto cost = elements_asked_for(checked_program(problem, workload.axes)->graph, two, k_most_elements);
  return cost ? std::optional(*cost) : std::nullopt;
}

bool have_one_shape(const Problem& problem) {
  return std::ranges::all_of(problem.outputs,
                             [&](const TensorSpec& output) { return output.axes == problem.outputs.front().axes; });
}

}  // namespace

std::vector<std::size_t> shared_axes(const Problem& problem) {
  const std::size_t rank = problem.outputs.front().axes.size();
  if (rank == 0 || rank > k_most_axes || !have_one_shape(problem)) return {};
  const Workload& workload = *telling_workload(problem);
  const auto apart = cost_when_alike(problem, workload, 0);
  std::uint32_t best = 0;
  for (std::uint32_t axes = 1; apart && axes + 1 < 1U << rank; ++axes) {
    if (best != 0 && std::popcount(axes) >= std::popcount(best)) continue;
    const auto cost = cost_when_alike(problem, workload, axes);
    if (cost && *cost < k_little * *apart) best = axes;
  }
  std::vector<std::size_t> sharing;
  for (std::size_t i = 0; i < rank; ++i) {
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
