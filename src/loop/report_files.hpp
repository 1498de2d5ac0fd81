#pragma once
// Writes a run's report in all its forms into the run's folder.

#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "loop/run_directory.hpp"
#include "record/run_record.hpp"
#include "record/turn.hpp"

namespace kw {

[[nodiscard]] Result<void> write_report_files(const RunDirectory& directory, const RunRecord& run,
                                              const std::vector<Attempt>& attempts, const std::vector<Turn>& turns,
                                              FileSystem& files);

}  // namespace kw
