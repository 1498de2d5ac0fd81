#pragma once
// The parts that tensor programs are registered with (operator.cpp), one source each.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/embedded_texts.hpp"
#include "problem/operator.hpp"
#include "problem/operator_checks.hpp"

namespace kw {

/// How problem files ask for a program: its axes and the table [program].
[[nodiscard]] OperatorFormat program_format();

/// The text of a problem file for a module (derive_problem.cpp): its axes, and small workloads that were drawn so that
/// the module is the same program on them. Deterministic for the module's text.
[[nodiscard]] Result<std::string> program_problem_text(const PyTorchModule& module);

/// How answers are checked.
[[nodiscard]] OperatorChecks program_checks();

/// Whether this operand is drawn as distributions say (operands.cpp), which real inputs are. Integers, parameters, and
/// all inputs of a program that only takes what get_inputs() draws, get their own values.
[[nodiscard]] bool is_free_operand(const Problem& problem, std::size_t operand);
/// How get_inputs() or __init__ draws an operand, a trained parameter about its first value; nothing for integers, and
/// where that is no rule.
[[nodiscard]] std::optional<DrawRule> given_rule(const Problem& problem, const Workload& workload, std::size_t operand);
/// Gives operands that are not free their own values, those that have no rule, or all of them.
enum class Settled : std::uint8_t { without_rule, all };
void settle_operands(const Problem& problem, const Workload& workload, Settled which, InputValues& operands, Rng& rng,
                     const ParallelFor& parallel);
/// Gives free operands what get_inputs() gives them, where that has no rule.
void draw_given_operands(const Problem& problem, const Workload& workload, InputValues& operands, Rng& rng,
                         const ParallelFor& parallel);

/// Operands that expose wrong kernels of programs.
[[nodiscard]] const std::vector<OwnDistribution>& program_distributions();

/// The work of one launch: multiply-adds of products count 2, and every other element that is computed counts 1.
[[nodiscard]] WorkloadCost program_cost(const Problem& problem, const Workload& workload);

[[nodiscard]] OutputValues program_answer(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                          const ParallelFor& parallel);
[[nodiscard]] OracleSampling program_sampling();

/// prompts/program/*.md as they were compiled in. Defined by the build (cmake/KwEmbed.cmake).
[[nodiscard]] std::span<const EmbeddedText> program_prompt_texts();
[[nodiscard]] OperatorPrompts program_prompts();
[[nodiscard]] Result<Explanation> explain_program(const Problem& problem);

}  // namespace kw
