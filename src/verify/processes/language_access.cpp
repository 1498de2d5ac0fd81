#include "verify/processes/language_access.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "base/environment.hpp"
#include "verify/processes/library_places.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

/// The folder as the file system resolves it: a rule holds for the place, not for the name.
void open_folder(const fs::path& folder, bool executable, LanguageAccess& access) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (!error) (executable ? access.executable : access.readable).push_back(real);
}

/// A program finds what belongs to it by the name that it was started by, a library lies where its name leads to.
fs::path folder_around(const fs::path& file, bool executable) {
  std::error_code error;
  const fs::path folder = executable ? file.parent_path() : fs::canonical(file, error).parent_path();
  return folder.filename() == "bin" ? folder.parent_path() : folder;
}

void hand_on(std::string_view name, const std::string& value, LanguageAccess& access) {
  access.environment.emplace_back(name, value);
}

void add_toolkits(const SandboxGrants& grants, LanguageAccess& access) {
  for (const std::string_view name : grants.folder_variables) {
    const std::string value = environment_variable(std::string(name).c_str());
    if (value.empty()) continue;
    hand_on(name, value, access);
    open_folder(value, grants.executable, access);
  }
  for (const std::string_view folder : grants.folders) open_folder(folder, grants.executable, access);
  for (const auto& [folder, file] : grants.folders_with_files) {
    std::error_code error;
    if (fs::exists(fs::path(folder) / file, error)) open_folder(folder, grants.executable, access);
  }
  for (const std::string_view name : grants.file_variables) {
    const std::string value = environment_variable(std::string(name).c_str());
    if (value.empty()) continue;
    hand_on(name, value, access);
    const fs::path folder = folder_around(value, grants.executable);
    if (folder.empty()) continue;
    for (const std::string_view near : grants.around_files) open_folder(folder / near, grants.executable, access);
  }
}

/// As execve finds them: the sandbox has this PATH (sandbox/plan_child.cpp).
void add_programs(const SandboxGrants& grants, LanguageAccess& access) {
  for (const std::string_view name : grants.programs) {
    for (const char* folder : {"/usr/bin", "/bin"}) {
      std::error_code error;
      const fs::path real = fs::canonical(fs::path(folder) / name, error);
      if (!error && std::ranges::find(access.executable, real) == access.executable.end()) {
        access.executable.push_back(real);
      }
    }
  }
}

bool is_node(std::string_view name, std::string_view pattern) {
  if (pattern == "*") return true;
  if (!pattern.ends_with('#')) return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern) && name.size() > pattern.size() &&
         name.find_first_not_of("0123456789", pattern.size()) == std::string_view::npos;
}

void add_nodes(const fs::path& dev, const fs::path& pattern, LanguageAccess& access) {
  std::error_code error;
  for (fs::directory_iterator entry(dev / pattern.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_node(entry->path().filename().string(), pattern.filename().string()))
      access.devices.push_back(entry->path());
  }
}

}  // namespace

LanguageAccess access_of(const SandboxGrants& grants, const fs::path& dev) {
  LanguageAccess access;
  if (grants.system == SystemFiles::of_libraries) access.system = library_places();
  add_programs(grants, access);
  add_toolkits(grants, access);
  for (const std::string_view pattern : grants.nodes) add_nodes(dev, pattern, access);
  std::sort(access.devices.begin(), access.devices.end());
  if (access.devices.empty()) return access;
  for (const std::string_view path : grants.paths_with_nodes) access.readable.emplace_back(path);
  for (const std::string_view name : grants.variables_with_nodes) {
    const std::string value = environment_variable(std::string(name).c_str());
    if (!value.empty()) hand_on(name, value, access);
  }
  for (const auto& [name, value] : grants.settings_with_nodes) hand_on(name, std::string(value), access);
  return access;
}

void grant(const LanguageAccess& access, SandboxSpec& spec) {
  spec.environment.insert(spec.environment.end(), access.environment.begin(), access.environment.end());
  spec.system.insert(spec.system.end(), access.system.begin(), access.system.end());
  spec.readable.insert(spec.readable.end(), access.readable.begin(), access.readable.end());
  spec.executable.insert(spec.executable.end(), access.executable.begin(), access.executable.end());
  spec.devices.insert(spec.devices.end(), access.devices.begin(), access.devices.end());
}

}  // namespace kw
