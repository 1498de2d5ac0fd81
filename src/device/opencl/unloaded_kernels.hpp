#pragma once
// PoCL loads a kernel's shared library as soon as it has compiled it, though a process that builds never runs one. What
// a library has run when it is loaded would then run before anybody has looked through it, with the rights of a build.
// PoCL 3.1 has no setting for it, so the entries by which its own libraries reach dlopen and dlsym are redirected to
// this folder. Rejected: functions of these names in the worker, which all drivers would call; the loader would then
// take the worker for the caller, whose search path is another one (NVRTC finds its parts by its own).

#include "base/result.hpp"

namespace kw::opencl {

/// To be called when the driver is loaded, before it builds anything; again does no harm. errc::device_refused when
/// PoCL's libraries do not reach the loader in the way known here: then they must not build.
[[nodiscard]] Result<void> redirect_loading_of_pocl();

/// While one lives, PoCL loads nothing: whatever it opens is the program itself, and whatever it finds in there a
/// function that ends the process. One at a time.
class KernelsUnloaded {
 public:
  KernelsUnloaded();
  ~KernelsUnloaded();
  KernelsUnloaded(const KernelsUnloaded&) = delete;
  KernelsUnloaded& operator=(const KernelsUnloaded&) = delete;
};

}  // namespace kw::opencl
