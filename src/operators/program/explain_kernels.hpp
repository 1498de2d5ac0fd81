#pragma once
// What is made of a program before it is written as kernels: its stages, what is fused, which family takes each launch,
// and what the shipped devices' peaks allow.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "operators/program/kernels/launch_list.hpp"
#include "problem/explanation.hpp"

namespace kw {

/// The launches for one device.
struct ExplainedLaunches {
  std::string target;
  std::string device;
  LaunchList list;
};

struct ExplainedBound {
  std::string device;
  double arithmetic_seconds = 0;
  double memory_seconds = 0;
};

struct ExplainedKernels {
  std::string stages;  ///< in index notation, lines by operator, before anything is fused
  std::vector<ExplainedLaunches> launches;
  double product_flops = 0;            ///< of matrix products, convolutions and attention as the module has them
  double bytes = 0;                    ///< inputs, parameters and outputs once
  std::vector<ExplainedBound> bounds;  ///< of every shipped device
};

/// For OpenCL on this machine's CPU, and for CUDA on its default device. errc::program_unsupported for an operator
/// without kernels.
[[nodiscard]] Result<ExplainedKernels> explain_kernels(const Problem& problem);

/// Sections of lines for people.
[[nodiscard]] std::string kernels_text(const ExplainedKernels& kernels);
/// Keys: stages, launches, product_flops, bytes, bounds.
[[nodiscard]] ExplainedValue::Table kernels_table(const ExplainedKernels& kernels);

}  // namespace kw
