// kernelwright problems: what can be named.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"

namespace kw {
namespace {

struct Listed {
  std::string name;
  std::string description;
};

/// Every .toml below the problem directories, named by its path; the first directory that has a name wins.
std::vector<std::string> names_on_disk() {
  std::set<std::string> names;
  for (const auto& directory : problem_directories()) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator it(directory, error), end; it != end; it.increment(error)) {
      if (error) break;
      if (it->path().extension() != ".toml") continue;
      names.insert(std::filesystem::relative(it->path(), directory, error).replace_extension().generic_string());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

Result<ExitCode> run_problems(const ProblemsOptions& options) {
  std::vector<Listed> listed;
  for (const auto& name : names_on_disk()) {
    KW_TRY(const auto problem, read_problem({name, {}, {}}));
    listed.push_back({name, problem.description});
  }
  if (options.json) {
    auto array = nlohmann::json::array();
    for (const auto& one : listed) array.push_back({{"name", one.name}, {"description", one.description}});
    std::fputs((array.dump(2) + "\n").c_str(), stdout);
    return ExitCode::success;
  }
  std::size_t width = 0;
  for (const auto& one : listed) width = std::max(width, one.name.size());
  for (const auto& one : listed) print_text("{:<{}}  {}\n", one.name, width, one.description);
  return ExitCode::success;
}

}  // namespace kw
