#include "suite/problem_list.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_class_mark = ".py:";

bool is_problem_file(const fs::path& path) {
  return path.extension() == ".py" || path.extension() == ".toml";
}

/// The number that `text` begins with.
std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || number < 0) return std::nullopt;
  return number;
}

SuiteItem item_of(const fs::path& file, const std::string& class_name) {
  SuiteItem item;
  const std::string folder = fs::absolute(file).lexically_normal().parent_path().filename().string();
  const std::string stem = file.stem().string();
  item.name = (folder.empty() ? "" : folder + "/") + stem + (class_name.empty() ? "" : "." + class_name);
  item.input = file.string() + (class_name.empty() ? "" : ":" + class_name);
  if (folder.starts_with("level")) item.level = leading_number(std::string_view(folder).substr(5));
  item.id = leading_number(stem);
  return item;
}

/// Without links and dots; as it was given where that cannot be known.
fs::path real_path(const std::string& input) {
  std::error_code error;
  const auto path = fs::weakly_canonical(input, error);
  return error ? fs::path(input) : path;
}

/// By folder, number and name.
auto order_of(const fs::path& file) {
  return std::tuple(file.parent_path(), leading_number(file.filename().string()), file.filename());
}

Result<std::vector<fs::path>> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool passed_over = name.starts_with('.') || name.starts_with('_');
    std::error_code unreadable;
    if (entry->is_directory(unreadable)) {
      if (passed_over) entry.disable_recursion_pending();
    } else if (!passed_over && is_problem_file(entry->path())) {
      files.push_back(entry->path());
    }
  }
  if (error) return fail(errc::io, "cannot list the folder {}: {}", folder.string(), error.message());
  if (files.empty()) {
    return fail(Error{errc::suite_empty, fmt::format("the folder {} holds no problem", folder.string()),
                      "name a folder with module files (*.py) or problem files (*.toml)"});
  }
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return order_of(a) < order_of(b); });
  return files;
}

Result<std::vector<SuiteItem>> items_at(const std::string& path) {
  std::string file = path;
  std::string class_name;
  if (const auto mark = path.rfind(k_class_mark); mark != std::string::npos) {
    class_name = path.substr(mark + k_class_mark.size());
    file.resize(mark + k_class_mark.size() - 1);
  }
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) {
    return fail(Error{errc::not_found, fmt::format("there is no file or folder {}", file),
                      "give module files (*.py), problem files (*.toml), or folders of them"});
  }
  std::vector<SuiteItem> items;
  if (fs::is_directory(status)) {
    KW_TRY(const auto files, files_below(file));
    for (const auto& one : files) items.push_back(item_of(one, ""));
  } else if (is_problem_file(file)) {
    items.push_back(item_of(file, class_name));
  } else {
    return fail(Error{errc::suite_problem, fmt::format("{} is neither a module nor a problem file", file),
                      "give files that end in .py or .toml"});
  }
  return items;
}

}  // namespace

Result<std::vector<SuiteItem>> list_suite_problems(const std::vector<std::string>& paths) {
  std::vector<SuiteItem> all;
  for (const auto& path : paths) {
    KW_TRY(const auto items, items_at(path));
    for (const auto& item : items) {
      const auto same = std::ranges::find(all, item.name, &SuiteItem::name);
      if (same == all.end()) {
        all.push_back(item);
      } else if (real_path(same->input) != real_path(item.input)) {
        return fail(Error{errc::suite_problem,
                          fmt::format("{} and {} are both named {}", same->input, item.input, item.name),
                          "rename one of the files or their folders, or make two suites"});
      }
    }
  }
  if (all.empty()) {
    return fail(
        Error{errc::suite_empty, "no problem was given", "name module files, problem files, or folders of them"});
  }
  return all;
}

}  // namespace kw
