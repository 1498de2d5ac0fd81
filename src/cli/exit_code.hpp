#pragma once
// Exit codes of the program, documented in README.md and `kernelwright --help`.

#include "base/result.hpp"

namespace kw {

enum class ExitCode : int {
  success = 0,       ///< optimize found a verified kernel, verify accepted
  rejected = 1,      ///< verify rejected the candidate; optimize found no kernel that passes
  usage = 2,         ///< the command line or an input file is wrong
  environment = 3,   ///< the machine lacks something, or the harness could not decide
  internal = 4,      ///< a defect of kernelwright, or a damaged archive
  interrupted = 130  ///< Ctrl-C; the best kernel so far is kept and the run can be resumed
};

[[nodiscard]] inline ExitCode exit_code_of(const Error& error) {
  return static_cast<ExitCode>(error.code.exit_class);
}

}  // namespace kw
