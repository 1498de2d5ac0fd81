#include "cli/program_input.hpp"

#include "base/file_system.hpp"
#include "cli/inputs.hpp"
#include "program/reader/program_reader.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_program_bytes = std::int64_t{1} << 20;
constexpr std::string_view k_class_mark = ".py:";

Result<ProgramMode> read_mode(const std::string& mode) {
  if (mode.empty() || mode == to_string(ProgramMode::train)) return ProgramMode::train;
  if (mode == to_string(ProgramMode::eval)) return ProgramMode::eval;
  return fail(Error{errc::command_line, fmt::format("--mode \"{}\" is no mode", mode), "write train or eval"});
}

}  // namespace

bool names_a_program(const std::string& problem) {
  return problem.ends_with(".py") || problem.rfind(k_class_mark) != std::string::npos;
}

Result<Program> read_program_input(const ProblemInput& input, const std::string& mode) {
  if (!input.mods.empty() || !input.tensors.empty()) {
    return fail(Error{errc::command_line, "--mod and --tensor are for problem files, not for a module",
                      "write what the module computes into its file"});
  }
  ProgramOptions options;
  KW_TRY(options.mode, read_mode(mode));
  KW_TRY(const auto set, read_assignments(input.set, "--set"));
  options.set = {set.begin(), set.end()};
  std::string file = input.problem;
  if (const auto mark = file.rfind(k_class_mark); mark != std::string::npos) {
    options.class_name = file.substr(mark + k_class_mark.size());
    file.resize(mark + 3);
  }
  KW_TRY(const auto text, RealFileSystem().read(file, k_max_program_bytes));
  return read_program(text, file, options);
}

}  // namespace kw
