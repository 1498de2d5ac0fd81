#include "mod/frontend/module_files.hpp"

#include <algorithm>
#include <utility>

#include "mod/frontend/file_text.hpp"
#include "python/errors.hpp"

namespace kw {

std::string ModuleFiles::below(std::string_view module, bool package) {
  std::string path(module);
  std::replace(path.begin(), path.end(), '.', '/');
  return path + (package ? "/__init__.py" : ".py");
}

std::filesystem::path ModuleFiles::path_of(std::string_view module, bool package) const {
  return named_.parent_path() / below(module, package);
}

bool ModuleFiles::exists(std::string_view module) const {
  return files_.exists(path_of(module, true)) || files_.exists(path_of(module, false));
}

std::string ModuleFiles::looked_for(std::string_view module) const {
  return fmt::format("{} or {}", path_of(module, false).string(), path_of(module, true).string());
}

Result<std::optional<ModuleFiles::Found>> ModuleFiles::read(std::string_view module) {
  if (!exists(module)) return std::nullopt;
  Found found;
  found.package = files_.exists(path_of(module, true));
  const auto path = path_of(module, found.package);
  found.path = path.string();
  found.below = below(module, found.package);
  found.named = path == named_;
  if (found.named) return found;
  if (kept_.size() == k_max_imported_files) {
    return fail(errc::mod_limit, "a mod imports from at most {} files", k_max_imported_files);
  }
  KW_TRY(auto bytes, files_.read(path, k_max_mod_file_bytes));
  bytes_ += static_cast<std::int64_t>(bytes.size());
  if (bytes_ > k_max_imported_bytes) {
    return fail(errc::mod_limit, "the files that a mod imports from have at most {} bytes together",
                k_max_imported_bytes);
  }
  auto text = python_file_text(bytes);
  if (!text) {
    text.error().where.file = found.path;
    return tl::unexpected(std::move(text).error());
  }
  found.text = *std::move(text);
  kept_.push_back({found.path, found.below, std::move(bytes)});
  return found;
}

}  // namespace kw
