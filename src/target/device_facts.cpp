#include "target/device_facts.hpp"

namespace kw {

std::map<std::string, std::int64_t, std::less<>> DeviceFacts::bindings() const {
  return {{"compute_units", compute_units},
          {"max_block_items", max_block_items},
          {"shared_bytes_per_block", shared_bytes_per_block},
          {"vector_floats", vector_floats},
          {"l1_cache_bytes", l1_cache_bytes},
          {"l2_cache_bytes", l2_cache_bytes}};
}

}  // namespace kw
