#include "mod/frontend/imported_modules.hpp"

#include <algorithm>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "mod/frontend/library_values.hpp"

namespace kw {
namespace {

/// "pkg" of "pkg.masks"; empty for what stands in no package.
std::string_view parent_of(std::string_view dotted) {
  const auto dot = dotted.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : dotted.substr(0, dot);
}

std::string_view last_part(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

std::string package_of(const std::string& module, bool package) {
  return package ? module : std::string(parent_of(module));
}

bool is_library_path(std::string_view path) {
  return is_library(path.substr(0, path.find('.')));
}

}  // namespace

ImportedModules::Module::Module(std::string dotted, ModuleFiles::Found found, std::size_t number, ModTracer& tracer)
    : name(std::move(dotted)),
      below(std::move(found.below)),
      bytes(std::move(found.text)),
      text(bytes, {}, tracer, std::move(found.path), {package_of(name, found.package), number}),
      names(text) {}

ImportSource ImportedModules::source() {
  ImportSource source;
  source.find = [this](const std::string& path, const TraceHome* home, const SourcePlace& where) {
    return find(path, home, where);
  };
  source.looked_for = [this](std::string_view path) {
    const auto parent = parent_of(path);
    return is_library_path(path) ? std::string() : files_.looked_for(parent.empty() ? path : parent);
  };
  return source;
}

Result<std::optional<ModValue>> ImportedModules::find(const std::string& path, const TraceHome* home,
                                                      const SourcePlace& where) {
  if (path.front() == '.') {
    return fail_at(errc::mod_unsupported, where,
                   fmt::format("'{}' leads out of the folder of the file that was named", path.substr(1)),
                   "files are read in that folder and below it: put the module there");
  }
  const auto module = std::string(parent_of(path));
  const auto name = std::string(last_part(path));
  if (module.empty() || is_library_path(path)) return std::nullopt;
  const std::size_t from = home == nullptr ? 0 : home->file;
  KW_TRY(const auto to, number_of(module, where));
  const bool below = files_.exists(path);
  if (!to) return std::nullopt;
  if (*to == 0) return member(from, *to, name, where);
  const auto& names = modules_[*to - 1].names;
  // "from . import masks" in the package's own file means masks.py or the folder, and not what it is about to bind.
  if (*to == from && (below || names.imports(name))) return std::nullopt;
  if (below && names.binds(name) && !names.imports(name)) {
    return fail_at(
        errc::mod_unsupported, where,
        fmt::format("{} gives '{}' a value, and is also the package of a module of that name", path_of(*to), name),
        "rename one of them");
  }
  if (names.binds(name) || (!below && names.binds("*"))) return member(from, *to, name, where);
  if (below) return std::nullopt;
  const auto near = closest_name(name, names.names());
  return fail_at(errc::mod_unknown_name, where, fmt::format("{} defines no '{}'", path_of(*to), name),
                 near ? fmt::format("'{}'?", *near) : "name a function or a value of that file");
}

Result<std::optional<ModValue>> ImportedModules::member(std::size_t from, std::size_t to, const std::string& name,
                                                        const SourcePlace& where) {
  KW_TRY_VOID(check_circle(from, to, where));  // of which the named file always makes one
  PyExpr expr;
  expr.kind = PyExprKind::name;
  expr.where = where;
  expr.text = name;
  return tracer_.evaluate(expr, modules_[to - 1].names.scope());
}

Result<std::optional<std::size_t>> ImportedModules::number_of(const std::string& module, const SourcePlace& where) {
  if (const auto known = numbers_.find(module); known != numbers_.end()) return known->second;
  auto found = files_.read(module);
  if (!found) {
    auto error = std::move(found).error();
    if (error.where.line == 0) error.where = where;
    return with_context(std::move(error), fmt::format("importing {}", module));
  }
  std::optional<std::size_t> number;
  if (*found) number = (*found)->named ? 0 : modules_.size() + 1;
  if (number && *number > 0) modules_.emplace_back(module, **std::move(found), *number, tracer_);
  if (number && *number > 0) {
    modules_.back().text.star_binds = [this](std::string_view star, const std::string& name) {
      return star_binds(star, name);
    };
  }
  numbers_.emplace(module, number);
  return number;
}

Result<std::optional<bool>> ImportedModules::star_binds(std::string_view module, const std::string& name) {
  if (module.empty() || module.front() == '.' || is_library_path(module)) return std::nullopt;
  KW_TRY(const auto number, number_of(std::string(module), {}));
  if (!number) return std::nullopt;
  if (*number == 0) return true;
  const auto& names = modules_[*number - 1].names;
  return names.binds(name) || names.binds("*");
}

std::string ImportedModules::path_of(std::size_t file) const {
  return file == 0 ? files_.named() : modules_[file - 1].text.file;
}

bool ImportedModules::leads_to(std::size_t from, std::size_t to, std::vector<std::size_t>& way,
                               std::set<std::size_t>& seen) const {
  if (!seen.insert(from).second) return false;
  way.push_back(from);
  if (from == to) return true;
  if (const auto next = imports_.find(from); next != imports_.end()) {
    for (const auto file : next->second) {
      if (leads_to(file, to, way, seen)) return true;
    }
  }
  way.pop_back();
  return false;
}

Result<void> ImportedModules::check_circle(std::size_t from, std::size_t to, const SourcePlace& where) {
  auto& known = imports_[from];
  if (known.count(to) > 0) return {};
  std::vector<std::size_t> way = {from};
  std::set<std::size_t> seen;
  if (!leads_to(to, from, way, seen)) {
    known.insert(to);
    return {};
  }
  return fail_at(errc::mod_unsupported, where,
                 fmt::format("files import each other in a circle: {}",
                             join(way, " -> ", [&](std::size_t file) { return path_of(file); })),
                 "move what both need into a file of its own");
}

ImportedModules::Module* ImportedModules::loaded(std::string_view module) {
  const auto known = numbers_.find(module);
  if (known == numbers_.end() || known->second.value_or(0) == 0) return nullptr;
  return &modules_[*known->second - 1];
}

/// Lists of other files under the names that this one imports them by.
Result<void> ImportedModules::check_lists(ModuleText& file, const ModuleNames& names) {
  auto known = file.executed;
  const auto imports = names.all_imports();
  for (const auto& import : imports) known.push_back(import.lines);
  for (const auto& import : imports) {
    if (const auto* whole = loaded(import.path)) {
      for (const auto& list : whole->text.lists) {
        const auto change = file.all_changes().alters(import.name, list.levels, known, list.name);
        if (change) return may_change(import.name + "." + list.name, change->where);
      }
    }
    const auto* part = loaded(parent_of(import.path));
    if (part == nullptr) continue;
    for (const auto& list : part->text.lists) {
      if (list.name != last_part(import.path)) continue;
      const auto change = file.all_changes().alters(import.name, list.levels, known);
      if (change) return may_change(import.name, change->where);
      if (names.bindings(import.name) > 1) return may_change(import.name, *names.place_of(import.name));
    }
  }
  return {};
}

Result<void> ImportedModules::check_changes(ModuleText* named, const ModuleNames* names) {
  const auto is_read = [&](std::string_view path) {
    return std::any_of(modules_.begin(), modules_.end(),
                       [&](const Module& module) { return path.starts_with(module.name + "."); });
  };
  const auto check = [&](ModuleText& text, const ModuleNames& its_names, bool libraries) -> Result<void> {
    for (const auto& import : its_names.all_imports()) {
      if (libraries || !is_library_path(import.path)) text.libraries.emplace_back(import.name, import.path);
    }
    KW_TRY_VOID(text.check_changes(is_read));
    return check_lists(text, its_names);
  };
  // What the named file does to libraries counts where it uses them; an imported one may do it for everybody.
  if (named != nullptr) KW_TRY_VOID(modules_.empty() ? named->check_changes() : check(*named, *names, false));
  for (auto& module : modules_) KW_TRY_VOID(check(module.text, module.names, true));
  return {};
}

std::string ImportedModules::reached() const {
  std::string text;
  for (const auto& module : modules_) {
    if (module.text.reached.empty()) continue;
    text += fmt::format("# {}\n", module.below);
    for (const auto& [line, statement] : module.text.reached) text += statement;
  }
  return text;
}

}  // namespace kw
