#include "cli/suite_export.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/inputs.hpp"
#include "cli/program_input.hpp"
#include "cli/suite_problem.hpp"
#include "problem/problem.hpp"
#include "record/launch_plan.hpp"
#include "suite/model_new.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_module_bytes = std::int64_t{1} << 20;

/// KernelBench looks for this name.
std::string export_name(const SuiteItem& item) {
  if (item.level && item.id) return fmt::format("level_{}_problem_{}_sample_0_kernel.py", *item.level, *item.id);
  std::string name = item.name;
  std::replace(name.begin(), name.end(), '/', '_');
  return name + "_kernel.py";
}

std::string file_of_module(const std::string& input) {
  const auto mark = input.rfind(".py:");
  return mark == std::string::npos ? input : input.substr(0, mark + 3);
}

/// The problem with the extents of its file, for which a run may have been too small.
Result<Problem> at_own_sizes(Problem problem, const Program& program) {
  std::vector<std::string> assignments;
  for (const auto& axis : program.axes) {
    const auto now = problem.primary().axes.find(axis.name);
    if (now == problem.primary().axes.end() || now->second == axis.extent) continue;
    assignments.push_back(fmt::format("{}={}", axis.name, axis.extent));
  }
  return with_axes(std::move(problem), assignments);
}

std::vector<std::string> comments_for(const SuiteRow& row, const RunRecord& run) {
  std::vector<std::string> comments{
      fmt::format("Problem {}, run {}, verified on {}.", row.item.name, run.id, run.device.name)};
  for (const auto& remark : row.remarks) comments.push_back("In that run: " + remark + ".");
  if (row.is_smaller)
    comments.emplace_back("This file launches it at the module's own sizes, where it was not verified.");
  return comments;
}

Result<std::string> exported_text(const SuiteRow& row, const SuiteSettings& settings, const Archive& archive,
                                  const FileSystem& files) {
  if (!names_a_program(row.item.input)) {
    return fail(Error{errc::suite_export, "a problem file is no module", "export modules"});
  }
  KW_TRY(auto read, read_suite_problem(row, settings));
  ProblemInput input;
  input.problem = row.item.input;
  input.mode = settings.mode;
  KW_TRY(const auto program, read_program_input(input));
  KW_TRY(const auto problem, at_own_sizes(std::move(read.problem), program));
  KW_TRY(auto bundle, read_bundle(row.best_path));
  KW_TRY(const auto run, archive.run(row.run_id));
  KW_TRY(const auto candidate, make_candidate(std::move(bundle)));
  const Axes& axes = problem.primary().axes;
  ModelNewRequest request{"", program, problem, axes, candidate.bundle, {}, {}, comments_for(row, run)};
  KW_TRY(request.module_text, files.read(file_of_module(row.item.input), k_max_module_bytes));
  // The file is for a machine of its own; what a simulator or this one has of memory is no bound there.
  DeviceFacts device = run.device;
  device.memory_bytes = 0;
  KW_TRY(request.plan, plan_launches(candidate, problem, axes, device));
  KW_TRY(request.definitions, build_definitions(candidate, axes, device));
  return model_new_text(request);
}

}  // namespace

Result<void> export_kernels(SuiteState& state, const std::filesystem::path& folder, const Archive& archive,
                            FileSystem& files) {
  KW_TRY_VOID(files.create_directories(folder));
  for (auto& row : state.rows) {
    if (row.status != SuiteStatus::solved) continue;
    constexpr const char* k_not_exported = "not exported: ";
    std::erase_if(row.remarks, [](const std::string& remark) { return remark.starts_with(k_not_exported); });
    const auto text = exported_text(row, state.settings, archive, files);
    if (!text) {
      row.remarks.push_back(k_not_exported + text.error().message);
      continue;
    }
    row.exported = export_name(row.item);
    KW_TRY_VOID(files.write_atomic(folder / row.exported, *text));
  }
  return {};
}

}  // namespace kw
