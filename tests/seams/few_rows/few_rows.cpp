#include "tests/seams/few_rows/few_rows.hpp"

namespace kw {
namespace {

bool run_few_rows_gate(GateContext& context) {
  const auto& tunables = context.loaded.candidate.tunables;
  const auto rows = tunables.find("ROWS");
  if (rows == tunables.end() || rows->second <= k_few_rows) return true;
  context.verdict.reject(GateId::extra, Reason::constraint_violated, fmt::format("{} rows are too many", rows->second));
  return false;
}

}  // namespace

Gate few_rows_gate() {
  return {GateId::extra, GatePhase::build, {}, run_few_rows_gate};
}

}  // namespace kw
