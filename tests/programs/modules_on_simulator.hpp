#pragma once
// For tests of kernels that one way of writing gives: modules on the CUDA simulator, through the whole verifier.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/programs/program_verdicts.hpp"

namespace kw {

class ModulesOnSimulator : public testing::TestWithParam<ModuleCase> {
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

  static inline std::unique_ptr<ProgramVerdicts> device_;
};

}  // namespace kw
