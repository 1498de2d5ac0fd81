#pragma once
// The attention styles for CUDA, as codegen.cpp registers them. Style says what each function promises.

#include <vector>

#include "codegen/codegen.hpp"

namespace kw {

[[nodiscard]] Result<Bundle> emit_attention_cuda_plain(const Problem& problem, const DeviceFacts& device,
                                                       const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_plain(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_plain(const Problem& problem, const DeviceFacts& device,
                                                   const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_cuda_simt();
[[nodiscard]] Result<Bundle> emit_attention_cuda_simt(const Problem& problem, const DeviceFacts& device,
                                                      const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_simt(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_simt(const Problem& problem, const DeviceFacts& device,
                                                  const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_cuda_mma();
[[nodiscard]] Result<Bundle> emit_attention_cuda_mma(const Problem& problem, const DeviceFacts& device,
                                                     const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_mma(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_mma(const Problem& problem, const DeviceFacts& device,
                                                 const IntBindings& assignment);

}  // namespace kw
