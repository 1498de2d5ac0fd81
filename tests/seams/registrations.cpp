// The lists of this program: the product's parts, and one more of each kind, a folder and a line each.
#include <array>

#include "language/rows.hpp"
#include "operators/attention/operator.hpp"
#include "propose/registry.hpp"
#include "propose/search/search_proposer.hpp"
#include "tests/seams/coordinate_descent/coordinate_descent.hpp"
#include "tests/seams/few_rows/few_rows.hpp"
#include "tests/seams/opencl_alias/opencl_alias.hpp"
#include "tests/seams/row_sum/row_sum.hpp"

namespace kw {

const OperatorList& operators() {
  static const OperatorList list({&attention_operator(), &row_sum_operator()});
  return list;
}

std::span<const Language* const> languages() {
  static const std::array<const Language*, 4> list = {&opencl_language(), &cuda_language(), &hip_language(),
                                                      &opencl_alias_language()};
  return list;
}

const std::vector<Gate>& gates() {
  static const std::vector<Gate> list = {
      {GateId::read, GatePhase::build, {}, run_read_gate},
      few_rows_gate(),
      {GateId::build, GatePhase::build, {}, run_build_gate},
      {GateId::check, GatePhase::run, {}, run_check_gate},
      {GateId::time, GatePhase::measure, {.timed_device = true}, run_time_gate},
  };
  return list;
}

std::span<const ProposerEntry* const> proposers() {
  static const std::array<const ProposerEntry*, 2> list = {&search_entry(), &coordinate_descent_entry()};
  return list;
}

}  // namespace kw
