#include "verify/checking/large_inputs.hpp"

#include <utility>

#include "record/time_use.hpp"

namespace kw {

Result<std::shared_ptr<const DrawnInputs>> LargeInputs::draw(std::size_t workload, const Distribution& distribution,
                                                             InputSeeds seeds) {
  const std::lock_guard lock(mutex_);
  const Source source{workload, distribution, seeds};
  if (last_ && source == source_) return last_;
  const auto drawing = TimeLedger::activity(ledger_, time_activity::inputs);
  InputValues used;
  if (last_ && last_.use_count() == 1) used = std::move(last_->values);
  last_.reset();
  KW_TRY(DrawnInputs drawn,
         make_inputs(problem_, problem_.workloads[workload], distribution, seeds, parallel_, std::move(used)));
  source_ = source;
  last_ = std::make_shared<DrawnInputs>(std::move(drawn));
  return last_;
}

}  // namespace kw
