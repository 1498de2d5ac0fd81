#pragma once
// How the sums of a tile on a CPU come into the output: what becomes of them is computed for sixteen columns at a time
// where it can be, and neighbours in the output are stored one after the other.

#include <set>
#include <string>

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

struct VectorStores {
  std::string text;            ///< statements for the hole of contract.cl, behind the last sum
  std::set<std::string> axes;  ///< whose indices the kernel has to name before: those of the batch
};

/// `scope` is that of the kernel. The text calls tiles and their places as section "products" of contract.cl does.
[[nodiscard]] VectorStores contract_vector_stores(KernelScope& scope, const Contraction& contraction,
                                                  const KernelBuffer& out);

}  // namespace kw
