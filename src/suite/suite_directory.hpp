#pragma once
// The one place that knows where a suite's files lie. `root` is --out; the archive and the runs' folders lie there as
// `optimize` has them (loop/run_directory.hpp).

#include <filesystem>
#include <string>

namespace kw {

class SuiteDirectory {
 public:
  explicit SuiteDirectory(std::filesystem::path root) : root_(std::move(root)) {}
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path state() const { return root_ / "suite.json"; }
  /// Held by the process that carries out the suite.
  [[nodiscard]] std::filesystem::path lock_file() const { return root_ / "suite.lock"; }
  [[nodiscard]] std::filesystem::path page() const { return root_ / "index.html"; }
  [[nodiscard]] std::filesystem::path markdown() const { return root_ / "index.md"; }
  [[nodiscard]] std::filesystem::path results() const { return root_ / "results.json"; }
  /// KernelBench numbers problems anew in each level: of several, each has a folder.
  [[nodiscard]] std::filesystem::path eval_results(std::int64_t level, bool one_level) const {
    return one_level ? root_ / "eval_results.json" : root_ / ("level" + std::to_string(level)) / "eval_results.json";
  }
  /// Of a run's report, relative to the page.
  [[nodiscard]] static std::string report_link(const std::string& run_id) { return run_id + "/report.html"; }

 private:
  std::filesystem::path root_;
};

}  // namespace kw
