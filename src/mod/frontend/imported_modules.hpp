#pragma once
// What a mod imports from files beside its own. Each file has its own names, and is read when the mod reaches one of
// them. Files that import each other in a circle are refused: which of their statements Python runs first depends on
// who asks first.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mod/frontend/module_files.hpp"
#include "mod/frontend/module_names.hpp"
#include "mod/frontend/module_text.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {

class ImportedModules {
 public:
  /// All must outlive it, and it must outlive the trace.
  ImportedModules(ModuleFiles& files, ModTracer& tracer) : files_(files), tracer_(tracer) {}
  ImportedModules(const ImportedModules&) = delete;
  ImportedModules& operator=(const ImportedModules&) = delete;

  [[nodiscard]] ImportSource source();
  /// As ModuleText::check_changes, for all files that were read. `named`, which may be null, is the file that was named
  /// with its names.
  [[nodiscard]] Result<void> check_changes(ModuleText* named, const ModuleNames* names);
  /// The statements that were reached, file by file.
  [[nodiscard]] std::string reached() const;
  /// As ModuleText::star_binds.
  [[nodiscard]] Result<std::optional<bool>> star_binds(std::string_view module, const std::string& name);

 private:
  struct Module {
    Module(std::string dotted, ModuleFiles::Found found, std::size_t number, ModTracer& tracer);

    std::string name;   ///< "pkg.masks"
    std::string below;  ///< as ModuleFiles has it
    std::string bytes;
    ModuleText text;
    ModuleNames names;
  };

  Result<std::optional<ModValue>> find(const std::string& path, const TraceHome* home, const SourcePlace& where);
  /// The number of a module's file, 0 for the named one; nothing when it has none.
  Result<std::optional<std::size_t>> number_of(const std::string& module, const SourcePlace& where);
  Result<std::optional<ModValue>> member(std::size_t from, std::size_t to, const std::string& name,
                                         const SourcePlace& where);
  [[nodiscard]] Result<void> check_circle(std::size_t from, std::size_t to, const SourcePlace& where);
  /// Appends the way to `way`; `seen` are the files that need not be looked at again.
  [[nodiscard]] bool leads_to(std::size_t from, std::size_t to, std::vector<std::size_t>& way,
                              std::set<std::size_t>& seen) const;
  [[nodiscard]] Result<void> check_lists(ModuleText& file, const ModuleNames& names);
  [[nodiscard]] Module* loaded(std::string_view module);
  [[nodiscard]] std::string path_of(std::size_t file) const;

  ModuleFiles& files_;
  ModTracer& tracer_;
  std::deque<Module> modules_;  ///< the first has the number 1
  std::map<std::string, std::optional<std::size_t>, std::less<>> numbers_;
  std::map<std::size_t, std::set<std::size_t>> imports_;  ///< by file: those that it was seen to import from
};

}  // namespace kw
