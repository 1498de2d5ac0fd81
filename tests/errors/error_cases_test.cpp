// The full text of the errors that people will meet, beside the input that causes each: tests/errors/THEME.case, in the
// form that case_file.hpp describes. After a deliberate change: KW_ACCEPT=1 kw_error_tests, from the top of the source
// tree, and read the diff.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "base/unique_fd.hpp"
#include "problem/file/number_array.hpp"
#include "problem/problem.hpp"
#include "program/reader/program_reader.hpp"
#include "tests/errors/case_file.hpp"

namespace kw::error_cases {
namespace {

namespace fs = std::filesystem;

const fs::path k_folder = "tests/errors";
constexpr std::int64_t k_max_bytes = 1 << 20;

/// A case and its file; or a file that can't be read, and why.
struct TestCase {
  fs::path file;
  ErrorCase content;
  std::string fault;
};

void PrintTo(const TestCase& test, std::ostream* out) {
  *out << test.file.string() << ": " << test.content.name;
}

std::vector<TestCase> cases_of(const fs::path& file) {
  const auto text = RealFileSystem().read(file, k_max_bytes);
  const auto cases = text ? parse_case_file(*text, file.string()) : tl::unexpected(text.error());
  if (!cases) return {{file, {"", "cannot_be_read", "", ""}, cases.error().to_string()}};
  std::vector<TestCase> tests;
  for (const auto& one : *cases) tests.push_back({file, one, ""});
  return tests;
}

std::vector<TestCase> all_cases() {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(k_folder, none)) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<TestCase> tests;
  for (const auto& file : files) {
    for (auto& test : cases_of(file)) tests.push_back(std::move(test));
  }
  if (tests.empty())
    tests.push_back({k_folder / "no.case", {"", "found", "", ""}, "start at the top of the source tree"});
  return tests;
}

/// What mods see in these cases: one constant, the axes of attention, and three captured tensors.
Result<void> parse_mod_input(const ErrorCase& content, const std::string& shown_name) {
  const ModScope scope{{{"W", std::int64_t{128}}},
                       {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
                       {{"table", DType::f32, {"Hq", "Skv"}, false, -1.0, 1.0},
                        {"ids", DType::i32, {"B", "Skv"}, false, 0.0, 10.0},
                        {"flags", DType::boolean, {"Skv"}, false, 0.0, 1.0}}};
  auto mod = parse_mod(content.input, content.kind == "mask" ? ModRole::mask_mod : ModRole::score_mod, scope);
  if (mod) return {};
  auto error = std::move(mod).error();
  error.where.file = shown_name;
  return tl::unexpected(std::move(error));
}

Result<void> parse_input(const ErrorCase& content) {
  if (content.kind == "module") {
    KW_TRY([[maybe_unused]] const auto program, read_program(content.input, "module.py"));
    return {};
  }
  if (content.kind != "problem") return parse_mod_input(content, content.kind + ".py");
  const RealFileSystem files;  // of the .npy files that some of them name
  KW_TRY([[maybe_unused]] const auto problem, parse_problem(content.input, "problem.toml", &files));
  return {};
}

/// Other cases of the same file may be accepted by other processes at this moment.
void accept(const TestCase& test, const std::string& text) {
  const UniqueFd lock(::open(k_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  RealFileSystem files;
  const auto old = files.read(test.file, k_max_bytes);
  ASSERT_TRUE(old) << old.error().to_string();
  const auto changed = with_expected(*old, test.file.string(), test.content.name, text);
  ASSERT_TRUE(changed) << changed.error().to_string();
  ASSERT_TRUE(files.write_atomic(test.file, *changed));
}

class ErrorCases : public ::testing::TestWithParam<TestCase> {};

TEST_P(ErrorCases, say_what_is_wrong_where_and_what_to_write_instead) {
  const auto& test = GetParam();
  ASSERT_EQ(test.fault, "");
  const auto parsed = parse_input(test.content);
  ASSERT_FALSE(parsed) << test.content.name << " is not refused";
  EXPECT_GT(parsed.error().where.line, 0);
  EXPECT_GT(parsed.error().where.column, 0);
  const auto text = parsed.error().to_string() + "\n";
  if (text != test.content.expected && std::getenv("KW_ACCEPT") != nullptr) {
    accept(test, text);
    GTEST_SKIP() << "rewrote " << test.content.name << " in " << test.file;
  }
  EXPECT_EQ(text, test.content.expected) << test.file
                                         << ": if the change is meant, run with KW_ACCEPT=1 and read the diff";
}

INSTANTIATE_TEST_SUITE_P(Accepted, ErrorCases, ::testing::ValuesIn(all_cases()), [](const auto& test) {
  return test.param.file.stem().string() + "_" + test.param.content.name;
});

TEST(ErrorCaseFiles, cover_every_code_of_problem_files_and_mods) {
  std::set<std::string_view> seen;
  for (const auto& test : all_cases()) {
    ASSERT_EQ(test.fault, "");
    const auto parsed = parse_input(test.content);
    ASSERT_FALSE(parsed) << test.content.name;
    seen.insert(parsed.error().code.name);
  }
  for (const auto code :
       {errc::problem_syntax, errc::problem_unknown_key, errc::problem_missing_key, errc::problem_type,
        errc::problem_value, errc::problem_unknown_op, errc::capture_values, errc::npy_format, errc::mod_syntax,
        errc::mod_unsupported, errc::mod_unknown_name, errc::mod_type, errc::mod_signature, errc::mod_limit}) {
    EXPECT_EQ(seen.count(code.name), 1U) << code.name;
  }
}

}  // namespace
}  // namespace kw::error_cases
