#pragma once
// What has to be known about PoCL's kernel cache, all in one place. PoCL 3.1 compiles each kernel to a shared object
// under $POCL_CACHE_DIR/XX/<hash>/<kernel>/<variant>/<kernel>.so. A program binary carries the generic variant "0-0-0",
// good for any work-group size, and clBuildProgram unpacks it. But a launch looks for the variant of its own size
// first, "<x>-<y>-<z>-goffs0-smallgrid" (without the suffix for grids wider than 65535), and when it is absent compiles
// it with LLVM and executes the system's linker: about 400 ms, and forbidden in the process that runs candidates.
// So the names the planned launches will look for are made links to the generic variant. With reqd_work_group_size in
// the source it is as fast as the specialised one. Rejected: POCL_BINARY_SPECIALIZE_WG while building, which packs both
// variants and took 1030 ms instead of 660 for the first build (2 cores, PoCL 3.1).

#include <filesystem>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "record/launch_plan.hpp"

namespace kw::opencl {

/// Points PoCL at a cache in this process's private directory ($TMPDIR). Call before the driver is loaded.
std::filesystem::path use_private_pocl_cache();

/// Gives every launched kernel found in `cache` the variants its launch looks for. Does nothing for a kernel whose
/// files do not lie as described above: then PoCL takes its slow path, if it is allowed to.
void reuse_generic_variants(const std::filesystem::path& cache, std::span<const PlannedLaunch> launches);

/// The shared libraries of all compiled kernels in `cache`, each once. errc::device_refused when it cannot be read.
[[nodiscard]] Result<std::vector<std::filesystem::path>> compiled_kernels(const std::filesystem::path& cache);

/// Loads every compiled kernel in `cache` into this process, where PoCL finds it at the first launch: the process may
/// have given up mapping code by then. They stay. errc::device_refused with what the loader says.
[[nodiscard]] Result<void> load_cached_kernels(const std::filesystem::path& cache);

/// Drops what earlier builds left, so that a long-lived build process does not fill the disk.
void clear_pocl_cache(const std::filesystem::path& cache);

}  // namespace kw::opencl
