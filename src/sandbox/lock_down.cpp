#include <sys/prctl.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "sandbox/heap_reserve.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/plan_child.hpp"
#include "sandbox/sandbox.hpp"
#include "sandbox/system_calls.hpp"

namespace kw {

Result<void> lock_down_for_kernels(const KernelRights& rights) {
  KW_TRY_VOID(reserve_heap());
  // First, because the other one allows no further filter.
  FilterBuilder bounds;
  add_bounds_of_arena(bounds, rights.arena);
  KW_TRY_VOID(bounds.load_on_all_threads());
  FilterBuilder left(Others::denied);
  add_rules_for_loaded_kernels(left, rights);
  return left.load_on_all_threads();
}

Result<void> lock_down(OpenForWriting open) {
  FilterBuilder filter;
  add_lock_down_rules(filter, open);
  return filter.load_on_all_threads();
}

Result<void> restrict_own_paths(SandboxSpec spec) {
  std::error_code error;
  spec.program = std::filesystem::canonical("/proc/self/exe", error);
  const char* directory = std::getenv("TMPDIR");
  if (error || directory == nullptr) return fail(errc::sandbox_failed, "the worker does not know where it runs");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errc::sandbox_failed, "privileges cannot be refused");
  if (const int refused = restrict_paths(plan_paths(spec, directory)); refused != 0) {
    return fail(errc::sandbox_failed, "restricting paths was refused: {}", std::strerror(refused));
  }
  return {};
}

}  // namespace kw
