#pragma once
// The attention styles for CUDA and HIP, as codegen.cpp registers them. Style says what each function promises.

#include <vector>

#include "codegen/codegen.hpp"
#include "codegen/dialect.hpp"

namespace kw {

/// Both styles are written in CUDA C++ or in HIP C++, whichever `dialect` is; their seeds and estimates go by the
/// device alone.
[[nodiscard]] Result<Bundle> emit_attention_gpu_plain(Dialect dialect, const Problem& problem);
[[nodiscard]] std::vector<IntBindings> seeds_attention_gpu_plain(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_gpu_plain(const Problem& problem, const DeviceFacts& device,
                                                  const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_gpu_simt();
[[nodiscard]] Result<Bundle> emit_attention_gpu_simt(Dialect dialect, const Problem& problem, const DeviceFacts& device,
                                                     const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_gpu_simt(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_gpu_simt(const Problem& problem, const DeviceFacts& device,
                                                 const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_cuda_mma();
[[nodiscard]] Result<Bundle> emit_attention_cuda_mma(const Problem& problem, const DeviceFacts& device,
                                                     const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_mma(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_mma(const Problem& problem, const DeviceFacts& device,
                                                 const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_cuda_wgmma();
[[nodiscard]] Result<Bundle> emit_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device,
                                                       const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_wgmma(const Problem& problem, const DeviceFacts& device,
                                                   const IntBindings& assignment);

}  // namespace kw
