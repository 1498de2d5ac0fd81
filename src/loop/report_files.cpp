#include "loop/run_directory.hpp"
#include "report/report.hpp"

namespace kw {

Result<void> write_report_files(const RunDirectory& directory, const RunRecord& run,
                                const std::vector<Attempt>& attempts, const std::vector<Turn>& turns,
                                FileSystem& files) {
  const auto model = build_report(run, attempts, turns);
  KW_TRY_VOID(files.write_atomic(directory.report_html(), to_html(model)));
  KW_TRY_VOID(files.write_atomic(directory.report_markdown(), to_markdown(model)));
  return files.write_atomic(directory.report_json(), to_json(model));
}

}  // namespace kw
