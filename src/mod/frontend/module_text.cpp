#include "mod/frontend/module_text.hpp"

#include "mod/frontend/library_values.hpp"

namespace kw {

tl::unexpected<Error> may_change(const std::string& list, const SourcePlace& where) {
  return fail(Error{errc::mod_unsupported, fmt::format("the list '{}' may change here", list),
                    "make it a tuple, or give its values in the problem file", where});
}

const PyModuleChanges& ModuleText::all_changes() {
  if (!changes) changes.emplace(text, file);
  return *changes;
}

Result<void> ModuleText::check_changes(const std::function<bool(std::string_view path)>& is_read) {
  for (const auto& list : lists) {
    if (const auto change = all_changes().alters(list.name, list.levels, executed)) {
      return may_change(list.name, change->where);
    }
  }
  for (const auto& [name, path] : libraries) {
    for (const auto& patch : all_changes().patches(name)) {
      const auto full = path + "." + patch.attribute;
      const bool matters = patch.attribute.empty() || is_read_from_library(full) || (is_read && is_read(full));
      if (!matters) continue;
      return fail(Error{errc::mod_unsupported,
                        patch.attribute.empty() ? fmt::format("this may change what {} holds", path)
                                                : fmt::format("this changes {}, which mods may read", full),
                        "call your own function by its own name", patch.where});
    }
  }
  return {};
}

}  // namespace kw
