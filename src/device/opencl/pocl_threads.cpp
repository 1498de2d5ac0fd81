#include "device/opencl/pocl_threads.hpp"

#include <unistd.h>

#include <cstdlib>

namespace kw::opencl {

bool can_bind_threads(const cpu_set_t& allowed, long online) {
  if (CPU_COUNT(&allowed) != online) return false;
  for (long processor = 0; processor < online; ++processor) {
    if (CPU_ISSET(static_cast<std::size_t>(processor), &allowed) == 0) return false;
  }
  return true;
}

void bind_pocl_threads() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (can_bind_threads(allowed, ::sysconf(_SC_NPROCESSORS_ONLN))) ::setenv("POCL_AFFINITY", "1", 1);
}

}  // namespace kw::opencl
