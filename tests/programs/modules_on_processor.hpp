#pragma once
// For tests of kernels for CPUs: modules through the whole verifier on this machine's processor.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/program_verdicts.hpp"

namespace kw {

/// `Case` has a ModuleCase, and what is expected of its kernel.
template <typename Case>
class ModulesOnProcessor : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { device_ = std::make_unique<ProgramVerdicts>("opencl:0", "opencl"); }
  static void TearDownTestSuite() { device_.reset(); }

  static Problem problem(const ModuleCase& one) {
    return problem_of_module(module_of(one.result, one.init, one.inputs), "m.py");
  }
  /// `units` and `l1_cache_bytes` as in ProgramVerdicts::emitted().
  static Bundle emitted(const Problem& read, std::int64_t units = 0, std::int64_t l1_cache_bytes = 0) {
    return device_->emitted(read, "fused", "", {}, units, l1_cache_bytes);
  }

  static void expect_accepted(const Problem& read, const Bundle& bundle) {
    const Verdict verdict = device_->verdict_of(read, bundle);
    EXPECT_TRUE(verdict.accepted()) << verdict.message << "\n" << bundle.to_text();
  }

  /// With any one of the texts, where it occurs last, replaced by the other of its pair.
  static void expect_rejected(const Problem& read, const Bundle& honest,
                              const std::vector<std::pair<std::string, std::string>>& edits) {
    for (const auto& [from, to] : edits) {
      Bundle bundle = honest;
      const auto at = bundle.source.rfind(from);
      ASSERT_NE(at, std::string::npos) << from << "\n" << bundle.source;
      bundle.source.replace(at, from.size(), to);
      EXPECT_EQ(device_->verdict_of(read, bundle).status, VerdictStatus::rejected) << from;
    }
  }

  static inline std::unique_ptr<ProgramVerdicts> device_;
};

}  // namespace kw
