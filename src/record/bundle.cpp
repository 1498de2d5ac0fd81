#include "record/bundle.hpp"

#include <algorithm>

#include "spec/closest_name.hpp"

namespace kw {
namespace {

Result<std::int64_t> allowed_value(const Tunable& tunable, std::int64_t value) {
  if (std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end()) return value;
  return fail(errc::candidate_tunable, "tunable {} cannot be {}; its values are {}", tunable.name, value,
              fmt::join(tunable.values, ", "));
}

Result<void> check_known(const Bundle& bundle, const IntBindings& overrides) {
  std::vector<std::string> known;
  for (const auto& tunable : bundle.tunables) known.push_back(tunable.name);
  for (const auto& [name, value] : overrides) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Error error{errc::candidate_tunable, fmt::format("the bundle has no tunable '{}'", name)};
    const auto nearest = closest_name(name, known);
    error.hint =
        !nearest ? "its tunables: " + (known.empty() ? "none" : comma_list(known)) : "did you mean '" + *nearest + "'?";
    return fail(std::move(error));
  }
  return {};
}

/// Constraints over tunables alone; those that also name axes or device facts wait for plan_launches, which knows them.
Result<void> check_constraints(const Candidate& candidate) {
  for (const auto& constraint : candidate.bundle.constraints) {
    const auto value = evaluate_int_expr(constraint, candidate.tunables);
    if (!value && value.error().code == errc::expr_unknown_name) continue;
    if (!value) return with_context(value.error(), "evaluating a constraint");
    if (*value != 0) continue;
    std::vector<std::string> assignment;
    for (const auto& [name, chosen] : candidate.tunables) assignment.push_back(fmt::format("{}={}", name, chosen));
    return fail(errc::candidate_constraint, "the constraint \"{}\" does not hold for {}", constraint,
                fmt::join(assignment, " "));
  }
  return {};
}

}  // namespace

Hash Candidate::id() const {
  Hasher hasher;
  hasher.add(bundle.to_text());
  for (const auto& [name, value] : tunables) hasher.add(name).add(value);
  return hasher.finish();
}

Result<Candidate> make_candidate(Bundle bundle, const IntBindings& overrides) {
  KW_TRY_VOID(check_known(bundle, overrides));
  Candidate candidate{std::move(bundle), {}};
  for (const auto& tunable : candidate.bundle.tunables) {
    const auto wanted = overrides.find(tunable.name);
    KW_TRY(const std::int64_t value,
           allowed_value(tunable, wanted == overrides.end() ? tunable.default_value : wanted->second));
    candidate.tunables[tunable.name] = value;
  }
  KW_TRY_VOID(check_constraints(candidate));
  return candidate;
}

}  // namespace kw
