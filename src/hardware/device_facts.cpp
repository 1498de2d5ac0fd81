#include "hardware/device_facts.hpp"

namespace kw {

std::map<std::string, std::int64_t, std::less<>> DeviceFacts::bindings() const {
  std::map<std::string, std::int64_t, std::less<>> names = {{"compute_units", compute_units},
                                                            {"max_block_items", max_block_items},
                                                            {"shared_bytes_per_block", shared_bytes_per_block},
                                                            {"vector_floats", vector_floats},
                                                            {"l1_cache_bytes", l1_cache_bytes},
                                                            {"l2_cache_bytes", l2_cache_bytes}};
  if (gpu) {
    names.insert({{"warp_size", gpu->warp_size},
                  {"registers_per_unit", gpu->registers_per_unit},
                  {"registers_per_block", gpu->registers_per_block},
                  {"max_registers_per_thread", gpu->max_registers_per_thread},
                  {"shared_bytes_per_unit", gpu->shared_bytes_per_unit},
                  {"max_threads_per_unit", gpu->max_threads_per_unit},
                  {"max_blocks_per_unit", gpu->max_blocks_per_unit}});
  }
  return names;
}

}  // namespace kw
