#pragma once
// Tiles of factors of 16-bit numbers that the copy engine of sm_90 brings to shared memory as boxes: what it is told
// about both tensors by a launch before the products, and how the first thread of a block has it copy.

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// A tensor of three axes, those that are neighbours in memory first. Texts of the kernel that describes it.
struct BoxTensor {
  std::size_t buffer = 0;
  std::string start;                   ///< of the tensor in the buffer, in elements
  std::array<std::string, 3> extents;  ///< in elements
  std::array<std::string, 2> strides;  ///< likewise: along the second axis and the third, multiples of eight
  std::string rows;                    ///< of a box, along the second axis; it has 64 elements along the first
};

/// What the launch that describes both factors adds to a group.
struct BoxedFactors {
  std::vector<KernelBuffer> buffers;  ///< of the program, and the scratch behind them
  std::size_t maps = 0;               ///< buffer: what is told about the rows' factor, then about the columns'
  GroupKernels describing;
};

/// Names that no axis may have in the scope of that launch.
[[nodiscard]] const std::vector<std::string>& describing_locals();
/// `scope` is that of the launch, over `buffers`. `whole`: the condition for the copy engine to read them; empty:
/// always.
[[nodiscard]] BoxedFactors boxed_factors(KernelScope& scope, std::vector<KernelBuffer> buffers, const std::string& name,
                                         const BoxTensor& rows, const BoxTensor& columns, const std::string& whole);

/// One factor's tile in the kernel of the products. Texts.
struct BoxCopy {
  std::string step, line;        ///< where the box begins along the steps, and along the rows or columns
  std::string outer = "0";       ///< and along the third axis
  bool panels_of_lines = false;  ///< neighbours in memory are of one step: panels of 64 columns, a box each
};
/// Statements: the first thread has the next tile of both factors copied.
[[nodiscard]] std::string box_copies_text(const BoxCopy& rows, const BoxCopy& columns);
/// Statements: until the tile of this stage has arrived, and behind the step to the next stage.
inline constexpr const char* k_wait_for_boxes = "wait_for_bytes(&arrivals[stage], parity);";
inline constexpr const char* k_next_phase = "parity ^= stage == 0;";
/// Statements before the first copy: barriers at which boxes arrive.
[[nodiscard]] std::string box_arrivals_text();

/// Sections of kernels/program/, as GroupKernels::own_helpers has them, that the products call.
[[nodiscard]] std::set<std::string> box_helpers();

}  // namespace kw
