#pragma once
// Fixture for tests that run real kernels: one verifier on the tiny causal problem over the first OpenCL device, opened
// once per test program. No device is a failure, not a skip: the set-up installs PoCL.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "verify/process_workbench.hpp"
#include "verify/verifier.hpp"

namespace kw {

class SystemTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  /// Paths are relative to the source root, where the tests run.
  static Candidate read_candidate(const std::string& path, const IntBindings& tunables = {});
  static VerifyResult verify(const std::string& path, const IntBindings& tunables = {});
  /// Another verifier on the same device; `problem` must outlive it.
  static Result<std::unique_ptr<Verifier>> open_verifier(const Problem& problem);
  static Workbench& workbench();
};

}  // namespace kw
