#pragma once
// Data for timed launches: drawn anew for each, so that nothing a kernel kept is worth anything. Data that were changed
// in a way that the answer follows, such as columns exchanged, could be recognised by looking at a few rows. The oracle
// answers in some rows, and no kernel knows in which. Captured tensors stay, because masks decide how much work there
// is.

#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "base/time_ledger.hpp"
#include "problem/workload_costs.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/sampled_rows.hpp"

namespace kw {

struct FreshCase {
  CheckCase one;                      ///< without `expected` and `allowed`
  std::vector<AnswerSample> answers;  ///< by output
  bool is_asked = false;              ///< what `one` says of its conditioning was found out; until then it tells
};

/// New operands for the workload of `like`, which is a timing case, with normal data. The first and the last row are
/// always among those that are answered, which are `least_rows` or more where there are as many. `ledger` may be null.
/// `used`: as for draw_operands. For a device that draws large operands itself (`on_device`), these are drawn here in
/// the places alone that the oracle reads, where the operator can tell them.
[[nodiscard]] FreshCase draw_fresh(const Problem& problem, const CheckCase& like, const WorkloadCosts& costs, Rng& rng,
                                   const ParallelFor& parallel = serial_for, TimeLedger* ledger = nullptr,
                                   std::int64_t least_rows = k_least_rows, InputValues used = {},
                                   bool on_device = false);

/// Finds out what these data tell of a kernel: of data on which an output seems wrong, for it takes longer than drawing
/// them and launching a kernel. Where roundings decide the answer, `one.tells` is false then, and others are to be
/// drawn.
void ask_conditioning(const Problem& problem, FreshCase& fresh);

/// Judges the outputs of a run on fresh data by the largest error that is allowed on `alike`: at least one case, of
/// the same workload and distribution. Nothing when they are right.
[[nodiscard]] std::optional<CaseFailure> judge_fresh(const Problem& problem, std::span<const CheckCase> alike,
                                                     const FreshCase& fresh, const CaseRun& run, const Poison& poison,
                                                     const ParallelFor& parallel = serial_for);

}  // namespace kw
