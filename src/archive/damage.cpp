#include "archive/damage.hpp"

#include "base/text.hpp"

namespace kw {
namespace {

/// The archive has its name in a folder, and the commands are given the folder.
std::string folder_option(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  return "--out " + shell_word(folder.string());
}

}  // namespace

std::string damage_hint(const std::filesystem::path& file) {
  const std::string option = folder_option(file);
  return fmt::format(
      "kernelwright archive check {} lists what is damaged; kernelwright archive repair {} sets it aside", option,
      option);
}

std::string damage_warning(const std::filesystem::path& file, const std::vector<std::string>& run_ids) {
  if (run_ids.empty()) return {};
  return fmt::format("{} in {} {} damaged and passed over: {}; {}", run_ids.size() == 1 ? "a run" : "runs",
                     file.string(), run_ids.size() == 1 ? "is" : "are", join(run_ids), damage_hint(file));
}

}  // namespace kw
