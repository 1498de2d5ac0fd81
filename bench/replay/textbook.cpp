// Policies as books describe them, without what the product knows of a style.

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "base/rng.hpp"
#include "policy.hpp"

namespace kw::replay {
namespace {

constexpr double k_rejected = std::numeric_limits<double>::infinity();

/// What all of them need: which points were given, and a random one that was not.
class Textbook : public Policy {
 public:
  explicit Textbook(const Knowledge& knowledge)
      : space_(knowledge.space), rng_(knowledge.seed), given_(knowledge.space.size()), costs_(knowledge.space.size()) {
    for (std::size_t i = 0; i < space_.size(); ++i) unseen_.push_back(i);
    for (std::size_t i = unseen_.size(); i > 1; --i) {
      std::swap(unseen_[i - 1], unseen_[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(i)))]);
    }
  }

  std::optional<std::size_t> next() final {
    asked_ = choose();
    if (asked_) given_[*asked_] = true;
    return asked_;
  }
  void tell(std::optional<double> cost) final {
    costs_[*asked_] = cost.value_or(k_rejected);
    learn(*asked_, costs_[*asked_]);
  }

 protected:
  virtual std::optional<std::size_t> choose() = 0;
  virtual void learn(std::size_t point, double cost) = 0;

  [[nodiscard]] bool is_given(std::size_t point) const { return given_[point]; }
  std::optional<std::size_t> any_unseen() {
    while (!unseen_.empty() && given_[unseen_.back()]) unseen_.pop_back();
    return unseen_.empty() ? std::nullopt : std::optional(unseen_.back());
  }
  void shuffle(std::vector<std::size_t>& points) {
    for (std::size_t i = points.size(); i > 1; --i) {
      std::swap(points[i - 1], points[static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(i)))]);
    }
  }

  const ReplaySpace& space_;
  Rng rng_;
  std::vector<bool> given_;
  std::vector<double> costs_;  ///< of points that were given

 private:
  std::vector<std::size_t> unseen_;
  std::optional<std::size_t> asked_;
};

class RandomPolicy final : public Textbook {
 public:
  using Textbook::Textbook;
  std::optional<std::size_t> choose() override { return any_unseen(); }
  void learn(std::size_t, double) override {}
};

/// First improvement over Hamming neighbours in random order; at a local optimum a jump of three dimensions from the
/// best, and after six that led nowhere a random point.
class LocalSearchPolicy final : public Textbook {
 public:
  LocalSearchPolicy(const Knowledge& knowledge, bool is_seeded) : Textbook(knowledge) {
    if (!is_seeded) return;
    for (const auto seed : space_.seeds()) seeds_.push_back(seed);
  }

  std::optional<std::size_t> choose() override {
    while (!seeds_.empty()) {
      const std::size_t seed = seeds_.front();
      seeds_.pop_front();
      if (!is_given(seed)) return seed;
    }
    if (!current_ && !best_) return any_unseen();
    while (!neighbours_.empty()) {
      const std::size_t point = neighbours_.back();
      neighbours_.pop_back();
      if (!is_given(point)) return point;
    }
    jumped_ = true;
    if (++jumps_ % 6 != 0) {
      for (int i = 0; i < 200; ++i) {
        const auto point = scattered();
        if (point && !is_given(*point)) return point;
      }
    }
    return any_unseen();
  }

  void learn(std::size_t point, double cost) override {
    const bool best = !best_ || cost < costs_[*best_];
    if (std::isfinite(cost) && best) best_ = point;
    if (best) jumps_ = 0;
    const bool steps = current_ && cost < costs_[*current_];
    const bool lands = jumped_ && best_ && cost < 1.25 * costs_[*best_];
    jumped_ = false;
    if (!std::isfinite(cost) || !(best || steps || lands)) return;
    current_ = point;
    neighbours_ = space_.neighbours(point);
    shuffle(neighbours_);
  }

 private:
  std::optional<std::size_t> scattered() {
    Levels levels = space_.levels(best_.value_or(0));
    for (int i = 0; i < 3; ++i) {
      const auto d = static_cast<std::size_t>(rng_.below(std::ssize(space_.dimensions())));
      levels[d] = static_cast<int>(rng_.below(std::ssize(space_.dimensions()[d].values)));
    }
    return space_.find(levels);
  }

  std::deque<std::size_t> seeds_;
  std::optional<std::size_t> best_, current_;
  std::vector<std::size_t> neighbours_;
  bool jumped_ = false;
  int jumps_ = 0;
};

/// Metropolis steps to random neighbours, on log cost; cooled geometrically, and reheated when it is cold.
class AnnealingPolicy final : public Textbook {
 public:
  using Textbook::Textbook;
  std::optional<std::size_t> choose() override {
    if (!current_) return any_unseen();
    auto around = space_.neighbours(*current_);
    shuffle(around);
    for (const auto point : around) {
      if (!is_given(point)) return point;
      // A known neighbour is a step that costs nothing.
      if (accepts(costs_[point])) {
        current_ = point;
        return choose_from_here(around.size());
      }
    }
    return any_unseen();
  }
  void learn(std::size_t point, double cost) override {
    if (accepts(cost)) current_ = point;
    temperature_ *= 0.95;
    if (temperature_ < 0.005) temperature_ = 0.5;
  }

 private:
  std::optional<std::size_t> choose_from_here(std::size_t tries) {
    for (std::size_t i = 0; i < tries; ++i) {
      const auto around = space_.neighbours(*current_);
      if (around.empty()) break;
      const auto point = around[static_cast<std::size_t>(rng_.below(std::ssize(around)))];
      if (!is_given(point)) return point;
      if (accepts(costs_[point])) current_ = point;
    }
    return any_unseen();
  }
  bool accepts(double cost) {
    if (!std::isfinite(cost)) return false;
    if (!current_ || cost <= costs_[*current_]) return true;
    return rng_.uniform() < std::exp(-std::log(cost / costs_[*current_]) / temperature_);
  }

  std::optional<std::size_t> current_;
  double temperature_ = 0.5;
};

/// A population of 20: two parents by tournaments of two, uniform crossover, one mutation on average; the child takes
/// the place of the worst.
class GeneticPolicy final : public Textbook {
 public:
  using Textbook::Textbook;
  std::optional<std::size_t> choose() override {
    if (population_.size() < k_population) return any_unseen();
    for (int i = 0; i < 200; ++i) {
      const auto child = space_.find(crossed(space_.levels(parent()), space_.levels(parent())));
      if (child && !is_given(*child)) return child;
    }
    return any_unseen();
  }
  void learn(std::size_t point, double cost) override {
    if (!std::isfinite(cost)) return;
    population_.push_back(point);
    if (population_.size() <= k_population) return;
    population_.erase(std::ranges::max_element(population_, {}, [&](std::size_t p) { return costs_[p]; }));
  }

 private:
  static constexpr std::size_t k_population = 20;

  std::size_t parent() {
    const auto pick = [&] { return population_[static_cast<std::size_t>(rng_.below(std::ssize(population_)))]; };
    const std::size_t a = pick();
    const std::size_t b = pick();
    return costs_[a] < costs_[b] ? a : b;
  }
  Levels crossed(const Levels& a, const Levels& b) {
    Levels child;
    for (std::size_t d = 0; d < a.size(); ++d) {
      child.push_back(rng_.uniform() < 0.5 ? a[d] : b[d]);
      if (rng_.uniform() * static_cast<double>(a.size()) < 1) {
        child[d] = static_cast<int>(rng_.below(std::ssize(space_.dimensions()[d].values)));
      }
    }
    return child;
  }

  std::vector<std::size_t> population_;
};

}  // namespace

std::unique_ptr<Policy> make_random(const Knowledge& knowledge) {
  return std::make_unique<RandomPolicy>(knowledge);
}
std::unique_ptr<Policy> make_local_search(const Knowledge& knowledge) {
  return std::make_unique<LocalSearchPolicy>(knowledge, false);
}
std::unique_ptr<Policy> make_seeded_local_search(const Knowledge& knowledge) {
  return std::make_unique<LocalSearchPolicy>(knowledge, true);
}
std::unique_ptr<Policy> make_annealing(const Knowledge& knowledge) {
  return std::make_unique<AnnealingPolicy>(knowledge);
}
std::unique_ptr<Policy> make_genetic(const Knowledge& knowledge) {
  return std::make_unique<GeneticPolicy>(knowledge);
}

}  // namespace kw::replay
