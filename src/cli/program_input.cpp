#include "cli/program_input.hpp"

#include <unistd.h>

#include <limits>

#include "base/file_system.hpp"
#include "cli/inputs.hpp"
#include "problem/operator.hpp"
#include "program/graph/precision.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_program_bytes = std::int64_t{1} << 20;
constexpr std::string_view k_class_mark = ".py:";

Result<ProgramMode> read_mode(const std::string& mode) {
  if (mode.empty()) return ProgramMode::train;
  if (const auto named = program_mode_named(mode)) return *named;
  return fail(Error{errc::command_line, fmt::format("--mode \"{}\" is no mode", mode),
                    "write train or eval, or train_no_dropout for train with dropout as the identity"});
}

Result<void> check_precision(const std::string& precision) {
  if (precision.empty() || precision_named(precision)) return {};
  return fail(Error{errc::command_line, fmt::format("--precision \"{}\" is none", precision),
                    fmt::format("write {}", precision_names())});
}

struct LoadedModule {
  std::string text;
  std::string file;
  std::string class_name;  ///< empty where the command line names none
};

Result<LoadedModule> load_module(const ProblemInput& input) {
  if (!input.mods.empty() || !input.tensors.empty()) {
    return fail(Error{errc::command_line, "--mod and --tensor are for problem files, not for a module",
                      "write what the module computes into its file"});
  }
  LoadedModule module;
  module.file = input.problem;
  if (const auto mark = module.file.rfind(k_class_mark); mark != std::string::npos) {
    module.class_name = module.file.substr(mark + k_class_mark.size());
    module.file.resize(mark + 3);
  }
  KW_TRY(module.text, RealFileSystem().read(module.file, k_max_program_bytes));
  return module;
}

/// A run holds inputs and answers of some ten cases of the primary, in f32 and in float64, beside what its processes
/// hold.
ModuleLimits limits_of(const ProblemInput& input) {
  constexpr double k_share_of_memory = 1.0 / 128;
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  constexpr double k_any = std::numeric_limits<double>::infinity();
  return {input.runs_here ? k_share_of_memory * memory : k_any, input.most_steps > 0 ? input.most_steps : k_any};
}

}  // namespace

bool names_a_program(const std::string& problem) {
  return problem.ends_with(".py") || problem.rfind(k_class_mark) != std::string::npos;
}

Result<Program> read_program_input(const ProblemInput& input) {
  KW_TRY(auto module, load_module(input));
  ProgramOptions options;
  KW_TRY(options.mode, read_mode(input.mode));
  KW_TRY(const auto set, read_assignments(input.set, "--set"));
  options.set = {set.begin(), set.end()};
  if (!module.class_name.empty()) options.class_name = std::move(module.class_name);
  return read_program(module.text, module.file, options);
}

Result<Problem> read_module_problem(const ProblemInput& input) {
  KW_TRY(const auto module, load_module(input));
  KW_TRY_VOID(read_mode(input.mode));
  KW_TRY_VOID(check_precision(input.precision));
  const Operator* const found = find_operator("program");
  KW_CHECK(found != nullptr, "no operator computes modules");
  KW_TRY(const auto text, found->format.from_module({module.text, module.file, module.class_name, input.mode, input.set,
                                                     limits_of(input), input.precision}));
  return parse_problem(text, module.file);
}

}  // namespace kw
