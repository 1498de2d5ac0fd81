#pragma once
// The attention styles for CUDA and HIP, as codegen.cpp registers them. Style says what each function promises.

#include <vector>

#include "codegen/codegen.hpp"
#include "codegen/source_language.hpp"

namespace kw {

/// Both styles are written in CUDA C++ or in HIP C++, whichever `language` is; their seeds and estimates go by the
/// device alone.
[[nodiscard]] Result<Bundle> emit_attention_plain(SourceLanguage language, const Problem& problem);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_plain(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_plain(const Problem& problem, const DeviceFacts& device,
                                                   const IntBindings& assignment);

[[nodiscard]] std::vector<Tunable> structure_attention_cuda_simt();
[[nodiscard]] Result<Bundle> emit_attention_simt(SourceLanguage language, const Problem& problem,
                                                 const DeviceFacts& device, const IntBindings& structure);
[[nodiscard]] std::vector<IntBindings> seeds_attention_cuda_simt(const Problem& problem, const DeviceFacts& device);
[[nodiscard]] double estimate_attention_cuda_simt(const Problem& problem, const DeviceFacts& device,
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
