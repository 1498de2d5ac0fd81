#pragma once
// For tests of kernels that one way of writing gives: modules on the CUDA simulator, through the whole verifier.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/program_verdicts.hpp"

namespace kw {

/// The same kernel but for one thing.
struct Broken {
  const char* name;
  const char* text;
  const char* instead;
};

/// `Case` is a ModuleCase, or has one.
template <typename Case = ModuleCase>
class ModulesOnSimulator : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("sim", "cuda"); }
  static void TearDownTestSuite() { device_.reset(); }

  static Problem problem(const ModuleCase& one, const std::string& precision = "") {
    return problem_of_module(module_of(one.result, one.init, one.inputs), "m.py", "", k_any_steps, precision);
  }

  /// The bundle with these defaults has that text, and is accepted.
  static void expect_accepted_with(const char* text, const Problem& read, Bundle bundle, const IntBindings& tunables) {
    const Bundle judged = with_defaults(std::move(bundle), tunables);
    EXPECT_NE(judged.source.find(text), std::string::npos) << judged.source;
    const Verdict verdict = device_->verdict_of(read, judged);
    EXPECT_TRUE(verdict.accepted()) << verdict.message << "\n" << judged.to_text();
  }

  /// Each of them, by the whole verifier.
  static void expect_rejected(const Problem& read, const Bundle& honest, const std::vector<Broken>& all) {
    for (const auto& one : all) {
      Bundle bundle = honest;
      const auto at = bundle.source.find(one.text);
      ASSERT_NE(at, std::string::npos) << one.name << "\n" << bundle.source;
      bundle.source.replace(at, std::string(one.text).size(), one.instead);
      EXPECT_EQ(device_->verdict_of(read, bundle).status, VerdictStatus::rejected) << one.name;
    }
  }

  static inline std::unique_ptr<ProgramVerdicts> device_;
};

}  // namespace kw
