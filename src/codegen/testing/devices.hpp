#pragma once
// Made-up devices for tests, so that what is emitted does not depend on the machine the tests run on.

#include "hardware/device_facts.hpp"
#include "hardware/gpu_arch.hpp"

namespace kw {

/// Two cores of the class the measurements in docs/results were taken on.
inline DeviceFacts avx512_device() {
  DeviceFacts facts;
  facts.id = "opencl:0";
  facts.target = "opencl";
  facts.name = "a CPU with AVX-512";
  facts.compute_units = 2;
  facts.max_block_items = 4096;
  facts.shared_bytes_per_block = std::int64_t{1} << 20;
  facts.memory_bytes = std::int64_t{8} << 30;
  facts.last_level_cache_bytes = std::int64_t{32} << 20;
  facts.l2_cache_bytes = std::int64_t{1} << 20;
  facts.l1_cache_bytes = std::int64_t{32} << 10;
  facts.vector_floats = 16;
  return facts;
}

inline DeviceFacts avx2_device() {
  DeviceFacts facts = avx512_device();
  facts.vector_floats = 8;
  return facts;
}

inline DeviceFacts sse_device() {
  DeviceFacts facts = avx512_device();
  facts.vector_floats = 4;
  return facts;
}

/// A GPU of one architecture with as many units as a data centre's has.
inline DeviceFacts gpu_device(std::string_view arch) {
  DeviceFacts facts = gpu_arch_facts(find_gpu_arch(arch).value());
  facts.name = "a GPU of " + facts.gpu->arch;
  facts.compute_units = 132;
  facts.memory_bytes = std::int64_t{80} << 30;
  facts.l2_cache_bytes = std::int64_t{50} << 20;
  facts.last_level_cache_bytes = facts.l2_cache_bytes;
  return facts;
}

inline DeviceFacts h200_device() {
  return gpu_device("sm_90a");
}

}  // namespace kw
