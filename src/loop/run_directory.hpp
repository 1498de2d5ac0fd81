#pragma once
// The one place that knows where a run's files lie. `root` is --out (default: kw-runs); it holds one archive for all
// runs and one folder per run.

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "language/language.hpp"
#include "record/run_record.hpp"
#include "record/turn.hpp"

namespace kw {

class RunDirectory {
 public:
  RunDirectory(std::filesystem::path root, const std::string& run_id) : root_(std::move(root)), run_(root_ / run_id) {}

  [[nodiscard]] static std::filesystem::path archive(const std::filesystem::path& root) { return root / "archive.db"; }
  [[nodiscard]] const std::filesystem::path& folder() const { return run_; }
  /// The best kernel so far, replaced atomically whenever a better one is found; accepted by `kernelwright verify`.
  [[nodiscard]] std::filesystem::path best_bundle(const std::string& target) const {
    const Language* language = find_language(target);
    return run_ / ("best." + (language == nullptr ? target : std::string(language->extension)));
  }
  /// Locked by the process that carries out the run.
  [[nodiscard]] std::filesystem::path lock_file() const { return run_ / "run.lock"; }
  [[nodiscard]] std::filesystem::path report_html() const { return run_ / "report.html"; }
  [[nodiscard]] std::filesystem::path report_markdown() const { return run_ / "report.md"; }
  [[nodiscard]] std::filesystem::path report_json() const { return run_ / "report.json"; }

 private:
  std::filesystem::path root_;
  std::filesystem::path run_;
};

[[nodiscard]] Result<void> write_report_files(const RunDirectory& directory, const RunRecord& run,
                                              const std::vector<Attempt>& attempts, const std::vector<Turn>& turns,
                                              FileSystem& files);

}  // namespace kw
