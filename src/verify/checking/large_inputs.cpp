#include "verify/checking/large_inputs.hpp"

#include <algorithm>
#include <utility>

#include "record/time_use.hpp"

namespace kw {

void LargeInputs::FreeMemory::give(InputValues values) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(values));
}

InputValues LargeInputs::FreeMemory::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return {};
  InputValues values = std::move(free_.back());
  free_.pop_back();
  return values;
}

Result<std::shared_ptr<const DrawnInputs>> LargeInputs::draw(std::size_t workload, const Distribution& distribution,
                                                             InputSeeds seeds, const OperandReads* reads) {
  const std::lock_guard lock(mutex_);
  const Source source{workload, distribution, seeds};
  if (source == source_) return last_;
  const auto drawing = TimeLedger::activity(ledger_, time_activity::inputs);
  last_.reset();
  source_.reset();
  KW_TRY(DrawnInputs drawn,
         make_inputs(problem_, problem_.workloads[workload], distribution, seeds, parallel_, memory_->take(), reads));
  const auto is_part = [](const std::optional<RandomInput>& input) { return input && !input->all_drawn; };
  if (std::ranges::none_of(drawn.random, is_part)) source_ = source;
  last_ = std::shared_ptr<DrawnInputs>(new DrawnInputs(std::move(drawn)), [memory = memory_](DrawnInputs* one) {
    memory->give(std::move(one->values));
    delete one;
  });
  return last_;
}

}  // namespace kw
