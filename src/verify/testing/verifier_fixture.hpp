#pragma once
// What tests of the whole verifier share.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "verify/local_verifier.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {

/// A verifier over a fake device; sources name a kernel in `kernels`, "plain" is honest and takes 10 ms.
class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() {
    kernels["plain"] = FakeKernel{FakeBehaviour::honest, 10e6, 0, BuildStatus::ok, "", false};
    kernels["honest"] = FakeKernel{FakeBehaviour::honest, 2e6, 0.005, BuildStatus::ok, "", false};
  }

  void open(std::vector<Requirement> requirements = {}) {
    VerifierOptions options;
    options.requirements = std::move(requirements);
    options.secret_seed = 7;
    options.device = backend.device();
    options.plain = small_candidate("plain");
    options.tools = tools;
    options.count_accesses = count_accesses;
    options.suite = suite;
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
  }

  VerifyResult verify(const std::string& source) { return verifier->verify(small_candidate(source)); }

  Problem problem = small_problem();
  FakeClock clock;
  std::map<std::string, FakeKernel> kernels;
  FakeBackend backend{problem, clock,
                      [this](const BuildRequest& request) { return kernels.at(written_source(request)); }};
  VerifierTools tools;
  bool count_accesses = false;
  SuiteLimits suite;
  std::unique_ptr<LocalVerifier> verifier;
};

}  // namespace kw
