#pragma once
// Groups that do the same to other tensors share their kernels: the layers of a network, or the steps of a recurrent
// one, need their text once, and are compiled once.

#include <map>
#include <string>
#include <vector>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

class SharedKernels {
 public:
  /// What is left to be written of a group: all of it, or its launches alone where an earlier group has the same
  /// kernels but for the names of tensors. `buffers` are the program's.
  [[nodiscard]] GroupKernels shared(GroupKernels written, const std::vector<KernelBuffer>& buffers);

 private:
  std::map<std::string, std::vector<std::string>> known_;  ///< by their text without names: kernels, one per launch
};

}  // namespace kw
