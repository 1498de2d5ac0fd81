#include "sandbox/sandbox.hpp"
#include "sandbox/system_calls.hpp"

namespace kw {

Result<void> lock_down() {
  FilterBuilder filter;
  add_lock_down_rules(filter);
  return filter.load_on_all_threads();
}

}  // namespace kw
