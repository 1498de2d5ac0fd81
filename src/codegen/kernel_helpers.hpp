#pragma once
// Functions that printed mod expressions call: Python's rounding, sixteen-lane forms of what OpenCL lacks, and access
// to captured tensors. Only text; which of them a kernel needs is found while printing.

#include <set>
#include <string>
#include <vector>

#include "codegen/dialect.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// In the order of their definitions: a helper may call those before it.
enum class KernelHelper {
  floor_div,
  floor_mod,
  real_mod,
  real_floor_div,
  shift_left,
  shift_right,
  floor_div16,
  floor_mod16,
  real_mod16,
  real_floor_div16,
  shift_left16,
  shift_right16,
  tanh16,
  tanh_rational,
  to_bf16,
  to_bf16_16,
  nearest_index,
  nearest_index16,
  // one per element type, in the order of DType; see capture_helper
  gather16_f32,
  gather16_f16,
  gather16_i32,
  gather16_bool,
  gather16_bf16,
  load16_f32,
  load16_f16,
  load16_i32,
  load16_bool,
  load16_bf16,
  load16_down_f32,
  load16_down_f16,
  load16_down_i32,
  load16_down_bool,
  load16_down_bf16,
  lower_bound_f32,
  lower_bound_f16,
  lower_bound_i32,
  lower_bound_bool,
  lower_bound_bf16,
  upper_bound_f32,
  upper_bound_f16,
  upper_bound_i32,
  upper_bound_bool,
  upper_bound_bf16,
};

/// The member for elements of `dtype` of the family that begins with `first`, such as gather16_f32.
[[nodiscard]] KernelHelper capture_helper(KernelHelper first, DType dtype);

/// As the text calls it.
[[nodiscard]] std::string helper_name(KernelHelper helper);

/// Definitions of the helpers and of those that they call, in a fixed order. Sixteen-lane access to captures uses
/// LANE_INDEX, which the kernels define; those helpers exist in OpenCL C alone.
[[nodiscard]] std::string helper_source(std::set<KernelHelper> helpers, Dialect dialect = opencl_dialect());

/// A name of the user's as a name in a kernel: with an underscore behind it where a dialect, a function of its
/// library that we call or a local name of our kernels has taken it. Different names stay different.
[[nodiscard]] std::string kernel_name(const std::string& name);

/// As the text calls it; empty for helpers that have nothing to do with captures.
[[nodiscard]] std::string capture_helper_name(KernelHelper helper);
/// The definition; empty for helpers that have nothing to do with captures.
[[nodiscard]] std::string capture_helper_source(KernelHelper helper, Dialect dialect);
/// Helpers that this one calls.
[[nodiscard]] std::vector<KernelHelper> capture_helper_needs(KernelHelper helper);

}  // namespace kw
