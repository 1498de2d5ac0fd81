// What the operands of a program may be. Distributions draw reals of any sign; targets of a loss, masks and variances
// are none of those.

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle_glue.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

using Rule = ElementDistribution;

float drawn_by(const Rule& rule, Rng& rng) {
  switch (rule.kind) {
    case Rule::Kind::uniform:
      return static_cast<float>(rule.first + (rule.second - rule.first) * rng.uniform());
    case Rule::Kind::normal:
      return static_cast<float>(rule.first + rule.second * rng.normal());
    case Rule::Kind::integers:
      return static_cast<float>(std::floor(rule.first + (rule.second - rule.first) * rng.uniform()));
    case Rule::Kind::constant:
      break;
  }
  return static_cast<float>(rule.first);
}

/// What state_dict() holds is not always what __init__ makes it: kernels that leave out a bias of 0 or a weight of 1
/// are wrong. It keeps its sign, for variances are among them.
Rule trained(const Rule& rule) {
  if (rule.kind != Rule::Kind::constant) return rule;
  const double half = rule.first == 0.0 ? 0.5 : 0.5 * rule.first;
  return {Rule::Kind::uniform, rule.first - half, rule.first + half};
}

struct Operand {
  std::optional<Rule> rule;
  std::size_t source = 0;  ///< in Program::sources, where there is no rule
  bool is_input = false;   ///< of forward(); otherwise the module holds it
  bool is_real = false;
};

Operand operand_at(const Program& program, std::size_t value) {
  const bool real = is_floating(program.graph.values[value].type.dtype);
  for (const auto& input : program.inputs) {
    if (input.type && input.value == value) return {input.distribution, input.source, true, real};
  }
  for (const auto& parameter : program.parameters) {
    if (parameter.value != value) continue;
    const bool trainable = real && parameter.distribution.has_value() && parameter.kind != ParameterKind::unsaved;
    return {trainable ? trained(*parameter.distribution) : parameter.distribution, parameter.source, false, real};
  }
  KW_CHECK(false, "value {} is neither an input nor a parameter", value);
}

bool is_free(const ProgramDetail& detail, const Operand& operand) {
  return detail.domain == InputDomain::real && operand.is_input && operand.is_real && operand.rule.has_value();
}

/// Each part with a generator of its own, so that what is drawn does not depend on the threads.
template <typename Element, typename Draw>
void draw_parts(std::vector<Element>& values, Rng& rng, const ParallelFor& parallel, const Draw& draw) {
  std::vector<Rng> generators;
  for (std::size_t begin = 0; begin < values.size(); begin += k_elements_per_part) {
    generators.push_back(rng.split(generators.size()));
  }
  for_parts(parallel, values.size(), k_elements_per_part, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Rng own = generators[part];
    for (std::size_t i = begin; i < end; ++i) values[i] = draw(own);
  });
}

/// What random calls of get_inputs() and __init__ give, as far as `source` follows from it.
std::set<std::size_t> random_values_behind(const Graph& sources, std::size_t source) {
  const auto is_random = [&](std::size_t value) {
    const auto node = sources.values[value].node;
    return node && sources.nodes[*node].random;
  };
  if (is_random(source)) return {source};
  const std::size_t wanted[] = {source};
  const auto needed = program_oracle::needed_nodes(sources, wanted, is_random);
  KW_CHECK(needed.has_value(), "{}", needed.error().to_string());
  std::set<std::size_t> random;
  for (std::size_t i = 0; i < needed->size(); ++i) {
    if (!(*needed)[i]) continue;
    for (const std::size_t operand : program_oracle::operands_of(sources.nodes[i])) {
      if (is_random(operand)) random.insert(operand);
    }
  }
  return random;
}

DenseTensor drawn_leaf(const Graph& sources, std::size_t value, Rng rng, const ParallelFor& parallel) {
  const auto rule = distribution_of(sources, value);
  DenseTensor tensor;
  tensor.dtype = sources.values[value].type.dtype;
  tensor.extents = values_of(sources.values[value].type.shape);
  std::size_t count = 1;
  for (const auto extent : tensor.extents) count *= static_cast<std::size_t>(extent);
  tensor.values.resize(count);
  draw_parts(tensor.values, rng, parallel, [&](Rng& own) { return rule ? drawn_by(*rule, own) : own.uniform(); });
  return tensor;
}

/// As get_inputs() or __init__ makes it.
void evaluate_source(const Program& program, std::size_t source, Rng& rng, std::vector<float>& values,
                     const ParallelFor& parallel) {
  std::map<std::size_t, DenseTensor> leaves;
  for (const std::size_t value : random_values_behind(program.sources, source)) {
    leaves.emplace(value, drawn_leaf(program.sources, value, rng.split(value), parallel));
  }
  const std::size_t wanted[] = {source};
  const auto made = evaluate_graph(program.sources, leaves, wanted, parallel);
  KW_CHECK(made.has_value(), "{}", made.error().to_string());
  const std::vector<double>& all = made->front().values;
  values.resize(all.size());
  for_parts(parallel, all.size(), k_elements_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] = static_cast<float>(all[i]);
  });
}

/// As DrawRule says it.
std::optional<DrawRule> as_draw_rule(const Operand& operand) {
  if (!operand.rule || !operand.is_real || operand.rule->kind == Rule::Kind::integers) return std::nullopt;
  const Rule& rule = *operand.rule;
  DrawRule made;
  made.shift = made.late_shift = static_cast<float>(rule.first);
  switch (rule.kind) {
    case Rule::Kind::uniform:
      made.numbers = DrawRule::Numbers::uniform;
      made.scale = static_cast<float>(rule.second - rule.first);
      break;
    case Rule::Kind::normal:
      made.scale = static_cast<float>(rule.second);
      break;
    case Rule::Kind::integers:
    case Rule::Kind::constant:
      made.scale = 0;
  }
  return made;
}

/// Draws the operands that are `wanted`, by their own rules.
template <typename Wanted>
void draw_own(const Problem& problem, const Workload& workload, const Wanted& wanted, InputValues& operands, Rng& rng,
              const ParallelFor& parallel) {
  const ProgramDetail& detail = program_detail(problem);
  const auto program = checked_program(problem, workload.axes);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand operand = operand_at(*program, detail.inputs[i]);
    if (!wanted(operand)) continue;
    Rng own = rng.split(i);
    if (operand.rule) {
      draw_parts(operands[i], own, parallel, [&](Rng& part) { return drawn_by(*operand.rule, part); });
    } else {
      evaluate_source(*program, operand.source, own, operands[i], parallel);
    }
  }
}

}  // namespace

bool is_free_operand(const Problem& problem, std::size_t operand) {
  const ProgramDetail& detail = program_detail(problem);
  return is_free(detail, operand_at(detail.program, detail.inputs[operand]));
}

std::optional<DrawRule> given_rule(const Problem& problem, const Workload& workload, std::size_t operand) {
  return as_draw_rule(operand_at(*checked_program(problem, workload.axes), program_detail(problem).inputs[operand]));
}

void settle_operands(const Problem& problem, const Workload& workload, Settled which, InputValues& operands, Rng& rng,
                     const ParallelFor& parallel) {
  const ProgramDetail& detail = program_detail(problem);
  const auto wanted = [&](const Operand& operand) {
    return !is_free(detail, operand) && (which == Settled::all || !as_draw_rule(operand));
  };
  draw_own(problem, workload, wanted, operands, rng, parallel);
}

void draw_given_operands(const Problem& problem, const Workload& workload, InputValues& operands, Rng& rng,
                         const ParallelFor& parallel) {
  const ProgramDetail& detail = program_detail(problem);
  const auto wanted = [&](const Operand& operand) { return is_free(detail, operand) && !as_draw_rule(operand); };
  draw_own(problem, workload, wanted, operands, rng, parallel);
}

}  // namespace kw
