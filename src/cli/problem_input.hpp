#pragma once
// How a command line names a problem.

#include <string>
#include <vector>

namespace kw {

/// Which problem a command works on.
struct ProblemInput {
  std::string problem;                    ///< a file or a name; FILE.py or FILE.py:Class for a module
  std::vector<std::string> set;           ///< AXIS=VALUE, for the primary workload
  std::vector<std::string> mods;          ///< FILE.py:NAME, in place of the problem's own score_mod or mask_mod
  std::vector<std::string> tensors = {};  ///< NAME=FILE.npy or NAME=[1, 2]: captured tensors beside the problem's own
  std::string mode = {};                  ///< of a module: "train" or "eval"; empty: train
  std::string precision = {};             ///< of a module's products: "tf32" for example; empty: strict
  double most_steps = 0;                  ///< of a module: its axes are halved until it takes no more; 0: any number
  bool runs_here = true;                  ///< a module whose tensors are too large for this machine is made smaller
};

}  // namespace kw
