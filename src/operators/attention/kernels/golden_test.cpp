// What the styles emit for shipped problems: two kernels per style are compared with tests/golden byte for byte, and
// the rest of what is said of the text holds for all of them. That the kernels compute the right thing is for the
// differential tests. After a deliberate change: KW_ACCEPT=1 kw_operators_tests --gtest_filter='*Golden*', from the top
// of the source tree, and read the diff.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "codegen/kernel_helpers.hpp"
#include "codegen/testing/devices.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

struct GoldenCase {
  std::string problem;
  std::string target;
  std::string style;
  [[nodiscard]] fs::path path() const {
    return fs::path("tests/golden") / (problem + "." + style +
                                       (target == "opencl" ? ".cl"
                                        : target == "cuda" ? ".cu"
                                                           : ".hip"));
  }
  [[nodiscard]] DeviceFacts device() const {
    return target == "opencl" ? avx512_device() : target == "cuda" ? h200_device() : gpu_device("gfx942");
  }
};

void PrintTo(const GoldenCase& golden, std::ostream* out) {
  *out << golden.path().string();
}

/// For each style the two problems that together show most of what its template can write, and over all styles every
/// feature at least once: a score mod with LSE, captured tensors with f16, bf16, a map of blocks, keys in parts.
std::vector<GoldenCase> golden_cases() {
  return {
      {"alibi_lse", "opencl", "plain"},
      {"document_causal_f16", "opencl", "plain"},
      {"neighborhood_2d", "opencl", "vector"},
      {"document_causal_f16", "opencl", "vector"},
      {"alibi_lse", "cuda", "plain"},
      {"document_causal_f16", "cuda", "plain"},
      {"neighborhood_2d", "cuda", "simt"},
      {"document_causal_f16", "cuda", "simt"},
      {"decode", "cuda", "mma"},
      {"document_causal_f16", "cuda", "mma"},
      {"causal_bf16", "cuda", "wgmma"},
      {"document_causal_f16", "cuda", "wgmma"},
      {"causal_bf16", "hip", "plain"},
      {"document_causal_f16", "hip", "plain"},
      {"causal", "hip", "simt"},
      {"document_causal_f16", "hip", "simt"},
  };
}

std::vector<GoldenCase> all_cases() {
  std::vector<GoldenCase> cases;
  for (const char* problem :
       {"full", "causal", "sliding_window", "prefix_lm", "relative", "alibi", "alibi_causal", "softcap",
        // captured tensors, f16 and bf16, LSE and masks that are no interval of keys
        "document_causal_f16", "causal_bf16", "alibi_lse", "learned_relative", "neighborhood_2d", "global_window"})
    for (const char* style : {"plain", "vector"}) cases.push_back({problem, "opencl", style});
  // One of each kind: loop bounds, a slope with LSE, a mod that is not affine, a block mask, captures with f16, bf16.
  for (const char* problem :
       {"causal", "alibi_lse", "softcap", "neighborhood_2d", "document_causal_f16", "causal_bf16"})
    for (const char* style : {"plain", "simt", "mma"}) cases.push_back({problem, "cuda", style});
  for (const char* problem : {"document_causal_f16", "causal_bf16"}) cases.push_back({problem, "cuda", "wgmma"});
  // Few queries: packed heads, and keys in parts.
  cases.push_back({"decode", "cuda", "mma"});
  // The same text in HIP C++.
  for (const char* problem : {"causal", "document_causal_f16", "causal_bf16"})
    for (const char* style : {"plain", "simt"}) cases.push_back({problem, "hip", style});
  return cases;
}

Problem shipped(const GoldenCase& golden) {
  return load_problem("attention/" + golden.problem, RealFileSystem{}, {"problems"}).value();
}

Bundle emitted_bundle(const GoldenCase& golden) {
  const auto bundle = emit_bundle(shipped(golden), golden.target, golden.style, golden.device());
  EXPECT_TRUE(bundle) << bundle.error().to_string();
  return bundle.value_or(Bundle{});
}

std::string emitted(const GoldenCase& golden) {
  return emitted_bundle(golden).to_text();
}

class Golden : public ::testing::TestWithParam<GoldenCase> {};
class EmittedKernel : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(Golden, emitted_text_is_the_accepted_one) {
  const std::string text = emitted(GetParam());
  if (std::getenv("KW_ACCEPT") != nullptr) {
    std::ofstream(GetParam().path(), std::ios::binary) << text;
    GTEST_SKIP() << "rewrote " << GetParam().path();
  }
  std::ifstream file(GetParam().path(), std::ios::binary);
  ASSERT_TRUE(file) << GetParam().path() << " is missing: run with KW_ACCEPT=1 to write it";
  const std::string accepted(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, accepted) << "if the change is meant, run with KW_ACCEPT=1 and read the diff";
}

TEST_P(EmittedKernel, the_same_input_gives_the_same_bytes) {
  EXPECT_EQ(emitted(GetParam()), emitted(GetParam()));
}

TEST_P(EmittedKernel, emitted_text_reads_back_as_the_same_bundle) {
  const Bundle bundle = emitted_bundle(GetParam());
  const auto read = parse_bundle(bundle.to_text(), "emitted.cl");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*read, bundle);
  EXPECT_TRUE(make_candidate(*read));
}

TEST_P(EmittedKernel, lines_fit_a_screen) {
  std::istringstream lines(emitted_bundle(GetParam()).source);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

/// Identifiers in the functions that take axes and captured tensors as parameters: those must not meet a user's name.
std::set<std::string> names_beside_parameters(const std::string& source) {
  std::set<std::string> names;
  bool inside = false;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    for (const char* function : {" finish_scores(", "void attention(", "void classify(", "void scores(", " score_mod(",
                                 " mask_mod(", "_allowed(", " dropped_term("})
      inside = inside || (line.find(function) != std::string::npos && line.front() != ' ' && line.front() != '/');
    if (inside && !line.starts_with("#") && line.find("#pragma") == std::string::npos) {
      const std::regex identifier("[A-Za-z_][A-Za-z0-9_]*");
      // Not numbers, and not members: what follows a dot is looked up in a type.
      const std::regex no_name("\\b[0-9][\\w.]*|\\.[A-Za-z_]\\w*");
      const std::string code = std::regex_replace(line.substr(0, line.find("//")), no_name, "");
      for (std::sregex_iterator i(code.begin(), code.end(), identifier); i != std::sregex_iterator(); ++i)
        names.insert(i->str());
    }
    if (line == "}") inside = false;
  }
  return names;
}

TEST_P(EmittedKernel, a_user_can_give_no_name_that_the_kernels_use) {
  const Problem problem = shipped(GetParam());
  for (const std::string& name : names_beside_parameters(emitted_bundle(GetParam()).source)) {
    const bool own = problem.primary().axes.count(name) > 0 ||
                     std::any_of(problem.inputs.begin(), problem.inputs.end(),
                                 [&](const TensorSpec& tensor) { return kernel_name(tensor.name) == name; });
    EXPECT_TRUE(own || kernel_name(name) != name) << name << " is neither in kernels/ nor in kernel_names.cpp";
  }
}

std::string test_name(const ::testing::TestParamInfo<GoldenCase>& test) {
  return test.param.problem + "_" + test.param.target + "_" + test.param.style;
}

INSTANTIATE_TEST_SUITE_P(Shipped, Golden, ::testing::ValuesIn(golden_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Shipped, EmittedKernel, ::testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace kw
