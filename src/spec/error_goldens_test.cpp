// The full text of the errors that people will meet, kept beside the input that causes each: tests/errors/NAME.toml is
// a problem file, NAME.score.py and NAME.mask.py are mods; NAME.expected is what is printed. To change a text, run with
// KW_ACCEPT_GOLDENS=1 and read the difference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "spec/number_array.hpp"
#include "spec/problem.hpp"

namespace kw {
namespace {

const std::filesystem::path k_folder = "tests/errors";
constexpr std::int64_t k_max_bytes = 1 << 20;
const RealFileSystem k_files;  // of the .npy files that some of them name

std::vector<std::filesystem::path> inputs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(k_folder)) {
    if (entry.path().extension() == ".toml" || entry.path().extension() == ".py") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<void> parse(const std::filesystem::path& path, const std::string& text) {
  if (path.extension() == ".toml") {
    KW_TRY([[maybe_unused]] const auto problem, parse_problem(text, path.filename().string(), &k_files));
    return {};
  }
  const auto role = path.stem().extension() == ".mask" ? ModRole::mask_mod : ModRole::score_mod;
  const ModScope scope{{{"W", std::int64_t{128}}},
                       {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
                       {{"table", DType::f32, {"Hq", "Skv"}, false, -1.0, 1.0},
                        {"ids", DType::i32, {"B", "Skv"}, false, 0.0, 10.0},
                        {"flags", DType::boolean, {"Skv"}, false, 0.0, 1.0}}};
  auto mod = parse_mod(text, role, scope);
  if (mod) return {};
  auto error = std::move(mod).error();
  error.where.file = path.filename().string();
  return tl::unexpected(std::move(error));
}

TEST(ErrorGoldens, say_what_is_wrong_where_and_what_to_write_instead) {
  RealFileSystem files;
  const bool accept = std::getenv("KW_ACCEPT_GOLDENS") != nullptr;
  for (const auto& path : inputs()) {
    const auto found = parse(path, files.read(path, k_max_bytes).value());
    EXPECT_FALSE(found) << path << " is not refused";
    if (found) continue;
    const auto text = found.error().to_string() + "\n";
    auto golden = path;
    golden.replace_extension(".expected");
    if (accept) {
      ASSERT_TRUE(files.write_atomic(golden, text));
    } else {
      EXPECT_EQ(files.read(golden, k_max_bytes).value_or("(no such file)"), text) << path;
    }
  }
}

TEST(ErrorGoldens, cover_every_code_of_problem_files_and_mods) {
  std::set<std::string_view> seen;
  RealFileSystem files;
  for (const auto& path : inputs()) {
    const auto found = parse(path, files.read(path, k_max_bytes).value());
    ASSERT_FALSE(found) << path;
    seen.insert(found.error().code.name);
  }
  for (const auto code :
       {errc::problem_syntax, errc::problem_unknown_key, errc::problem_missing_key, errc::problem_type,
        errc::problem_value, errc::problem_unknown_op, errc::capture_values, errc::npy_format, errc::mod_syntax,
        errc::mod_unsupported, errc::mod_unknown_name, errc::mod_type, errc::mod_signature, errc::mod_limit}) {
    EXPECT_EQ(seen.count(code.name), 1U) << code.name;
  }
}

TEST(ErrorGoldens, point_every_error_at_a_line) {
  RealFileSystem files;
  for (const auto& path : inputs()) {
    const auto found = parse(path, files.read(path, k_max_bytes).value());
    ASSERT_FALSE(found) << path;
    EXPECT_GT(found.error().where.line, 0) << path;
    EXPECT_GT(found.error().where.column, 0) << path;
  }
}

}  // namespace
}  // namespace kw
