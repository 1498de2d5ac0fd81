#pragma once
// The text of a Python file, and what was read of it. What can change a value that the mod reads, and is not executed,
// is looked for here when everything else has been read: lists that may change, patched libraries and modules.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mod/frontend/tracer.hpp"
#include "python/module_changes.hpp"

namespace kw {

struct ModuleText {
  /// `mod` is the name that the wanted expression begins with; `path` that of places, empty for the file that was
  /// named.
  ModuleText(std::string_view of, std::string_view mod, ModTracer& with, std::string path = {}, TraceHome at = {})
      : text(of), wanted(mod), tracer(with), file(std::move(path)), home(std::move(at)) {}

  std::string_view text;
  std::string_view wanted;
  ModTracer& tracer;
  std::string file;
  TraceHome home;
  std::deque<std::vector<PyStatement>> statements;  ///< functions point into them
  std::map<int, std::string> reached;               ///< by line: the statements that were read
  std::size_t reached_bytes = 0;
  std::vector<PyLines> executed;  ///< assignments and loops that were run

  struct ListName {
    std::string name;
    int levels = 1;
  };
  std::vector<ListName> lists;                                 ///< names whose values hold lists
  std::vector<std::pair<std::string, std::string>> libraries;  ///< names of the file, and what they stand for
  std::optional<PyModuleChanges> changes;                      ///< made when it is first needed

  /// Whether "from module import *" may bind a name; nothing when no file beside is that module. May be empty.
  std::function<Result<std::optional<bool>>(std::string_view module, const std::string& name)> star_binds;

  [[nodiscard]] const PyModuleChanges& all_changes();
  /// errc::mod_unsupported when something that was read may have been changed in a way that was not executed.
  /// `is_read` says so of names of other files.
  [[nodiscard]] Result<void> check_changes(const std::function<bool(std::string_view path)>& is_read = {});
};

/// The error for a list that may change at a place.
[[nodiscard]] tl::unexpected<Error> may_change(const std::string& list, const SourcePlace& where);

}  // namespace kw
