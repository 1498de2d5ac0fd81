#pragma once
// The names of a Python file, each read when it is first asked for. What can change a value that the mod reads is
// executed or refused: conditions are decided or refused, loops are run, and what neither the index nor the tracer sees
// is looked for at the end (module_text.hpp).

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "mod/frontend/module_text.hpp"
#include "mod/frontend/tracer.hpp"
#include "python/module_changes.hpp"
#include "python/module_index.hpp"

namespace kw {

class ModuleNames {
 public:
  /// Of a whole file. `file` must outlive it, and it must outlive the trace.
  explicit ModuleNames(ModuleText& file);
  /// Parameters of a function: absent values make an error where they are read.
  using Parameters = std::map<std::string, std::optional<ModValue>, std::less<>>;
  /// Of the statements inside `item`, a function or a class of `outer`.
  ModuleNames(ModuleText& file, ModuleNames& outer, const PyModuleItem& item, Parameters parameters);
  ModuleNames(const ModuleNames&) = delete;
  ModuleNames& operator=(const ModuleNames&) = delete;

  /// As NameSource. Where a name is bound more than once, the last binding before the statement that is being run
  /// counts; errc::mod_unsupported when it is not known which that is.
  [[nodiscard]] Result<std::optional<ModValue>> find(const std::string& name, bool definitions);
  [[nodiscard]] const NameSource& source() const { return source_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool binds(std::string_view name) const { return by_name_.count(name) > 0; }
  [[nodiscard]] std::size_t bindings(std::string_view name) const;
  /// Whether the last statement that binds `name` is an import.
  [[nodiscard]] bool imports(std::string_view name) const;
  struct Import {
    std::string name;
    std::string path;  ///< full_module_path()
    PyLines lines;
  };
  /// All that stand outside of functions, reached or not.
  [[nodiscard]] std::vector<Import> all_imports() const;
  /// The statement that binds `name` last.
  [[nodiscard]] std::optional<SourcePlace> place_of(std::string_view name) const;
  /// The function or class of that name itself, before decorators; null when there is none, or it is something else.
  [[nodiscard]] Result<const PyModuleItem*> definition(const std::string& name);
  /// What an attribute of the function or class means: the name at the end of its body.
  [[nodiscard]] Result<std::optional<ModValue>> member(const std::string& name);
  [[nodiscard]] const std::string& title() const { return title_; }
  /// The scope that functions defined here see; a class's own names are not in it.
  [[nodiscard]] ModuleNames& around_functions() {
    return kind_ == PyItemKind::type ? outer_->around_functions() : *this;
  }
  [[nodiscard]] const TraceScope& scope() const { return scope_; }

 private:
  enum class Executed : std::uint8_t { no, perhaps, yes };

  [[nodiscard]] std::vector<std::size_t> candidates(const std::string& name) const;
  /// Without the stars of files that do not bind `name`; refuses one that may.
  Result<std::vector<std::size_t>> without_stars(const std::string& name, std::vector<std::size_t> items) const;
  Result<std::optional<ModValue>> resolve(const std::string& name, const std::vector<std::size_t>& items);
  Result<std::optional<ModValue>> value_of(std::size_t item, const std::string& name);
  Result<const TraceScope*> read(std::size_t item);
  Executed executed(std::size_t item);
  Executed all_hold(const std::vector<PyGuard>& guards);
  Executed holds(std::size_t condition);
  Result<bool> decide(const PyCondition& condition);
  [[nodiscard]] tl::unexpected<Error> doubt(std::size_t item, const std::string& name) const;
  Result<std::optional<ModValue>> parameter(const std::string& name, std::optional<std::size_t> doubtful);
  /// Refuses a name that is bound again behind the member that reads it.
  [[nodiscard]] Result<void> check_after(const std::string& name, const std::vector<std::size_t>& items);
  void remember(const PyModuleItem& item, const std::string& name, const ModValue& value);

  void index();

  ModuleText& file_;
  ModuleNames* outer_ = nullptr;
  PyItemKind kind_ = PyItemKind::statement;  ///< of what has these names: a function, a class or (statement) a file
  std::string title_;                        ///< the name of the function or class
  SourcePlace where_;
  Parameters parameters_;
  std::optional<std::size_t> member_;  ///< the first one that was asked for
  bool reading_ = false;
  PyModule module_;
  NameSource source_;
  TraceScope scope_;  ///< of conditions: empty
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;
  std::map<std::size_t, const TraceScope*> scopes_;  ///< of the statements that were read
  std::map<std::size_t, Executed> conditions_;       ///< that were decided
  std::size_t limit_;
};

}  // namespace kw
