// kernelwright show: the report of an archived run.

#include <unistd.h>

#include <cstdio>

#include "archive/archive.hpp"
#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "loop/run_directory.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"

namespace kw {

Result<ExitCode> run_show(const ShowOptions& options) {
  ArchiveOptions read_only;
  read_only.read_only = true;
  KW_TRY(const auto archive, open_archive(RunDirectory::archive(options.out), read_only));
  KW_TRY(const auto run, archive->run(options.run));
  KW_TRY(const auto attempts, archive->attempts(run.id));
  KW_TRY(const auto turns, archive->turns(run.id));
  const auto model = build_report(run, attempts, turns);
  std::string text;
  if (options.format == "markdown") text = to_markdown(model);
  if (options.format == "json") text = to_json(model);
  if (options.format == "html") text = to_html(model);
  if (options.format == "text") text = to_terminal(model, isatty(STDOUT_FILENO) == 1);
  std::fputs(text.c_str(), stdout);
  warn_of_damage(*archive);
  return ExitCode::success;
}

}  // namespace kw
