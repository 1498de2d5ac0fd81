#pragma once
// PoCL asks the loader for a kernel's shared library at two moments that do not suit us. It loads it as soon as it has
// compiled it, though a process that builds never runs one: what a library has run when it is loaded would run before
// anybody has looked through it, with the rights of a build. And it opens the file again at the first launch, when the
// process has given up opening files. PoCL 3.1 has no setting for either, so the entries by which its own libraries
// reach dlopen and dlsym are redirected to this folder. Rejected: functions of these names in the worker, which all
// drivers would call; the loader would then take the worker for the caller, whose search path is another one (NVRTC
// finds its parts by its own).

#include <filesystem>

#include "base/result.hpp"

namespace kw::opencl {

/// To be called when the driver is loaded, before it builds anything; again does no harm. errc::device_refused when
/// PoCL's libraries do not reach the loader in the way known here: then they must not build.
[[nodiscard]] Result<void> redirect_loading_of_pocl();

/// Loads the shared library of a compiled kernel; it stays. From then on PoCL finds it in memory, without a file being
/// opened, by this path and by those of its other variants. Before the first launch: launches read what it notes.
/// errc::device_refused with what the loader says.
[[nodiscard]] Result<void> load_kernel(const std::filesystem::path& library);

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
