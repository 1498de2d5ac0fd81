#pragma once
// Tiles of factors of 16-bit numbers that the copy engine of sm_90 brings to shared memory as boxes: what every block
// tells it about both tensors, and how its first thread has it copy.

#include <array>
#include <string>

namespace kw {

/// A tensor of three axes, those that are neighbours in memory first. Texts of the kernel.
struct BoxTensor {
  std::string memory;                  ///< its first element
  std::array<std::string, 3> extents;  ///< in elements
  std::array<std::string, 2> strides;  ///< likewise: along the second axis and the third, multiples of eight
  std::string rows;                    ///< of a box, along the second axis; it has 64 elements along the first
};
/// Statements before the first copy, where a block of the kernel has `maps`, 64 words of scratch memory for each block.
/// `whole`: the condition for the copy engine to read both; empty: always.
[[nodiscard]] std::string box_arrivals_text(const BoxTensor& rows, const BoxTensor& columns, const std::string& whole);
/// The number of those words, of so many blocks.
[[nodiscard]] std::string box_map_words(const std::string& blocks);

/// One factor's tile. Texts.
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

/// The section of kernels/program/ that these call, for KernelScope::need_own().
inline constexpr const char* k_box_helpers = "contract_boxes.cu/boxes";

}  // namespace kw
