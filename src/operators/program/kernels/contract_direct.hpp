#pragma once
// Direct convolutions: each thread multiplies and adds the sums of some pixels and channels in registers. The filter is
// in shared memory, the image comes from the nearest cache. Of few steps, this beats tensor cores, whose tiles cost
// more than their products there. kernels/program/direct.cu has the kernel.

#include <cstdint>
#include <optional>
#include <vector>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// An element of the image that a thread loads for a pixel in each step.
struct DirectLoad {
  Extent apart;                   ///< in elements, from the first load's
  std::vector<StageExpr> guards;  ///< by columns and batches: whether it is there
};

/// And what it is multiplied with: the filter's place that an index of both of these axes names.
struct DirectUse {
  std::size_t load = 0;
  std::int64_t phase = 0, tap = 0;
};

struct DirectContraction {
  StageAxis phase;  ///< of the innermost axis of a transposed one: a thread has all of them; without a name: none
  StageAxis tap;    ///< that is written out; without a name: none
  bool reduces_phase = false;  ///< it belongs to windows
  StageAxes windows;           ///< of the window's outputs, one after the other
  StageAxes around;            ///< batches that a block has one index of
  StageAxes inner;             ///< that is looped over: the channels, then other taps, whose extents are constants
  AffineIndex start;           ///< of the first load
  std::vector<DirectLoad> loads;
  std::vector<DirectUse> uses;
  std::vector<StageExpr> step_guards;   ///< of all pixels: by batches and `inner`
  std::vector<StageExpr> pixel_guards;  ///< of all steps
  std::vector<StageExpr> tap_guards;    ///< by pixels and one axis of `inner` each
  StageAxes guarded;                    ///< axes of `inner` that `tap_guards` name
  [[nodiscard]] std::int64_t phases() const { return phase.name.empty() ? 1 : phase.extent.value(); }
  /// Places of the filter in each step.
  [[nodiscard]] std::int64_t written() const { return phases() * (tap.name.empty() ? 1 : tap.extent.value()); }
  /// Of `inner`, behind the channels.
  [[nodiscard]] std::int64_t taps() const;
};

/// Absent where the second factor is no tensor of f32, or has more taps and guards than can be written out.
/// `windows`: axes of outputs that a thread reduces; see contract_direct_tails.hpp.
[[nodiscard]] std::optional<DirectContraction> direct_contraction(const Contraction& contraction,
                                                                  const StageAxes& windows = {});

struct DirectTail;
struct ContractStatistics;
/// Without tunables. A defect where it is no direct one. `tail`: null where all sums are stored. `statistics`: of this
/// contraction, without a tail; parts of them are left and joined.
[[nodiscard]] GroupKernels contract_directly(const GroupContext& context, const Contraction& contraction,
                                             const DirectTail* tail = nullptr,
                                             const ContractStatistics* statistics = nullptr);

}  // namespace kw
