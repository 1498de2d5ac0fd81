#include "cli/inputs.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/file_system.hpp"
#include "cli/program_input.hpp"
#include "mod/frontend/module_files.hpp"
#include "problem/file/problem_mod.hpp"
#include "problem/file/problem_tensors.hpp"
#include "problem/operator.hpp"
#include "record/bundle_limits.hpp"
#include "record/dispatch.hpp"

namespace kw {

std::vector<std::filesystem::path> problem_directories() {
  std::vector<std::filesystem::path> directories = {"problems"};
  if (const auto here = executable_directory()) {
    directories.push_back(*here / "../share/kernelwright/problems");
    directories.push_back(*here / "../../../problems");  // build/<preset>/bin
  }
  return directories;
}

namespace {

/// "FILE.py:NAME" or "FILE.py:factory(1, 2)".
Result<Problem> with_mod_of(Problem problem, const std::string& mod, const FileSystem& files) {
  const auto colon = mod.rfind(".py:");
  if (colon == std::string::npos || colon + 4 == mod.size()) {
    return fail(Error{errc::command_line, fmt::format("--mod \"{}\" is not FILE.py:NAME", mod),
                      "write for example --mod masks.py:sliding_window"});
  }
  const auto file = mod.substr(0, colon + 3);
  KW_TRY(const auto text, files.read(file, k_max_mod_file_bytes));
  return with_mod(std::move(problem), text, file, mod.substr(colon + 4), &files);
}

/// Where load_problem() found the problem.
std::filesystem::path file_of(const std::string& problem, const FileSystem& files) {
  for (const auto& directory : problem_directories()) {
    auto path = directory / (problem + ".toml");
    if (!problem.ends_with(".toml") && files.exists(path)) return path;
  }
  return problem;
}

/// The Python text of each function that the problem's operator was given, by role.
std::map<std::string, std::string> texts_of(const Problem& problem) {
  std::map<std::string, std::string> texts;
  for (const auto& given : operator_of(problem).format.functions(problem)) {
    texts.emplace(given.role, given.function->source);
  }
  return texts;
}

/// Applies every --mod; two of the same role would leave one without effect.
Result<Problem> with_mods_of(Problem problem, const std::vector<std::string>& mods, const FileSystem& files) {
  std::map<std::string, std::string> given;
  for (const auto& mod : mods) {
    auto before = texts_of(problem);
    KW_TRY(problem, with_mod_of(std::move(problem), mod, files));
    for (const auto& [role, text] : texts_of(problem)) {
      if (before[role] == text) continue;
      const auto [other, first] = given.emplace(role, mod);
      if (first) continue;
      return fail(Error{errc::command_line,
                        fmt::format("--mod \"{}\" and --mod \"{}\" are both a {}", other->second, mod, role),
                        role == "mask_mod" ? "join them, as in --mod masks.py:'and_masks(first, second)'"
                                           : "write one function that calls both"});
    }
  }
  return problem;
}

}  // namespace

Result<Problem> read_problem(const ProblemInput& input) {
  if (names_a_program(input.problem)) return read_module_problem(input);
  if (!input.mode.empty()) {
    return fail(Error{errc::command_line, "--mode is for modules, not for problem files", "leave it out"});
  }
  if (!input.precision.empty()) {
    return fail(Error{errc::command_line, "--precision is for modules, not for problem files",
                      "write precision = \"...\" into its table [program], or leave it out"});
  }
  const RealFileSystem files;
  KW_TRY(auto problem, load_problem(input.problem, files, problem_directories()));
  KW_TRY(problem, with_tensors(std::move(problem), file_of(input.problem, files).string(), input.tensors, files));
  KW_TRY(problem, with_axes(std::move(problem), input.set));
  return with_mods_of(std::move(problem), input.mods, files);
}

Result<IntBindings> read_assignments(const std::vector<std::string>& texts, const std::string& option) {
  IntBindings bindings;
  for (const auto& text : texts) {
    const std::size_t equals = text.find('=');
    std::int64_t value = 0;
    const char* last = text.data() + text.size();
    const char* first = equals == std::string::npos ? last : text.data() + equals + 1;
    const auto [end, error] = std::from_chars(first, last, value);
    if (equals == 0 || error != std::errc{} || end != last) {
      return fail(Error{errc::command_line, fmt::format("{} \"{}\" is not NAME=INTEGER", option, text),
                        fmt::format("write for example {} ROWS=4", option)});
    }
    bindings[text.substr(0, equals)] = value;
  }
  return bindings;
}

Result<std::vector<std::string>> read_conditions(const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    const auto checked = check_int_expr(text);
    if (checked) continue;
    return fail(Error{errc::command_line, fmt::format("--when \"{}\": {}", text, checked.error().message),
                      "write an expression of axes and device facts, such as 'Skv >= 4096'"});
  }
  return texts;
}

Result<Bundle> read_bundle(const std::filesystem::path& path) {
  const RealFileSystem files;
  KW_TRY(const auto text, files.read(path, bundle_format::k_max_text_bytes));
  return parse_bundle(text, path.string());
}

Result<std::size_t> write_with_row(const Bundle& bundle, DispatchRow row, const std::filesystem::path& path) {
  const DispatchRow added = row;
  const Bundle changed = with_row(bundle, std::move(row));
  const std::string text = changed.to_text();
  KW_TRY_VOID(parse_bundle(text, path.string()));
  RealFileSystem files;
  KW_TRY_VOID(files.write_atomic(path, text));
  const auto found = std::find(changed.dispatch.begin(), changed.dispatch.end(), added);
  return static_cast<std::size_t>(found - changed.dispatch.begin());
}

Result<Candidate> read_candidate(const std::filesystem::path& bundle, const std::vector<std::string>& tune) {
  KW_TRY(auto parsed, read_bundle(bundle));
  KW_TRY(const auto assignments, read_assignments(tune, "--tune"));
  return make_candidate(std::move(parsed), assignments);
}

Result<SandboxTier> read_tier(const std::string& text) {
  for (const auto tier : {SandboxTier::none, SandboxTier::a, SandboxTier::b, SandboxTier::c}) {
    if (text == to_string(tier)) return tier;
  }
  return fail(
      Error{errc::command_line, fmt::format("--require-sandbox \"{}\" is not a tier", text), "write none, a, b or c"});
}

}  // namespace kw
