#include "propose/search/search_space.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "record/dispatch.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

/// More structural assignments are not emitted one by one: most of the choices change nothing in a problem.
constexpr std::int64_t k_most_structures = 256;

std::int64_t nearest_allowed(const Tunable& tunable, std::int64_t wanted) {
  const auto distance = [&](std::int64_t value) {
    return std::abs(static_cast<double>(value) - static_cast<double>(wanted));
  };
  return *std::min_element(tunable.values.begin(), tunable.values.end(),
                           [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
}

std::int64_t pick(const std::vector<std::int64_t>& values, Rng& rng) {
  return values[static_cast<std::size_t>(rng.below(std::ssize(values)))];
}

std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  return checked_mul(a, b).value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

Result<SearchSpace> SearchSpace::open(const Style& style, const Problem& problem, DeviceFacts device,
                                      ParallelFor parallel) {
  SearchSpace space(style, problem, std::move(device), std::move(parallel));
  KW_TRY(const Bundle bundle, style.emit(problem, space.device_, {}));
  for (const auto& tunable : bundle.tunables) {
    const auto same_name = [&](const Tunable& choice) { return choice.name == tunable.name; };
    KW_CHECK(std::none_of(style.structure.begin(), style.structure.end(), same_name),
             "style {} has a structural choice and a tunable called {}", style.name, tunable.name);
  }
  return space;
}

/// What a complete structural assignment gives: a new variant, one that is there, or nothing.
void SearchSpace::keep(const IntBindings& structure, Result<Bundle> bundle) {
  std::optional<std::size_t>& index = by_structure_[structure];
  if (!bundle) return;
  const Hash id = bundle->id();
  const auto same = std::ranges::find(variants_, id, &Variant::id);
  index = static_cast<std::size_t>(same - variants_.begin());
  if (same != variants_.end()) return;
  auto constraints = parse_int_exprs(bundle->constraints);
  KW_CHECK(constraints.has_value(), "{}", constraints.error().to_string());
  variants_.push_back({structure, *std::move(bundle), id, *std::move(constraints), {}});
}

/// Those that are not known yet, side by side; new variants stand in the order of `structures`.
void SearchSpace::emit(const std::vector<IntBindings>& structures) {
  std::set<IntBindings> seen;
  std::vector<const IntBindings*> unknown;
  for (const auto& structure : structures) {
    if (!by_structure_.contains(structure) && seen.insert(structure).second) unknown.push_back(&structure);
  }
  std::vector<Result<Bundle>> bundles(unknown.size());
  parallel_(std::ssize(unknown), [&](std::int64_t i) {
    const auto place = static_cast<std::size_t>(i);
    bundles[place] = style_->emit(*problem_, device_, *unknown[place]);
  });
  const std::size_t before = variants_.size();
  for (std::size_t i = 0; i < unknown.size(); ++i) keep(*unknown[i], std::move(bundles[i]));
  if (!style_->estimator) return;
  parallel_(std::ssize(variants_) - static_cast<std::int64_t>(before), [&](std::int64_t i) {
    Variant& variant = variants_[before + static_cast<std::size_t>(i)];
    variant.estimate = style_->estimator(*problem_, device_, variant.structure);
  });
}

/// The variant of a complete structural assignment.
std::optional<std::size_t> SearchSpace::variant_for(const IntBindings& structure) {
  if (!by_structure_.contains(structure)) emit({structure});
  return by_structure_.at(structure);
}

std::int64_t SearchSpace::structure_count() const {
  std::int64_t count = 1;
  for (const auto& choice : style_->structure) count = saturating_product(count, std::ssize(choice.values));
  return count;
}

IntBindings SearchSpace::structure_at_defaults() const {
  IntBindings structure;
  for (const auto& choice : style_->structure) structure[choice.name] = choice.default_value;
  return structure;
}

IntBindings SearchSpace::structure_at(std::int64_t rank) const {
  IntBindings structure;
  for (const auto& choice : style_->structure) {
    const std::int64_t values = std::ssize(choice.values);
    structure[choice.name] = choice.values[static_cast<std::size_t>(rank % values)];
    rank /= values;
  }
  return structure;
}

bool SearchSpace::widen() {
  const std::size_t before = variants_.size();
  std::vector<IntBindings> structures;
  if (structure_count() <= k_most_structures) {
    for (; emitted_ranks_ < structure_count(); ++emitted_ranks_) structures.push_back(structure_at(emitted_ranks_));
    emit(structures);
    return variants_.size() > before;
  }
  (void)variant_for(structure_at_defaults());
  while (variants_.size() == before && followed_variants_ < variants_.size()) {
    emit(single_changes(variants_[followed_variants_++].structure));
  }
  return variants_.size() > before;
}

/// With itself among them.
std::vector<IntBindings> SearchSpace::single_changes(const IntBindings& structure) const {
  std::vector<IntBindings> changes;
  for (const auto& choice : style_->structure) {
    for (const auto value : choice.values) {
      changes.push_back(structure);
      changes.back()[choice.name] = value;
    }
  }
  return changes;
}

void SearchSpace::emit_variants() {
  while (widen()) {
  }
}

std::int64_t SearchSpace::size() {
  emit_variants();
  return known_points();
}

bool SearchSpace::exceeds(std::int64_t points) {
  while (known_points() <= points) {
    if (!widen()) return false;
  }
  return true;
}

std::int64_t SearchSpace::known_points() const {
  std::int64_t total = 0;
  for (const auto& variant : variants_) {
    std::int64_t points = 1;
    for (const auto& tunable : variant.bundle.tunables) points = saturating_product(points, std::ssize(tunable.values));
    total = checked_add(total, points).value_or(std::numeric_limits<std::int64_t>::max());
  }
  return total;
}

SearchPoint SearchSpace::carried_over(std::size_t variant, const IntBindings& tunables) const {
  SearchPoint point{variant, {}};
  for (const auto& tunable : variants_[variant].bundle.tunables) {
    const auto wanted = tunables.find(tunable.name);
    point.tunables[tunable.name] =
        wanted == tunables.end() ? tunable.default_value : nearest_allowed(tunable, wanted->second);
  }
  return point;
}

std::optional<SearchPoint> SearchSpace::point_at(const IntBindings& assignment) {
  IntBindings structure;
  for (const auto& choice : style_->structure) {
    const auto wanted = assignment.find(choice.name);
    structure[choice.name] =
        wanted == assignment.end() ? choice.default_value : nearest_allowed(choice, wanted->second);
  }
  const auto variant = variant_for(structure);
  if (!variant) return std::nullopt;
  return carried_over(*variant, assignment);
}

std::optional<SearchPoint> SearchSpace::point_of(const Candidate& candidate) {
  const Hash id = candidate.bundle.id();
  // A dispatch table of another problem may ask for axes that this one lacks; what it assigns is then not known.
  const auto resolved = resolve_tunables(candidate, problem_->primary().axes, device_);
  const IntBindings& tunables = resolved ? resolved->values : candidate.tunables;
  const auto same_bundle = [&] { return std::ranges::find(variants_, id, &Variant::id); };
  if (same_bundle() == variants_.end()) (void)variant_for(structure_at_defaults());
  if (same_bundle() == variants_.end()) emit_variants();
  if (const auto same = same_bundle(); same != variants_.end())
    return carried_over(static_cast<std::size_t>(same - variants_.begin()), tunables);
  auto point = point_at(tunables);
  const auto shared = [&](const auto& entry) { return tunables.contains(entry.first); };
  if (!point || std::none_of(point->tunables.begin(), point->tunables.end(), shared)) return std::nullopt;
  return point;
}

bool SearchSpace::is_consistent(const SearchPoint& point) const {
  IntBindings names = point.tunables;
  names.insert(device_names_.begin(), device_names_.end());
  for (const auto& constraint : variants_[point.variant].constraints) {
    const auto value = constraint.evaluate(names);
    // A name that is neither is an axis: candidate_at decides.
    if (value ? *value == 0 : value.error().code != errc::expr_unknown_name) return false;
  }
  return true;
}

std::optional<Candidate> SearchSpace::candidate_at(const SearchPoint& point) const {
  if (!is_consistent(point)) return std::nullopt;
  auto candidate = make_candidate(variants_[point.variant].bundle, point.tunables, style_->origin);
  if (!candidate) return std::nullopt;
  for (const auto& workload : problem_->workloads) {
    if (!plan_launches(*candidate, *problem_, workload.axes, device_)) return std::nullopt;
  }
  return *std::move(candidate);
}

IntBindings SearchSpace::assignment(const SearchPoint& point) const {
  IntBindings all = variants_[point.variant].structure;
  all.insert(point.tunables.begin(), point.tunables.end());
  return all;
}

std::vector<std::string> SearchSpace::names() {
  std::vector<std::string> known;
  const auto add = [&](const std::vector<Tunable>& tunables) {
    for (const auto& tunable : tunables) {
      if (std::ranges::find(known, tunable.name) == known.end()) known.push_back(tunable.name);
    }
  };
  add(style_->structure);
  emit_variants();
  for (const auto& variant : variants_) add(variant.bundle.tunables);
  return known;
}

std::map<std::string, std::set<std::int64_t>, std::less<>> SearchSpace::values() {
  std::map<std::string, std::set<std::int64_t>, std::less<>> known;
  const auto add = [&](const std::vector<Tunable>& tunables) {
    for (const auto& tunable : tunables) known[tunable.name].insert(tunable.values.begin(), tunable.values.end());
  };
  add(style_->structure);
  for (const auto& name : names()) known.try_emplace(name);
  for (const auto& variant : variants_) add(variant.bundle.tunables);
  return known;
}

double SearchSpace::estimate(const SearchPoint& point) const {
  const auto& of_variant = variants_[point.variant].estimate;
  return of_variant ? of_variant(assignment(point)) : style_->estimate(*problem_, device_, assignment(point));
}

std::vector<SearchStep> SearchSpace::neighbours(const SearchPoint& point) {
  std::vector<SearchStep> steps;
  const auto offer = [&](SearchPoint to, const std::string& dimension) {
    if (to != point && is_consistent(to)) steps.push_back({std::move(to), dimension});
  };
  // Copies, because emitting a new variant may move the ones there are.
  const std::vector<Tunable> tunables = variants_[point.variant].bundle.tunables;
  const IntBindings structure = variants_[point.variant].structure;
  for (const auto& tunable : tunables) {
    for (const auto value : tunable.values) {
      SearchPoint to = point;
      to.tunables[tunable.name] = value;
      offer(std::move(to), tunable.name);
    }
  }
  for (const auto& choice : style_->structure) {
    for (const auto value : choice.values) {
      IntBindings changed = structure;
      changed[choice.name] = value;
      if (const auto variant = variant_for(changed)) offer(carried_over(*variant, point.tunables), choice.name);
    }
  }
  return steps;
}

SearchStep SearchSpace::scatter(const SearchPoint& point, int count, Rng& rng) {
  IntBindings structure = variants_[point.variant].structure;
  std::vector<const Tunable*> dimensions;
  const std::vector<Tunable> tunables = variants_[point.variant].bundle.tunables;
  for (const auto& tunable : tunables) dimensions.push_back(&tunable);
  for (const auto& choice : style_->structure) dimensions.push_back(&choice);
  std::erase_if(dimensions, [](const Tunable* dimension) { return dimension->values.size() < 2; });

  SearchPoint changed = point;
  std::string names;
  for (int i = 0; i < count && !dimensions.empty(); ++i) {
    const auto chosen = dimensions.begin() + rng.below(std::ssize(dimensions));
    const Tunable& dimension = **chosen;
    auto& value =
        changed.tunables.contains(dimension.name) ? changed.tunables[dimension.name] : structure[dimension.name];
    std::vector<std::int64_t> others = dimension.values;
    std::erase(others, value);
    value = pick(others, rng);
    names += (names.empty() ? "" : ", ") + dimension.name;
    dimensions.erase(chosen);
  }
  const auto variant = variant_for(structure);
  return {variant ? carried_over(*variant, changed.tunables) : point, std::move(names)};
}

std::optional<std::size_t> SearchSpace::random_variant(Rng& rng) {
  if (structure_count() > k_most_structures) {
    if (variants_.empty()) widen();
    return static_cast<std::size_t>(rng.below(std::ssize(variants_)));
  }
  IntBindings structure;
  for (const auto& choice : style_->structure) structure[choice.name] = pick(choice.values, rng);
  return variant_for(structure);
}

std::optional<SearchPoint> SearchSpace::random_point(Rng& rng) {
  const auto variant = random_variant(rng);
  if (!variant) return std::nullopt;
  SearchPoint point{*variant, {}};
  for (const auto& tunable : variants_[*variant].bundle.tunables) {
    point.tunables[tunable.name] = pick(tunable.values, rng);
  }
  return point;
}

std::optional<SearchPoint> SearchSpace::Walk::next(SearchSpace& space) {
  if (!variant_) {
    if (next_variant_ == space.variants_.size() && !space.widen()) return std::nullopt;
    variant_ = next_variant_++;
    digits_.assign(space.variants_[*variant_].bundle.tunables.size(), 0);
  }
  const auto& tunables = space.variants_[*variant_].bundle.tunables;
  SearchPoint point{*variant_, {}};
  for (std::size_t i = 0; i < digits_.size(); ++i) point.tunables[tunables[i].name] = tunables[i].values[digits_[i]];
  std::size_t at = 0;
  while (at < digits_.size() && ++digits_[at] == tunables[at].values.size()) digits_[at++] = 0;
  if (at == digits_.size()) variant_.reset();
  return point;
}

}  // namespace kw
