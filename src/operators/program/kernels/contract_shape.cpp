#include "operators/program/kernels/contract_shape.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_halves.hpp"
#include "operators/program/kernels/contract_scaled_halves.hpp"
#include "operators/program/kernels/contract_strips.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

double operations_of(const StageExpr& node) {
  if (!node || node->operands.empty() || node->type == StageType::integer) return 0.0;
  double count = 1.0;
  for (const auto& operand : node->operands) count += operations_of(operand);
  return count;
}

}  // namespace

ContractSize contract_size(const Contraction& contraction) {
  const auto patch = patch_contraction(contraction);
  const auto direct = direct_contraction(contraction);
  return {count_of(contraction.batch),
          count_of(contraction.rows),
          count_of(contraction.columns),
          count_of(contraction.inner),
          !contraction.split.stage.guards.empty() || contraction.inner.size() > 1,
          contraction.split.stage.rounds_factors,
          patch ? std::optional(patch_size(contraction, *patch)) : std::nullopt,
          false,
          false,
          strip_contraction(contraction).has_value(),
          operations_of(contraction.split.stage.epilogue),
          direct ? std::optional(direct_size(contraction, *direct)) : std::nullopt};
}

std::vector<ContractSize> contract_sizes(const StageProgram& program, ColumnChoice choice, ContractWays ways) {
  std::vector<ContractSize> sizes;
  for (const auto& stage : program.stages) {
    const auto contraction = contraction_of(stage, choice);
    if (!contraction) continue;
    sizes.push_back(contract_size(*contraction));
    if (sizes.back().patch) choose_ways(*sizes.back().patch, sizes.back().rounded, ways);
    if (const auto factors = half_factors(*contraction, program)) {
      sizes.back().halves = true;
      sizes.back().boxed = are_boxed(*contraction, *factors, ways.boxes);
    }
    if (const auto factors = scaled_factors(*contraction, program))
      sizes.back().splitting_bytes = splitting_bytes(*contraction, *factors);
  }
  // One assignment is for all.
  if (sizes.size() == 1 && sizes[0].patch) sizes[0].patch->wide = sizes[0].patch->lined;
  return sizes;
}

std::vector<IntBindings> cheapest_contracts(const std::vector<Tunable>& tunables,
                                            const std::vector<std::string>& constraints, const DeviceFacts& device,
                                            const ContractCost& cost, std::size_t count) {
  std::vector<IntBindings> all = {{}};
  for (const auto& tunable : tunables) {
    std::vector<IntBindings> more;
    for (const auto& one : all) {
      for (const auto value : tunable.values) {
        more.push_back(one);
        more.back()[tunable.name] = value;
      }
    }
    all = std::move(more);
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(cost(all[i]), i);
  std::sort(order.begin(), order.end());
  // Constraints take longer to evaluate than the cost; so only those of the cheapest are.
  const auto parsed = parse_int_exprs(constraints);
  KW_CHECK(parsed.has_value(), "{}", parsed.error().to_string());
  IntBindings names = device.bindings();
  std::vector<IntBindings> cheapest;
  for (const auto& [unused, i] : order) {
    if (cheapest.size() == count) break;
    for (const auto& [name, value] : all[i]) names[name] = value;
    const bool broken = std::any_of(parsed->begin(), parsed->end(), [&](const IntExpr& constraint) {
      const auto value = constraint.evaluate(names);
      return value && *value == 0;
    });
    if (!broken) cheapest.push_back(all[i]);
  }
  return cheapest;
}

}  // namespace kw
