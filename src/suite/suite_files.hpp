#pragma once
// Writes what a suite leaves beside its state: the page and its Markdown, results.json and eval_results.json. Each is
// replaced whole, so that a reader sees the old one or the new one.

#include <span>

#include "base/file_system.hpp"
#include "suite/suite_directory.hpp"
#include "suite/suite_figures.hpp"

namespace kw {

[[nodiscard]] Result<void> write_suite_files(const SuiteDirectory& directory, const SuiteState& state,
                                             std::span<const SuiteBaseline> others, FileSystem& files);

}  // namespace kw
