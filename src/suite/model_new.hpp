#pragma once
// A verified CUDA kernel as a Python file that KernelBench's own script can run: the module as its user wrote it, and
// class ModelNew, which is that module with another forward(). The kernel is compiled at its first call by NVRTC, as it
// was when it was verified, and launched by the driver on PyTorch's current stream; ctypes does both, so that no host
// compiler is needed. The file is for the extents that its launch plan was made for, and refuses others.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "problem/problem.hpp"
#include "program/graph/graph.hpp"
#include "record/launch_plan.hpp"
#include "suite/suite_errors.hpp"

namespace kw {

struct ModelNewRequest {
  std::string module_text;  ///< the whole Python file
  const Program& program;   ///< as it was read with the plan's extents
  const Problem& problem;   ///< of the same module
  Axes axes;                ///< of the plan, derived ones too
  const Bundle& bundle;     ///< of target cuda
  LaunchPlan plan;
  IntBindings definitions;            ///< that the compiler gets
  std::vector<std::string> comments;  ///< lines for the head of the file
};

/// The file's text. errc::suite_export where the problem's tensors are not those of the module.
[[nodiscard]] Result<std::string> model_new_text(const ModelNewRequest& request);

}  // namespace kw
