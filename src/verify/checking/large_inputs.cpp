#include "verify/checking/large_inputs.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "record/time_use.hpp"

namespace kw {

Result<std::shared_ptr<const DrawnInputs>> LargeInputs::draw(std::size_t workload, const Distribution& distribution,
                                                             InputSeeds seeds, const OperandReads* reads) {
  const std::lock_guard lock(mutex_);
  const Source source{workload, distribution, seeds};
  if (source == source_) return last_;
  const auto drawing = TimeLedger::activity(ledger_, time_activity::inputs);
  InputValues used;
  if (last_ && last_.use_count() == 1) {
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever held it has read the values before
    used = std::move(last_->values);
  }
  last_.reset();
  source_.reset();
  KW_TRY(DrawnInputs drawn,
         make_inputs(problem_, problem_.workloads[workload], distribution, seeds, parallel_, std::move(used), reads));
  const auto is_part = [](const std::optional<RandomInput>& input) { return input && !input->all_drawn; };
  if (std::ranges::none_of(drawn.random, is_part)) source_ = source;
  last_ = std::make_shared<DrawnInputs>(std::move(drawn));
  return last_;
}

}  // namespace kw
