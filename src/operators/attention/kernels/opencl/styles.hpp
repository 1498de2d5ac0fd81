#pragma once
// The attention styles for OpenCL, as codegen.cpp registers them. Style says what each function promises.

#include <vector>

#include "codegen/codegen.hpp"

namespace kw {

[[nodiscard]] Result<Bundle> emit_attention_opencl_plain(const Problem& problem, const DeviceFacts& device,
                                                         const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_opencl_plain(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_opencl_plain(const Problem& problem, const DeviceFacts& device,
                                                     const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_opencl_vector();
[[nodiscard]] Result<Bundle> emit_attention_opencl_vector(const Problem& problem, const DeviceFacts& device,
                                                          const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_opencl_vector(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_opencl_vector(const Problem& problem, const DeviceFacts& device,
                                                      const IntBindings& assignment);

}  // namespace kw
