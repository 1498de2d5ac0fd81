#include "target/kernel_headers.hpp"

#include <algorithm>

namespace kw {
namespace {

constexpr auto k_cuda = std::to_array<std::string_view>(
    {"cooperative_groups.h", "cuda_bf16.h", "cuda_fp16.h", "cuda_runtime.h", "math_constants.h", "mma.h"});
constexpr auto k_hip = std::to_array<std::string_view>(
    {"hip/hip_bf16.h", "hip/hip_cooperative_groups.h", "hip/hip_fp16.h", "hip/hip_runtime.h"});

}  // namespace

std::span<const std::string_view> language_headers(std::string_view target) {
  if (target == "cuda") return k_cuda;
  if (target == "hip") return k_hip;
  return {};
}

bool is_kernel_header(std::string_view target, std::string_view header) {
  const auto own = language_headers(target);
  const auto is_it = [&](std::string_view name) { return name == header; };
  return !own.empty() && (std::ranges::any_of(own, is_it) || std::ranges::any_of(k_c_headers, is_it));
}

}  // namespace kw
