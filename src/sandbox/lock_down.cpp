#include "sandbox/sandbox.hpp"
#include "sandbox/system_calls.hpp"

namespace kw {

Result<void> lock_down(OpenForWriting open) {
  FilterBuilder filter;
  add_lock_down_rules(filter, open);
  return filter.load_on_all_threads();
}

}  // namespace kw
