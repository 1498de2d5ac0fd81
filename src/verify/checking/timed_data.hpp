#pragma once
// Data for one timed launch or pair, and the memory that they are in.

#include <cstddef>

#include "base/clock.hpp"
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
  OutputBytes plain;    ///< of the plain kernel's launch, where it answers; until then memory for them
  Rng others{0};        ///< draws other data in their place, where these tell nothing of a kernel
  Duration took{};      ///< to draw and to have answered
};

}  // namespace kw
