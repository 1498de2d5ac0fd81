#pragma once
// Fixture for tests that run real kernels over the first OpenCL device. One backend per suite of tests, and one
// verifier per test problem, opened when it is first needed. No device is a failure, not a skip: the set-up installs
// PoCL.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "verify/processes/process_backend.hpp"
#include "verify/tools/sanitizer.hpp"
#include "verify/verifier.hpp"

namespace kw {

class SystemTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  /// Paths are relative to the source root, where the tests run.
  static Candidate read_candidate(const std::string& path, const IntBindings& tunables = {});
  /// Against the problem that the bundle names: "test/NAME" is tests/problems/NAME.toml. A CUDA bundle runs on the
  /// simulator, any other on the machine's device. `sanitized` has the gate of that name simulate it, which takes
  /// longer than all others together.
  static VerifyResult verify(const std::string& path, const IntBindings& tunables = {}, bool sanitized = false);
  /// By a verifier that screens, with the plain kernel as the best so far.
  static VerifyResult verify_screened(const std::string& path, const IntBindings& tunables, bool sanitized = false);
  /// Another verifier on the same device; `problem` must outlive it.
  static Result<std::unique_ptr<Verifier>> open_verifier(const Problem& problem, Sanitizer* sanitizer = nullptr);
  static ExecutionBackend& backend();
  /// Oclgrind.
  static Sanitizer& sanitizer();
  /// The same for CUDA on the simulator.
  static Result<std::unique_ptr<Verifier>> open_simulated(const Problem& problem);
  static ExecutionBackend& simulator();
};

}  // namespace kw
