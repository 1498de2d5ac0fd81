#include "record/bundle.hpp"

#include <algorithm>

#include "base/closest_name.hpp"
#include "base/text.hpp"

namespace kw {
namespace {

Error unknown_tunable(const Bundle& bundle, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& tunable : bundle.tunables) known.push_back(tunable.name);
  const auto nearest = closest_name(name, known);
  Error error{errc::candidate_tunable, fmt::format("the bundle has no tunable '{}'", name)};
  error.hint =
      !nearest ? "its tunables: " + (known.empty() ? "none" : join(known)) : "did you mean '" + *nearest + "'?";
  return error;
}

/// The reader has checked rows that were read; others may come from a program.
Result<void> check_rows(const Bundle& bundle) {
  for (std::size_t i = 0; i < bundle.dispatch.size(); ++i) {
    for (const auto& [name, value] : bundle.dispatch[i].tunables) {
      if (auto checked = allowed_tunable(bundle, name, value); !checked) {
        return with_context(std::move(checked).error(), fmt::format("reading dispatch row {}", i + 1));
      }
    }
  }
  return {};
}

bool is_left_to_rows(const Bundle& bundle, const std::string& name) {
  return std::any_of(bundle.dispatch.begin(), bundle.dispatch.end(),
                     [&](const DispatchRow& row) { return row.tunables.contains(name); });
}

/// Constraints over tunables alone; those that also name something else wait for plan_launches, which knows it.
Result<void> check_constraints(const Candidate& candidate) {
  for (const auto& constraint : candidate.bundle.constraints) {
    const auto value = evaluate_int_expr(constraint, candidate.tunables);
    if (!value && value.error().code == errc::expr_unknown_name) continue;
    if (!value) return with_context(value.error(), "evaluating a constraint");
    if (*value != 0) continue;
    std::vector<std::string> assignment;
    for (const auto& [name, chosen] : candidate.tunables) assignment.push_back(fmt::format("{}={}", name, chosen));
    return fail(errc::candidate_constraint, "the constraint \"{}\" does not hold for {}", constraint,
                join(assignment, " "));
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

Result<void> allowed_tunable(const Bundle& bundle, const std::string& name, std::int64_t value) {
  const auto tunable =
      std::find_if(bundle.tunables.begin(), bundle.tunables.end(), [&](const Tunable& t) { return t.name == name; });
  if (tunable == bundle.tunables.end()) return fail(unknown_tunable(bundle, name));
  if (std::find(tunable->values.begin(), tunable->values.end(), value) != tunable->values.end()) return {};
  return fail(errc::candidate_tunable, "tunable {} cannot be {}; its values are {}", name, value,
              join(tunable->values));
}

Result<Candidate> make_candidate(Bundle bundle, const IntBindings& overrides, SourceOrigin origin) {
  for (const auto& [name, value] : overrides) KW_TRY_VOID(allowed_tunable(bundle, name, value));
  KW_TRY_VOID(check_rows(bundle));
  Candidate candidate{std::move(bundle), overrides, origin};
  for (const auto& tunable : candidate.bundle.tunables) {
    if (candidate.tunables.contains(tunable.name)) continue;
    KW_TRY_VOID(allowed_tunable(candidate.bundle, tunable.name, tunable.default_value));
    if (!is_left_to_rows(candidate.bundle, tunable.name)) candidate.tunables[tunable.name] = tunable.default_value;
  }
  KW_TRY_VOID(check_constraints(candidate));
  return candidate;
}

}  // namespace kw
