#include "problem/axes.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tensor/int_expr.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_extent = std::int64_t{1} << 24;
constexpr std::int64_t k_max_elements = std::int64_t{1}
                                        << 38;  // 1 TiB of f32: beyond any device, within any arithmetic

Result<void> check_captures(const Problem& problem, const Axes& axes) {
  std::int64_t total = 0;
  for (const auto& capture : problem.captures) {
    const auto count = element_count(capture.tensor(), axes);
    if (!count || *count > k_max_captured_elements - total) {
      return fail(Error{errc::problem_value,
                        fmt::format("the captured tensors up to {} [{}] would have more than 2^26 elements",
                                    capture.declared.name, join(capture.declared.axes)),
                        "choose smaller axes, or compute the values in the mod"});
    }
    total += *count;
    KW_TRY_VOID(check_fixed_extents(capture, axes));
  }
  return {};
}

}  // namespace

std::vector<std::string> all_axes(const OperatorFormat& format, const Problem& problem) {
  auto axes = problem.own_axes;
  std::sort(axes.begin(), axes.end());
  axes.insert(axes.begin(), format.axes.begin(), format.axes.end());
  return axes;
}

Result<void> check_extent(std::string_view axis, std::int64_t extent) {
  if (extent >= 1 && extent <= k_max_extent) return {};
  return fail(Error{errc::problem_value, fmt::format("{} = {} is not within 1 to {}", axis, extent, k_max_extent)});
}

Result<void> derive_axes(const Problem& problem, Axes& axes) {
  for (const auto& derived : problem.derived_axes) {
    const auto extent = evaluate_int_expr(derived.extent, axes);
    if (!extent) {
      return fail(Error{errc::problem_value, fmt::format("axis {} = {} cannot be computed: {}", derived.name,
                                                         derived.extent, extent.error().message)});
    }
    KW_TRY_VOID(check_extent(derived.name, *extent));
    axes[derived.name] = *extent;
  }
  return {};
}

Result<void> check_axes(const OperatorFormat& format, const Problem& problem, const Axes& axes) {
  for (const auto& name : all_axes(format, problem)) KW_TRY_VOID(check_extent(name, axes.at(name)));
  KW_TRY_VOID(format.check_axes(problem, axes));
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const auto& tensor : *tensors) {
      const auto count = element_count(tensor, axes);
      if (count && *count <= k_max_elements) continue;
      return fail(
          Error{errc::problem_value,
                fmt::format("tensor {} [{}] would have more than 2^38 elements", tensor.name, join(tensor.axes)),
                "choose smaller axes"});
    }
  }
  return check_captures(problem, axes);
}

}  // namespace kw
