#pragma once
// A kernel's parameters and the launch's arguments, from what its text turned out to use.

#include <set>
#include <string>

#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

class KernelSignature {
 public:
  /// `scope` has printed the whole text; `written` are the buffers that it stores to. Private ones are left out.
  KernelSignature(const GroupContext& context, const KernelScope& scope, const std::set<std::size_t>& written);

  /// The kernel around `body`, one launch of it without a grid, and the helpers that it calls. `threads` is a literal
  /// or the name of a tunable.
  [[nodiscard]] GroupKernels kernels(const std::string& name, const std::string& threads,
                                     const std::string& body) const;

 private:
  const GroupContext& context_;
  const KernelScope& scope_;
  std::vector<std::string> declarations_;
  std::vector<std::string> arguments_;
  bool writes_bf16_by_hand_ = false;
};

}  // namespace kw
