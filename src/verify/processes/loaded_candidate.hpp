#pragma once
// A candidate that was built, and the process that it runs in. Gates fill it on a candidate's way through the verifier;
// the baseline and the champion are two that stay.

#include <memory>

#include "record/bundle.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

struct LoadedCandidate {
  Candidate candidate;
  StartRequest built;                      ///< plan i belongs to workload i; empty before the build
  std::unique_ptr<KernelProcess> process;  ///< null until it was started
};

}  // namespace kw
