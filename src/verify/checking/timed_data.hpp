#pragma once
// Data for one timed launch or pair, and the memory that they are in.

#include <cstddef>
#include <vector>

#include "base/rng.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/fresh_data.hpp"
#include "verify/checking/stored_inputs.hpp"

namespace kw {

struct TimedData {
  std::size_t like = 0;  ///< index of a timing case
  FreshCase fresh;
  StoredInputs inputs;  ///< of the fresh case
  OutputBytes outputs;  ///< memory for those of the next launch
  Rng others{0};        ///< draws other data in their place, where these tell nothing of a kernel
};

/// Data that nobody needs any more, for their memory: of new memory each page is cleared when it is first used, which
/// takes longer than drawing what a launch needs.
using SpareData = std::vector<TimedData>;

}  // namespace kw
