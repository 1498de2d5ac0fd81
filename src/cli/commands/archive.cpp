// kernelwright archive: finds damage in an archive, sets it aside, and writes runs out for other programs.

#include "archive/archive.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "archive/check.hpp"
#include "archive/export.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/print.hpp"
#include "loop/run_directory.hpp"

namespace kw {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ArchiveState& state) {
  Json damage = Json::array();
  for (const auto& one : state.damage) {
    damage.push_back({{"run_id", one.run_id.empty() ? Json(nullptr) : Json(one.run_id)}, {"what", one.what}});
  }
  return {{"runs", state.whole},
          {"attempts", state.attempts},
          {"turns", state.turns},
          {"damaged_runs", state.damaged_runs()},
          {"damage", damage}};
}

void print_json(const Json& json) {
  std::fputs((json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n").c_str(), stdout);
}

void print_state(const std::filesystem::path& file, const ArchiveState& state) {
  print_text("archive  {}\n", file.string());
  print_text("whole    {} runs, {} attempts, {} turns\n", state.whole.size(), state.attempts, state.turns);
  print_text("damaged  {} runs\n", state.damaged_runs().size());
  for (const auto& one : state.damage) print_text("  {}\n", one.what);
}

/// 20261120T090000Z: as part of a file's name.
std::string stamp_of_now() {
  std::string stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return stamp;
}

/// Standard output, or a file that takes its name when it is complete.
class LineFile {
 public:
  [[nodiscard]] static Result<LineFile> open(const std::filesystem::path& path) {
    if (path.empty()) return LineFile(stdout, path);
    std::FILE* const stream = std::fopen((path.string() + ".part").c_str(), "we");
    if (stream == nullptr) return fail(errc::io, "cannot write {}: {}", path.string(), std::strerror(errno));
    return LineFile(stream, path);
  }
  Result<void> write(std::string_view line) {
    const bool written = std::fwrite(line.data(), 1, line.size(), stream_.get()) == line.size();
    return written && std::fputc('\n', stream_.get()) != EOF ? Result<void>() : failed();
  }
  Result<void> finish() {
    if (std::fflush(stream_.get()) != 0) return failed();
    if (path_.empty()) return {};
    std::error_code error;
    std::filesystem::rename(path_.string() + ".part", path_, error);
    return error ? Result<void>(fail(errc::io, "cannot write {}: {}", path_.string(), error.message()))
                 : Result<void>();
  }

 private:
  struct Close {
    void operator()(std::FILE* stream) const {
      if (stream != stdout) (void)std::fclose(stream);
    }
  };
  LineFile(std::FILE* stream, std::filesystem::path path) : stream_(stream), path_(std::move(path)) {}
  [[nodiscard]] tl::unexpected<Error> failed() const {
    const ErrorCode code = errno == ENOSPC ? errc::disk_full : errc::io;
    return fail(code, "cannot write {}: {}", path_.empty() ? "standard output" : path_.string(), std::strerror(errno));
  }

  std::unique_ptr<std::FILE, Close> stream_;
  std::filesystem::path path_;
};

/// Those that were asked for, or all, oldest first.
Result<std::vector<RunRecord>> runs_to_export(const Archive& archive, const std::vector<std::string>& asked) {
  std::vector<RunRecord> runs;
  for (const auto& id : asked) {
    KW_TRY(auto run, archive.run(id));
    runs.push_back(std::move(run));
  }
  if (!asked.empty()) return runs;
  KW_TRY(runs, archive.runs());
  std::reverse(runs.begin(), runs.end());
  return runs;
}

}  // namespace

Result<ExitCode> run_archive_check(const ArchiveCheckOptions& options) {
  const auto file = RunDirectory::archive(options.out);
  KW_TRY(const auto state, check_archive(file));
  if (options.json) {
    print_json(to_json(state));
  } else {
    print_state(file, state);
    if (!state.damage.empty()) print_text("{}\n", damage_hint(file));
  }
  return state.damage.empty() ? ExitCode::success : ExitCode::internal;
}

Result<ExitCode> run_archive_repair(const ArchiveRepairOptions& options) {
  const auto file = RunDirectory::archive(options.out);
  KW_TRY(const auto repair, repair_archive(file, stamp_of_now()));
  if (options.json) {
    Json json = to_json(repair.state);
    json["kept"] = repair.kept.empty() ? Json(nullptr) : Json(repair.kept.string());
    print_json(json);
    return ExitCode::success;
  }
  print_state(file, repair.state);
  if (repair.kept.empty()) {
    print_text("nothing is damaged, and nothing was changed\n");
  } else {
    print_text("kept     {}\nThe archive holds the whole runs now. The damaged ones are in the kept file alone.\n",
               repair.kept.string());
  }
  return ExitCode::success;
}

Result<ExitCode> run_archive_export(const ArchiveExportOptions& options) {
  KW_TRY(const auto archive, open_archive(RunDirectory::archive(options.out), {.read_only = true}));
  KW_TRY(const auto runs, runs_to_export(*archive, options.runs));
  KW_TRY(auto lines, LineFile::open(options.to));
  for (const auto& run : runs) {
    auto exported = export_run(*archive, run, [&](std::string_view line) { return lines.write(line); });
    const bool passed_over = !exported && exported.error().code == errc::archive_corrupt && options.runs.empty();
    if (!exported && !passed_over) return fail(std::move(exported).error());
  }
  KW_TRY_VOID(lines.finish());
  warn_of_damage(*archive);
  return ExitCode::success;
}

}  // namespace kw
