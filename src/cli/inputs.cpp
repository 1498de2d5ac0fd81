#include "cli/inputs.hpp"

#include <algorithm>
#include <charconv>

#include "base/file_system.hpp"
#include "record/dispatch.hpp"
#include "spec/problem_mod.hpp"

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

constexpr std::int64_t k_max_module_bytes = std::int64_t{1} << 20;
constexpr std::int64_t k_max_bundle_bytes = std::int64_t{1} << 20;

/// "FILE.py:NAME" or "FILE.py:factory(1, 2)".
Result<Problem> with_mod_of(Problem problem, const std::string& mod, const FileSystem& files) {
  const auto colon = mod.rfind(".py:");
  if (colon == std::string::npos || colon + 4 == mod.size()) {
    return fail(Error{errc::command_line, fmt::format("--mod \"{}\" is not FILE.py:NAME", mod),
                      "write for example --mod masks.py:sliding_window"});
  }
  const auto file = mod.substr(0, colon + 3);
  KW_TRY(const auto text, files.read(file, k_max_module_bytes));
  return with_mod(std::move(problem), text, file, mod.substr(colon + 4));
}

}  // namespace

Result<Problem> read_problem(const ProblemInput& input) {
  const RealFileSystem files;
  KW_TRY(auto problem, load_problem(input.problem, files, problem_directories()));
  KW_TRY(problem, with_axes(std::move(problem), input.set));
  for (const auto& mod : input.mods) {
    KW_TRY(problem, with_mod_of(std::move(problem), mod, files));
  }
  return problem;
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
  KW_TRY(const auto text, files.read(path, k_max_bundle_bytes));
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
      Error{errc::command_line, fmt::format("--require-sandbox \"{}\" is no tier", text), "write none, a, b or c"});
}

}  // namespace kw
