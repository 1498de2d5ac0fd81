#include "suite/suite_files.hpp"

#include "report/report.hpp"
#include "suite/eval_results.hpp"
#include "suite/suite_report.hpp"

namespace kw {

Result<void> write_suite_files(const SuiteDirectory& directory, const SuiteState& state,
                               std::span<const SuiteBaseline> others, FileSystem& files) {
  const SuiteFigures figures = figures_of(state, others);
  const std::string folder = directory.root().filename().string();
  const auto model = build_suite_report(state, figures, others, folder);
  KW_TRY_VOID(files.write_atomic(directory.page(), to_html(model)));
  KW_TRY_VOID(files.write_atomic(directory.markdown(), to_markdown(model)));
  KW_TRY_VOID(files.write_atomic(directory.results(), suite_results_json(state, figures)));
  const auto levels = eval_results(state);
  for (const auto& [level, text] : levels) {
    const auto path = directory.eval_results(level, levels.size() == 1);
    KW_TRY_VOID(files.create_directories(path.parent_path()));
    KW_TRY_VOID(files.write_atomic(path, text));
  }
  return {};
}

}  // namespace kw
