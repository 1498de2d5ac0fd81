// The search that ships, on a recorded space: a style whose kernels are never compiled, with the recorded style's
// guesses and cost model. What is not in the table is not proposed: its estimate is infinite, and what the search asks
// for all the same is refused and not counted.

#include <algorithm>
#include <limits>
#include <utility>

#include "codegen/codegen.hpp"
#include "policy.hpp"
#include "predict/time_model.hpp"
#include "propose/search/search_proposer.hpp"

namespace kw::replay {
namespace {

constexpr double k_faster = 1.02;  ///< as ComparisonRule::equivalence
constexpr int k_refusals = 3000;   ///< in a row; what is left of the table then follows in its order

Problem replay_problem() {
  Problem problem;
  problem.name = "replay";
  problem.inputs = {{"X", DType::f32, {"N"}}};
  problem.outputs = {{"Y", DType::f32, {"N"}}};
  problem.workloads = {{"primary", WorkloadRole::primary, {{"N", 16}}}, {"edge", WorkloadRole::edge, {{"N", 7}}}};
  return problem;
}

IntBindings values_of(const ReplaySpace& space, const Levels& levels) {
  IntBindings values;
  for (std::size_t d = 0; d < levels.size(); ++d) {
    const Dimension& dimension = space.dimensions()[d];
    values[dimension.name] = dimension.values[static_cast<std::size_t>(levels[d])];
  }
  return values;
}

std::optional<std::size_t> point_in(const ReplaySpace& space, const IntBindings& values) {
  Levels levels;
  for (const auto& dimension : space.dimensions()) {
    const auto value = values.find(dimension.name);
    if (value == values.end()) return std::nullopt;
    const auto at = std::ranges::lower_bound(dimension.values, value->second);
    if (at == dimension.values.end() || *at != value->second) return std::nullopt;
    levels.push_back(static_cast<int>(at - dimension.values.begin()));
  }
  return space.find(levels);
}

Bundle replay_bundle(const ReplaySpace& space) {
  Bundle bundle;
  bundle.target = space.table().of.target;
  for (const auto& dimension : space.dimensions()) {
    bundle.tunables.push_back({dimension.name, dimension.values, dimension.values.front()});
  }
  bundle.launches = {{"k", {"1"}, {"1"}, "0", {"X", "Y"}}};
  bundle.source = "recorded";
  return bundle;
}

Style replay_style(const ReplaySpace& space) {
  Style style;
  style.op = "replay";
  style.target = space.table().of.target;
  style.name = space.table().of.style;
  style.emit = [&space](const Problem&, const DeviceFacts&, const IntBindings&) -> Result<Bundle> {
    return replay_bundle(space);
  };
  style.seeds = [&space](const Problem&, const DeviceFacts&) {
    std::vector<IntBindings> seeds;
    for (const auto point : space.seeds()) seeds.push_back(values_of(space, space.levels(point)));
    return seeds;
  };
  style.estimate = [&space](const Problem&, const DeviceFacts&, const IntBindings& values) {
    const auto point = point_in(space, values);
    return point ? space.estimate(*point) : std::numeric_limits<double>::infinity();
  };
  return style;
}

/// The best of another table, or for a misleading archive its slowest, as its archive would give them.
std::vector<Candidate> winners_of(const ReplaySpace& other, bool worst) {
  constexpr std::size_t k_winners = 3;
  std::vector<std::size_t> timed;
  for (std::size_t p = 0; p < other.size(); ++p) {
    if (other.cost(p)) timed.push_back(p);
  }
  std::ranges::sort(timed, {}, [&](std::size_t p) { return worst ? -*other.cost(p) : *other.cost(p); });
  timed.resize(std::min(timed.size(), k_winners));
  std::vector<Candidate> winners;
  for (const auto point : timed) winners.push_back({replay_bundle(other), values_of(other, other.levels(point))});
  return winners;
}

CandidateRanking ranking_by(const ReplaySpace& space, std::shared_ptr<const TimeModel> model) {
  if (!model) return nullptr;
  const TimeSubject subject = samples_of(space.table()).front().subject;
  return [&space, subject, model = std::move(model)](std::span<const CandidateToRank> candidates) {
    std::vector<TimeSample> asked;
    std::vector<bool> known;
    for (const auto& candidate : candidates) {
      TimeSample sample{subject, candidate.assignment};
      const auto point = point_in(space, candidate.assignment);
      if (point) sample.assignment = space.table().rows[*point].assignment;
      if (point && is_an_estimate(candidate.estimate)) sample.estimate = candidate.estimate;
      known.push_back(point.has_value());
      asked.push_back(std::move(sample));
    }
    auto times = model->times_ns(asked);
    KW_CHECK(times.has_value(), "{}", times.error().to_string());
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!known[i]) (*times)[i] = std::numeric_limits<double>::infinity();
    }
    return *std::move(times);
  };
}

class OursPolicy final : public Policy {
 public:
  explicit OursPolicy(const Knowledge& knowledge)
      : space_(knowledge.space), problem_(replay_problem()), style_(replay_style(space_)), given_(space_.size()) {
    SearchOptions options;
    options.problem = &problem_;
    options.device = space_.table().of.device;
    options.seed = knowledge.seed;
    // As Archive::bests gives them: of several runs in turn.
    std::vector<std::vector<Candidate>> winners;
    for (const auto* other : knowledge.others) winners.push_back(winners_of(*other, knowledge.misleads));
    for (std::size_t place = 0; place < 3; ++place) {
      for (const auto& of_one : winners) {
        if (place < of_one.size()) options.archived.push_back(of_one[place]);
      }
    }
    options.ranking = ranking_by(space_, knowledge.model);
    auto made = make_search_proposer(style_, options);
    KW_CHECK(made.has_value(), "{}", made.error().to_string());
    proposer_ = *std::move(made);
  }

  std::optional<std::size_t> next() override {
    for (int refused = 0; proposer_ && refused < k_refusals;) {
      const auto proposal = proposer_->next();
      if (!proposal) break;
      const auto point = point_in(space_, proposal->candidate.tunables);
      attempt_ = Attempt();
      attempt_.ordinal = ordinal_++;
      attempt_.candidate = proposal->candidate;
      if (point) {
        given_[*point] = true;
        asked_ = point;
        return point;
      }
      attempt_.verdict.reject(GateId::read, Reason::bundle_invalid, "not in the table");
      proposer_->observe(attempt_);
      ++refused;
    }
    proposer_.reset();
    for (std::size_t p = 0; p < given_.size(); ++p) {
      if (given_[p]) continue;
      given_[p] = true;
      return p;
    }
    return std::nullopt;
  }

  void tell(std::optional<double> cost) override {
    if (!proposer_) return;
    if (cost) {
      judge(*cost);
    } else {
      attempt_.verdict.reject(GateId::check, Reason::wrong_result, "recorded");
    }
    proposer_->observe(attempt_);
  }

 private:
  /// As the verifier would: compared with the best so far.
  void judge(double cost) {
    attempt_.measurement = Measurement();
    attempt_.measurement->median_ns = cost;
    const double speedup = best_ > 0 ? best_ / cost : 2;
    if (best_ > 0) {
      Versus versus;
      versus.name = "incumbent";
      versus.pairs = 10;
      versus.speedup = speedup;
      versus.decision = speedup > k_faster       ? Comparison::faster
                        : speedup < 1 / k_faster ? Comparison::slower
                                                 : Comparison::equivalent;
      attempt_.measurement->versus = {versus};
      attempt_.measurement->stopped_early = speedup < 1 / 1.5;
    }
    attempt_.became_best = speedup > k_faster;
    if (attempt_.became_best) {
      best_ = cost;
    } else {
      attempt_.verdict.screen("recorded");
    }
  }

  const ReplaySpace& space_;
  const Problem problem_;
  const Style style_;
  std::vector<bool> given_;
  std::unique_ptr<Proposer> proposer_;
  Attempt attempt_;
  std::optional<std::size_t> asked_;
  std::int64_t ordinal_ = 0;
  double best_ = 0;
};

}  // namespace

std::shared_ptr<const TimeModel> model_from(const std::vector<const ReplaySpace*>& others, bool misleads) {
  constexpr std::size_t k_most = 1000;  // as a run learns from its archive
  std::vector<TimeSample> samples;
  for (const auto* other : others) {
    auto timed = samples_of(other->table());
    const std::size_t stride = std::max<std::size_t>(1, timed.size() * others.size() / k_most);
    for (std::size_t i = 0; i < timed.size(); i += stride) {
      if (misleads) timed[i].time_ns = other->best() * other->best() / timed[i].time_ns;
      samples.push_back(std::move(timed[i]));
    }
  }
  if (samples.empty()) return nullptr;
  auto model = TimeModel::train(samples);
  KW_CHECK(model.has_value(), "{}", model.error().to_string());
  return std::make_shared<const TimeModel>(*std::move(model));
}

std::unique_ptr<Policy> make_ours(const Knowledge& knowledge) {
  return std::make_unique<OursPolicy>(knowledge);
}

std::vector<NamedPolicy> policies() {
  return {{"random", make_random},
          {"local search", make_local_search},
          {"local search, seeded", make_seeded_local_search},
          {"annealing", make_annealing},
          {"genetic", make_genetic},
          {"bayesian", make_bayesian},
          {"ours", make_ours},
          {"ours, archive", make_ours, true},
          {"ours, misled", make_ours, true, true},
          {"ours, foretold", make_ours, true, false, true},
          {"ours, foretold, misled", make_ours, true, true, true}};
}

}  // namespace kw::replay
