#include "propose/search/search_proposer.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "propose/search/foremost_points.hpp"
#include "propose/search/search_space.hpp"

namespace kw {
namespace {

/// Measured on 26 recorded spaces: seeds from other devices cut the search six times, but from another vendor they can
/// hurt, so the style's own guesses keep their slots among the first.
constexpr std::size_t k_analytic_slots = 4;
constexpr std::size_t k_archive_slots = 6;
constexpr std::size_t k_foretold_slots = 4;
constexpr std::size_t k_foretold_among = 2000;
constexpr double k_clear_gain = 1.02;     ///< less is called equivalent (ComparisonRule::equivalence)
constexpr double k_far_estimate = 3.0;    ///< times the best estimate: postponed to the end
constexpr double k_worst_landing = 1.25;  ///< times the best: a kick that lands higher is not descended from
constexpr int k_kicks_per_restart = 6;
constexpr int k_tries = 200;  ///< to find an unseen point at random before walking the space in order

enum class Purpose { seed, neighbour, jump, remaining };

struct Trial {
  SearchPoint point;
  double cost = std::numeric_limits<double>::infinity();  ///< ns, relative to the incumbent where it was compared
  std::int64_t ordinal = -1;
};

const Versus* versus_incumbent(const Attempt& attempt) {
  if (!attempt.measurement) return nullptr;
  const auto& versus = attempt.measurement->versus;
  const auto found = std::find_if(versus.begin(), versus.end(), [](const Versus& v) { return v.name == "incumbent"; });
  return found == versus.end() || found->pairs == 0 ? nullptr : &*found;
}

bool is_clearly_cheaper(const Trial& trial, const Trial& than) {
  return trial.cost * k_clear_gain < than.cost;
}

class SearchProposer final : public Proposer {
 public:
  SearchProposer(SearchSpace space, std::uint64_t seed, CandidateRanking ranking)
      : space_(std::move(space)), rng_(seed), ranking_(std::move(ranking)) {}

  void seed_with(const std::vector<IntBindings>& analytic, const std::vector<Candidate>& archived);
  std::optional<Proposal> next() override;
  void observe(const Attempt& attempt) override;
  void others_observed(const Attempt& attempt) override { holds_best_ = holds_best_ && !attempt.became_best; }

 private:
  struct Seed {
    SearchPoint point;
    std::string origin;
  };
  struct Pending {
    SearchPoint point;
    Purpose purpose;
  };

  [[nodiscard]] std::optional<Proposal> propose(const SearchPoint& point, Purpose purpose, std::string origin);
  [[nodiscard]] std::optional<Proposal> next_seed();
  [[nodiscard]] std::optional<Proposal> next_neighbour();
  [[nodiscard]] std::optional<Proposal> next_jump();
  [[nodiscard]] std::optional<Proposal> next_kick();
  [[nodiscard]] std::optional<Proposal> next_restart();
  [[nodiscard]] std::optional<Proposal> next_remaining();
  [[nodiscard]] Trial trial_of(const SearchPoint& point, const Attempt& attempt) const;
  [[nodiscard]] const Versus* versus_best(const Attempt& attempt) const;
  [[nodiscard]] bool beats_best(const Trial& trial, const Attempt& attempt) const;
  [[nodiscard]] bool is_fresh(const SearchPoint& point);
  void descend_from(Trial trial);
  void order_neighbours();
  void rank_neighbours();

  SearchSpace space_;
  Rng rng_;
  CandidateRanking ranking_;  ///< null: there is none
  std::deque<Seed> seeds_;
  std::deque<Seed> restart_points_;  ///< seeds that had no slot: where restarts go first
  std::deque<Pending> pending_;
  std::set<SearchPoint> seen_;
  double best_estimate_ = std::numeric_limits<double>::infinity();
  std::optional<Trial> best_;
  bool holds_best_ = false;            ///< what attempts are timed against is best_, and no other proposer's kernel
  std::optional<Trial> current_;       ///< where the local search stands; not always the best
  std::deque<SearchStep> neighbours_;  ///< of current_, still to be proposed
  bool neighbours_are_stale_ = false;  ///< current_ moved
  int jumps_without_gain_ = 0;
  bool jumps_ran_dry_ = false;  ///< so little is unseen that chance no longer finds it
  SearchSpace::Walk walk_;
  bool walked_near_ = false;  ///< the walk that leaves out far points is over
};

void SearchProposer::seed_with(const std::vector<IntBindings>& analytic, const std::vector<Candidate>& archived) {
  std::deque<Seed> own;
  for (const auto& assignment : analytic) {
    if (auto point = space_.point_at(assignment)) {
      own.push_back({*std::move(point), fmt::format("analytic seed {}", own.size() + 1)});
    }
  }
  if (own.empty()) {
    if (auto point = space_.point_at({})) own.push_back({*std::move(point), "the style's defaults"});
  }
  std::deque<Seed> past;
  for (const auto& candidate : archived) {
    if (past.size() == k_archive_slots) break;
    if (auto point = space_.point_of(candidate)) {
      past.push_back({*std::move(point), fmt::format("archive seed {}", past.size() + 1)});
    }
  }
  std::deque<Seed> foretold;
  if (ranking_) {
    for (auto& point : foremost_points(space_, ranking_, k_foretold_slots, k_foretold_among, rng_)) {
      foretold.push_back({std::move(point), fmt::format("foretold seed {}", foretold.size() + 1)});
    }
  }
  // Own guess, past winner, own guess, ...: whichever knows better, a good kernel comes early.
  for (std::size_t slot = 0; slot < std::max({k_analytic_slots, past.size(), foretold.size()}); ++slot) {
    if (slot < own.size() && slot < k_analytic_slots) seeds_.push_back(own[slot]);
    if (slot < foretold.size()) seeds_.push_back(foretold[slot]);
    if (slot < past.size()) seeds_.push_back(past[slot]);
  }
  for (std::size_t i = k_analytic_slots; i < own.size(); ++i) restart_points_.push_back(own[i]);
  for (const auto& seed : seeds_) best_estimate_ = std::min(best_estimate_, space_.estimate(seed.point));
}

std::optional<Proposal> SearchProposer::next() {
  if (auto proposal = next_seed()) return proposal;
  if (auto proposal = next_neighbour()) return proposal;
  if (auto proposal = next_jump()) return proposal;
  return next_remaining();
}

/// Nothing when the point was proposed before or is not legal.
std::optional<Proposal> SearchProposer::propose(const SearchPoint& point, Purpose purpose, std::string origin) {
  if (seen_.contains(point)) return std::nullopt;
  auto candidate = space_.candidate_at(point);
  if (!candidate) return std::nullopt;
  seen_.insert(point);
  pending_.push_back({point, purpose});
  return Proposal{*std::move(candidate), "search", std::move(origin)};
}

/// Worth proposing now: unseen, consistent, and not estimated to be far worse than the best guess.
bool SearchProposer::is_fresh(const SearchPoint& point) {
  if (seen_.contains(point) || !space_.is_consistent(point)) return false;
  const double estimate = space_.estimate(point);
  best_estimate_ = std::min(best_estimate_, estimate);
  return !(estimate > k_far_estimate * best_estimate_);
}

std::optional<Proposal> SearchProposer::next_seed() {
  while (!seeds_.empty()) {
    const Seed seed = std::move(seeds_.front());
    seeds_.pop_front();
    if (auto proposal = propose(seed.point, Purpose::seed, seed.origin)) return proposal;
  }
  return std::nullopt;
}

/// The cheapest estimate of every dimension first, then every dimension's second: an estimate is blind to some
/// dimensions, and their turn must not wait until all values of the others are through. Equals in random order.
void SearchProposer::order_neighbours() {
  struct Ranked {
    int rank;  ///< within its dimension
    double estimate;
    SearchStep step;
  };
  auto steps = space_.neighbours(current_->point);
  std::erase_if(steps, [&](const SearchStep& step) { return !is_fresh(step.point); });
  for (std::size_t i = steps.size(); i > 1; --i) {
    std::swap(steps[i - 1], steps[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(i)))]);
  }
  std::vector<Ranked> ranked;
  for (auto& step : steps) ranked.push_back({0, space_.estimate(step.point), std::move(step)});
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.estimate < b.estimate; });
  std::map<std::string, int> met;
  for (auto& entry : ranked) entry.rank = met[entry.step.dimension]++;
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  neighbours_.clear();
  for (auto& entry : ranked) neighbours_.push_back(std::move(entry.step));
  neighbours_are_stale_ = false;
  if (ranking_) rank_neighbours();
}

/// The foremost by the ranking first, but every k_unranked_every-th as they stood.
void SearchProposer::rank_neighbours() {
  std::vector<SearchPoint> points;
  for (const auto& step : neighbours_) points.push_back(step.point);
  const auto ranks = rank_points(space_, ranking_, points);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
  std::deque<SearchStep> ranked;
  std::vector<bool> taken(points.size());
  std::size_t as_ranked = 0, as_stood = 0;
  while (ranked.size() < points.size()) {
    const bool explores = (ranked.size() + 1) % k_unranked_every == 0;
    std::size_t& next = explores ? as_stood : as_ranked;
    while (taken[explores ? next : order[next]]) ++next;
    const std::size_t chosen = explores ? next : order[next];
    taken[chosen] = true;
    ranked.push_back(neighbours_[chosen]);
  }
  neighbours_ = std::move(ranked);
}

std::optional<Proposal> SearchProposer::next_neighbour() {
  if (!current_) return std::nullopt;
  if (neighbours_are_stale_) order_neighbours();
  while (!neighbours_.empty()) {
    const SearchStep step = std::move(neighbours_.front());
    neighbours_.pop_front();
    auto origin = fmt::format("neighbour of {} ({})", current_->ordinal, step.dimension);
    if (auto proposal = propose(step.point, Purpose::neighbour, std::move(origin))) return proposal;
  }
  return std::nullopt;
}

/// At a local optimum: a kick away from the best, or after some that led nowhere another restart point.
std::optional<Proposal> SearchProposer::next_jump() {
  if (jumps_ran_dry_) return std::nullopt;
  ++jumps_without_gain_;
  const bool restarts = !best_ || jumps_without_gain_ % k_kicks_per_restart == 0;
  if (!restarts) {
    if (auto proposal = next_kick()) return proposal;
  }
  auto proposal = next_restart();
  jumps_ran_dry_ = !proposal;
  return proposal;
}

std::optional<Proposal> SearchProposer::next_kick() {
  for (int i = 0; i < k_tries; ++i) {
    const auto step = space_.scatter(best_->point, 2 + static_cast<int>(rng_.below(2)), rng_);
    if (!is_fresh(step.point)) continue;
    auto origin = fmt::format("kick from {} ({})", best_->ordinal, step.dimension);
    if (auto proposal = propose(step.point, Purpose::jump, std::move(origin))) return proposal;
  }
  return std::nullopt;
}

std::optional<Proposal> SearchProposer::next_restart() {
  while (!restart_points_.empty()) {
    const Seed seed = std::move(restart_points_.front());
    restart_points_.pop_front();
    if (auto proposal = propose(seed.point, Purpose::jump, "restart from " + seed.origin)) return proposal;
  }
  space_.widen();
  for (int i = 0; i < k_tries; ++i) {
    const auto point = space_.random_point(rng_);
    if (!point || !is_fresh(*point)) continue;
    if (auto proposal = propose(*point, Purpose::jump, "restart at random")) return proposal;
  }
  return std::nullopt;
}

/// What no jump found any more, in order; first without, then with the points that were postponed.
std::optional<Proposal> SearchProposer::next_remaining() {
  while (true) {
    const auto point = walk_.next(space_);
    if (!point && walked_near_) return std::nullopt;
    if (!point) {
      walked_near_ = true;
      walk_ = {};
      continue;
    }
    if (!walked_near_ && !is_fresh(*point)) continue;
    if (auto proposal = propose(*point, Purpose::remaining, "what is left of the space")) return proposal;
  }
}

/// A comparison with a kernel that this search has not seen says nothing about its own best.
const Versus* SearchProposer::versus_best(const Attempt& attempt) const {
  return best_ && holds_best_ ? versus_incumbent(attempt) : nullptr;
}

/// Where it was timed against the incumbent, the cost is the incumbent's divided by the paired speedup: medians taken
/// minutes apart differ by more than most steps gain.
Trial SearchProposer::trial_of(const SearchPoint& point, const Attempt& attempt) const {
  Trial trial;
  trial.point = point;
  trial.ordinal = attempt.ordinal;
  if (!attempt.verdict.right_so_far()) return trial;
  // Where nothing is timed, the style's estimate is all there is to go by.
  if (!attempt.measurement) trial.cost = space_.estimate(point);
  if (!attempt.measurement || !(attempt.measurement->median_ns > 0)) return trial;
  const Versus* versus = versus_best(attempt);
  trial.cost = versus != nullptr ? best_->cost / versus->speedup : attempt.measurement->median_ns;
  if (best_ && attempt.measurement->stopped_early) trial.cost = std::max(trial.cost, best_->cost * k_clear_gain);
  return trial;
}

bool SearchProposer::beats_best(const Trial& trial, const Attempt& attempt) const {
  if (!std::isfinite(trial.cost) || !attempt.verdict.accepted()) return false;
  if (!best_) return true;
  const Versus* versus = versus_best(attempt);
  return versus != nullptr ? versus->decision == Comparison::faster : is_clearly_cheaper(trial, *best_);
}

void SearchProposer::descend_from(Trial trial) {
  current_ = std::move(trial);
  neighbours_.clear();
  neighbours_are_stale_ = true;
}

void SearchProposer::observe(const Attempt& attempt) {
  KW_CHECK(!pending_.empty(), "attempt {} was observed but never proposed", attempt.ordinal);
  const Pending pending = std::move(pending_.front());
  pending_.pop_front();
  const Trial trial = trial_of(pending.point, attempt);
  const bool best = beats_best(trial, attempt);
  holds_best_ = holds_best_ || attempt.became_best;
  if (best) {
    best_ = trial;
    jumps_without_gain_ = 0;
    descend_from(trial);
    return;
  }
  if (!std::isfinite(trial.cost)) return;
  const bool lands = pending.purpose == Purpose::jump && trial.cost < k_worst_landing * best_->cost;
  // The best itself gives way only to a decision, above.
  const bool steps = pending.purpose == Purpose::neighbour && current_ && current_->ordinal != best_->ordinal &&
                     is_clearly_cheaper(trial, *current_);
  if (lands || steps) descend_from(trial);
}

}  // namespace

Result<std::unique_ptr<Proposer>> make_search_proposer(const Style& style, const SearchOptions& options) {
  KW_CHECK(options.problem != nullptr, "a search needs a problem");
  KW_TRY(auto space, SearchSpace::open(style, *options.problem, options.device, options.parallel));
  auto proposer = std::make_unique<SearchProposer>(std::move(space), options.seed, options.ranking);
  proposer->seed_with(style.seeds(*options.problem, options.device), options.archived);
  return proposer;
}

Result<std::unique_ptr<Proposer>> make_search_proposer(const SearchOptions& options) {
  KW_CHECK(options.problem != nullptr, "a search needs a problem");
  KW_TRY(const Style* style, find_style(options.problem->op, options.target, options.style));
  return make_search_proposer(*style, options);
}

namespace {

Result<std::unique_ptr<Proposer>> make_search(const ProposerContext& context) {
  return make_search_proposer(search_options(context));
}

}  // namespace

SearchOptions search_options(const ProposerContext& context) {
  return {context.problem, context.device,   context.target,  context.style,
          context.seed,    context.archived, context.ranking, context.parallel};
}

const ProposerEntry& search_entry() {
  static constexpr ProposerEntry k_entry = {"search", "the built-in search", false, false, make_search};
  return k_entry;
}

}  // namespace kw
