#pragma once
// Inputs that are too large to be kept for every case of a suite. They are drawn again whenever somebody asks for them,
// in the memory of those that were drawn before: new memory, of which the system clears each page, takes several times
// as long as drawing does.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/time_ledger.hpp"
#include "verify/checking/inputs.hpp"

namespace kw {

class LargeInputs {
 public:
  /// `problem` and `ledger`, which may be null, must outlive it.
  LargeInputs(const Problem& problem, ParallelFor parallel, TimeLedger* ledger)
      : problem_(problem), parallel_(std::move(parallel)), ledger_(ledger) {}

  /// What make_inputs() gives for these arguments, with its errors. From any thread; whoever holds the pointer keeps
  /// the values as they are. With `reads`, of operands that are normal numbers at least these elements.
  [[nodiscard]] Result<std::shared_ptr<const DrawnInputs>> draw(std::size_t workload, const Distribution& distribution,
                                                                InputSeeds seeds, const OperandReads* reads = nullptr);

 private:
  struct Source {
    std::size_t workload = 0;
    Distribution distribution;
    InputSeeds seeds;
    friend bool operator==(const Source&, const Source&) = default;
  };

  /// Of inputs that nobody holds any more: as many as were held at the same time at most, with the last.
  class FreeMemory {
   public:
    void give(InputValues values);
    [[nodiscard]] InputValues take();

   private:
    std::mutex mutex_;
    std::vector<InputValues> free_;
  };

  const Problem& problem_;
  ParallelFor parallel_;
  TimeLedger* ledger_;
  std::mutex mutex_;
  std::optional<Source> source_;             ///< of the last; nothing where parts of it alone were drawn
  std::shared_ptr<const DrawnInputs> last_;  ///< null: none was drawn yet
  std::shared_ptr<FreeMemory> memory_ = std::make_shared<FreeMemory>();
};

}  // namespace kw
