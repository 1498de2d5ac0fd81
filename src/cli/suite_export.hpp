#pragma once
// The kernels of a suite as files for KernelBench's own script (suite/model_new.hpp).

#include <filesystem>

#include "archive/archive.hpp"
#include "base/file_system.hpp"
#include "suite/suite_state.hpp"

namespace kw {

/// One file for each solved row that is a module, at the sizes that its file says; names it in the row. A row that
/// cannot be exported gets a remark that says why. Errors: the folder or the archive.
[[nodiscard]] Result<void> export_kernels(SuiteState& state, const std::filesystem::path& folder,
                                          const Archive& archive, FileSystem& files);

}  // namespace kw
