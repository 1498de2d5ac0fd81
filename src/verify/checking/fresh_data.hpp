#pragma once
// Data for timed launches: drawn anew for each, so that nothing a kernel kept is worth anything. Data that were changed
// in a way that the answer follows, such as columns exchanged, could be recognised by looking at a few rows. The oracle
// answers in some rows, or the plain kernel in some places (plain_answers.hpp), and no kernel knows in which. Captured
// tensors stay, because masks decide how much work there is.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "base/time_ledger.hpp"
#include "problem/workload_costs.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/sampled_rows.hpp"

namespace kw {

/// Who says what is right of a launch on fresh data.
enum class Answerer : std::uint8_t { oracle, plain };

/// What fresh data are to be like.
struct FreshNeed {
  /// A device draws large operands itself: here they are drawn in the places alone that the oracle reads, where the
  /// operator can tell them, and nowhere for the plain kernel.
  bool on_device = false;
  std::int64_t least_rows = k_least_rows;  ///< that the oracle answers, where there are as many
  Answerer answerer = Answerer::oracle;
};

struct FreshCase {
  CheckCase one;                      ///< without `expected` and `allowed`
  std::vector<AnswerSample> answers;  ///< by output; those of the plain kernel have no values until it is launched
  bool is_asked = false;              ///< what `one` says of its conditioning was found out; until then it tells
  Answerer answerer = Answerer::oracle;
  std::optional<Rng> drawn_from = {};  ///< draws the same operands again; nothing once all of them are drawn
};

/// New operands for the workload of `like`, which is a timing case, with normal data. The first and the last row are
/// always among those that are answered. `ledger` may be null. `used`: as for draw_operands.
[[nodiscard]] FreshCase draw_fresh(const Problem& problem, const CheckCase& like, const WorkloadCosts& costs, Rng& rng,
                                   const ParallelFor& parallel = serial_for, TimeLedger* ledger = nullptr,
                                   const FreshNeed& need = {}, InputValues used = {});

/// Draws all of the operands of which parts were drawn alone. They stay where they are in memory.
void draw_again(const Problem& problem, const CheckCase& like, FreshCase& fresh, const ParallelFor& parallel);

/// Finds out what these data tell of a kernel: of data on which an output seems wrong, for it takes longer than drawing
/// them and launching a kernel. Where roundings decide the answer, `one.tells` is false then, and others are to be
/// drawn.
void ask_conditioning(const Problem& problem, FreshCase& fresh);

/// The largest error that is allowed on `alike`, of an output: at least one case, of the same workload and
/// distribution. Against the plain kernel's answer it is more by what that may err itself.
[[nodiscard]] double fresh_limit(std::span<const CheckCase> alike, const FreshCase& fresh, Answerer answerer,
                                 std::size_t output);
/// How an output is compared with the answer to fresh data.
[[nodiscard]] OutputForm fresh_form(const Problem& problem, const FreshCase& fresh, std::size_t output);

/// Judges the outputs of a run on fresh data by these limits. Nothing when they are right.
[[nodiscard]] std::optional<CaseFailure> judge_fresh(const Problem& problem, std::span<const CheckCase> alike,
                                                     const FreshCase& fresh, const CaseRun& run, const Poison& poison,
                                                     const ParallelFor& parallel = serial_for);

}  // namespace kw
