// Every style of every target that has a device here, on every shipped problem, against the oracle, through the whole
// verifier: random assignments of structure and tunables. The plain style is the baseline that the verifier opens
// with. The seed of a failing run is in its message. And every CUDA style on the simulator, on a small problem of each
// type of tensors.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/rng.hpp"
#include "codegen/codegen.hpp"
#include "tests/differential/random_assignment.hpp"
#include "tests/system/system_test.hpp"

namespace kw {
namespace {

constexpr int k_random_assignments = 2;

std::vector<std::string> shipped_problems() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("problems")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::uint64_t test_seed() {
  const char* given = std::getenv("KW_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20261120;
}

/// A small primary, so that a Debug build with sanitizers makes short work of the oracle; odd, so that no tile fits.
Problem shrunk(Problem problem) {
  auto smaller = with_axes(std::move(problem), {"Sq=83", "Skv=97", "Hkv=2", "Hq=2"});
  KW_CHECK(smaller.has_value(), "{}", smaller.error().to_string());
  return *std::move(smaller);
}

/// A random legal assignment of structure and tunables; nothing when 50 draws break a constraint.
std::optional<Candidate> random_candidate(const Style& style, const Problem& problem, const DeviceFacts& device,
                                          Rng& rng) {
  for (int tries = 0; tries < 50; ++tries) {
    auto bundle = style.emit(problem, device, random_assignment(style.structure, rng));
    if (!bundle) continue;
    const IntBindings tunables = random_assignment(bundle->tunables, rng);
    if (auto candidate = make_candidate(*std::move(bundle), tunables)) return *std::move(candidate);
  }
  return std::nullopt;
}

class StylesTest : public SystemTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(StylesTest, agree_with_the_oracle) {
  const auto loaded = load_problem(GetParam(), RealFileSystem(), {});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const Problem problem = shrunk(*loaded);
  const auto opened = open_verifier(problem);
  ASSERT_TRUE(opened) << opened.error().to_string();
  const std::uint64_t seed = test_seed();
  Rng rng(seed);
  for (const auto& style : styles_of("attention")) {
    if (style.op != problem.op || style.target != "opencl" || style.name == "plain") continue;
    for (int i = 0; i < k_random_assignments; ++i) {
      const auto candidate = random_candidate(style, problem, backend().device(), rng);
      ASSERT_TRUE(candidate.has_value()) << style.name << ", KW_TEST_SEED=" << seed;
      const auto result = (*opened)->verify(*candidate);
      std::string evidence;
      for (const auto& note : result.verdict.evidence) evidence += note.text + "\n";
      EXPECT_TRUE(result.verdict.accepted())
          << style.name << ", KW_TEST_SEED=" << seed << ", draw " << i << ": " << result.verdict.message << "\n"
          << evidence << result.build.log << candidate->bundle.to_text();
    }
  }
}

class SimulatedStylesTest : public SystemTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(SimulatedStylesTest, agree_with_the_oracle) {
  const auto problem = load_problem(GetParam(), RealFileSystem(), {});
  ASSERT_TRUE(problem) << problem.error().to_string();
  const auto opened = open_simulated(*problem);
  ASSERT_TRUE(opened) << opened.error().to_string();
  for (const auto& style : styles_of("attention")) {
    if (style.op != problem->op || style.target != "cuda" || style.name == "plain") continue;
    const auto bundle = style.emit(*problem, simulator().device(), {});
    if (!bundle && bundle.error().code == errc::codegen_unsupported) continue;  // wgmma has no f32
    ASSERT_TRUE(bundle) << style.name << ": " << bundle.error().to_string();
    const auto candidate = make_candidate(*bundle);
    ASSERT_TRUE(candidate) << style.name << ": " << candidate.error().to_string();
    const auto result = (*opened)->verify(*candidate);
    std::string evidence;
    for (const auto& note : result.verdict.evidence) evidence += note.text + "\n";
    EXPECT_TRUE(result.verdict.accepted()) << style.name << ": " << result.verdict.message << "\n"
                                           << evidence << result.build.log << bundle->to_text();
  }
}

/// The shipped kernel for a captured mask with `find` in its source replaced.
VerifyResult verify_losing(const ExecutionBackend& backend, Verifier& verifier, const Problem& problem,
                           const std::string& find, const std::string& replace) {
  Bundle bundle = emit_bundle(problem, "opencl", "vector", backend.device()).value();
  const auto at = bundle.source.find(find);
  KW_CHECK(at != std::string::npos, "{}", find);
  bundle.source.replace(at, find.size(), replace);
  return verifier.verify(make_candidate(std::move(bundle)).value());
}

class LosingKeys : public SystemTest {};

// What is skipped is not computed: with a limit that every key is below, the answer is empty. And a row of nothing but
// losing keys needs all of them: with a limit below the largest term in every row, they are gone.
TEST_F(LosingKeys, are_skipped_and_kept_by_the_limit_of_their_row) {
  const Problem problem =
      with_axes(load_problem("problems/attention/additive_mask_finite.toml", RealFileSystem(), {}).value(),
                {"Sq=83", "Skv=97", "Hkv=2", "Hq=2"})
          .value();
  const auto opened = open_verifier(problem);
  ASSERT_TRUE(opened) << opened.error().to_string();
  const auto with = [&](const std::string& find, const std::string& replace) {
    return verify_losing(backend(), **opened, problem, find, replace).verdict;
  };
  const Verdict honest = with("lost_below - 8412.0f", "lost_below - 8412.0f");
  EXPECT_TRUE(honest.accepted()) << honest.message;
  EXPECT_EQ(with("lost_below - 8412.0f", "lost_below + 1.0f").reason, Reason::wrong_result);
  EXPECT_EQ(with("fabs(lost_below) <= 16777216.0f", "1").reason, Reason::wrong_result);
}

INSTANTIATE_TEST_SUITE_P(Simulated, SimulatedStylesTest,
                         ::testing::Values("tests/problems/tiny_lse.toml", "tests/problems/tiny_half.toml",
                                           "tests/problems/tiny_names.toml", "tests/problems/tiny_bfloat.toml",
                                           "tests/problems/tiny_losing.toml"),
                         [](const auto& path) { return std::filesystem::path(path.param).stem().string(); });

INSTANTIATE_TEST_SUITE_P(Differential, StylesTest, ::testing::ValuesIn(shipped_problems()),
                         [](const auto& path) { return std::filesystem::path(path.param).stem().string(); });

}  // namespace
}  // namespace kw
