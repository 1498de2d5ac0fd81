#include "cli/inputs.hpp"

#include <charconv>

#include "base/file_system.hpp"

namespace kw {

std::vector<std::filesystem::path> problem_directories() {
  std::vector<std::filesystem::path> directories = {"problems"};
  if (const auto here = executable_directory()) {
    directories.push_back(*here / "../share/kernelwright/problems");
    directories.push_back(*here / "../../../problems");  // build/<preset>/bin
  }
  return directories;
}

Result<Problem> read_problem(const std::string& path_or_name, const std::vector<std::string>& set) {
  const RealFileSystem files;
  KW_TRY(auto problem, load_problem(path_or_name, files, problem_directories()));
  for (const auto& assignment : set) {
    KW_TRY(problem, with_axis(std::move(problem), assignment));
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

Result<SandboxTier> read_tier(const std::string& text) {
  for (const auto tier : {SandboxTier::none, SandboxTier::a, SandboxTier::b, SandboxTier::c}) {
    if (text == to_string(tier)) return tier;
  }
  return fail(
      Error{errc::command_line, fmt::format("--require-sandbox \"{}\" is no tier", text), "write none, a, b or c"});
}

}  // namespace kw
