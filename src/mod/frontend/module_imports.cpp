// What a file imports: its import statements, read without running anything.

#include "mod/frontend/module_names.hpp"
#include "mod/frontend/module_path.hpp"
#include "python/parser.hpp"

namespace kw {

std::size_t ModuleNames::bindings(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? 0 : found->second.size();
}

bool ModuleNames::imports(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return false;
  const auto& last = module_.items[found->second.back()];
  return last.definition && last.kind == PyItemKind::statement;
}

std::vector<ModuleNames::Import> ModuleNames::all_imports() const {
  std::vector<Import> found;
  for (const auto& item : module_.items) {
    if (!item.definition || item.kind != PyItemKind::statement || !item.star.empty()) continue;
    const auto statements = parse_python(item.text, item.where);
    if (!statements) continue;
    for (const auto& statement : *statements) {
      for (std::size_t i = 0; i < statement.paths.size(); ++i) {
        found.push_back({statement.names[i],
                         full_module_path(statement.paths[i], file_.home.package),
                         {item.where.line, item.last_line}});
      }
    }
  }
  return found;
}

Result<std::vector<std::size_t>> ModuleNames::without_stars(const std::string& name,
                                                            std::vector<std::size_t> items) const {
  std::vector<std::size_t> kept;
  for (const auto at : items) {
    const auto& item = module_.items[at];
    if (!item.star.empty() && file_.star_binds) {
      KW_TRY(const auto binds, file_.star_binds(full_module_path(item.star, file_.home.package), name));
      if (binds && !*binds) continue;
      if (binds) {
        return fail(Error{errc::mod_unsupported,
                          fmt::format("'{}' may come from here: which names 'import *' binds is not read", name),
                          fmt::format("write 'from {} import {}'", item.star, name), item.where});
      }
    }
    kept.push_back(at);
  }
  return kept;
}

}  // namespace kw
