#pragma once
// Writes a run's report in all its forms into the run's folder.

#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "loop/run_directory.hpp"
#include "record/run_record.hpp"

namespace kw {

[[nodiscard]] Result<void> write_report_files(const RunDirectory& directory, const RunRecord& run,
                                              const std::vector<Attempt>& attempts, FileSystem& files);

}  // namespace kw
