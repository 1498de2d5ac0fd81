// Bayesian optimisation: a Gaussian process with Matern 5/2 over levels scaled to [0, 1], of log cost; expected
// improvement over all points that were not given; eight random ones first (Snoek, Larochelle, Adams 2012). Of three
// length scales the likeliest speaks.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/rng.hpp"
#include "policy.hpp"

namespace kw::replay {
namespace {

constexpr double k_noise = 1e-3;  ///< of standardised costs, as a variance
constexpr std::size_t k_first = 8;

/// One length scale's process. Rows of the Cholesky factor, and of its solution against every point's covariance, are
/// added one observation at a time: O(n * points) each.
class Process {
 public:
  Process(const std::vector<std::vector<double>>& points, double length)
      : points_(points), length_(length), variances_(points.size(), 1.0) {}

  void add(std::size_t at) {
    std::vector<double> row;
    for (std::size_t i = 0; i < observed_.size(); ++i) row.push_back(solved_[i][at]);
    double own = 1.0 + k_noise;
    for (const double value : row) own -= value * value;
    const double diagonal = std::sqrt(std::max(own, 1e-9));
    std::vector<double> solved(points_.size());
    for (std::size_t p = 0; p < points_.size(); ++p) {
      double value = covariance(at, p);
      for (std::size_t i = 0; i < row.size(); ++i) value -= row[i] * solved_[i][p];
      solved[p] = value / diagonal;
      variances_[p] -= solved[p] * solved[p];
    }
    row.push_back(diagonal);
    factor_.push_back(std::move(row));
    solved_.push_back(std::move(solved));
    observed_.push_back(at);
  }

  /// Standardised costs in the order of add(); the log likelihood.
  double fit(const std::vector<double>& costs) {
    weights_.clear();
    double likelihood = 0;
    for (std::size_t i = 0; i < observed_.size(); ++i) {
      double value = costs[i];
      for (std::size_t j = 0; j < i; ++j) value -= factor_[i][j] * weights_[j];
      weights_.push_back(value / factor_[i][i]);
      likelihood -= weights_[i] * weights_[i] / 2 + std::log(factor_[i][i]);
    }
    return likelihood;
  }

  [[nodiscard]] double mean(std::size_t point) const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += solved_[i][point] * weights_[i];
    return sum;
  }
  [[nodiscard]] double deviation(std::size_t point) const { return std::sqrt(std::max(variances_[point], 1e-9)); }

 private:
  [[nodiscard]] double covariance(std::size_t a, std::size_t b) const {
    double square = 0;
    for (std::size_t d = 0; d < points_[a].size(); ++d) {
      const double difference = points_[a][d] - points_[b][d];
      square += difference * difference;
    }
    const double r = std::sqrt(5 * square) / length_;
    return (1 + r + r * r / 3) * std::exp(-r);
  }

  const std::vector<std::vector<double>>& points_;
  double length_;
  std::vector<double> variances_;
  std::vector<std::vector<double>> factor_, solved_;
  std::vector<std::size_t> observed_;
  std::vector<double> weights_;
};

double expected_improvement(double best, double mean, double deviation) {
  const double z = (best - mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double share = std::erfc(-z / std::numbers::sqrt2) / 2;
  return deviation * (z * share + density);
}

class BayesianPolicy final : public Policy {
 public:
  explicit BayesianPolicy(const Knowledge& knowledge)
      : space_(knowledge.space), rng_(knowledge.seed), given_(space_.size()) {
    for (std::size_t p = 0; p < space_.size(); ++p) {
      std::vector<double> place;
      for (std::size_t d = 0; d < space_.dimensions().size(); ++d) {
        const auto last = static_cast<double>(space_.dimensions()[d].values.size() - 1);
        place.push_back(static_cast<double>(space_.levels(p)[d]) / last);
      }
      points_.push_back(std::move(place));
    }
    const double diagonal = std::sqrt(static_cast<double>(space_.dimensions().size()));
    for (const double length : {0.25, 0.5, 1.0}) processes_.emplace_back(points_, length * diagonal);
  }

  std::optional<std::size_t> next() override {
    asked_ = logs_.size() < k_first ? any() : most_promising();
    if (asked_) given_[*asked_] = true;
    return asked_;
  }
  /// A rejected candidate counts as the slowest that was seen: there is something to stay away from.
  void tell(std::optional<double> cost) override {
    const double worst = logs_.empty() ? 20 : *std::ranges::max_element(logs_);
    logs_.push_back(cost ? std::log(*cost) : worst);
    for (auto& process : processes_) process.add(*asked_);
  }

 private:
  std::optional<std::size_t> any() {
    std::vector<std::size_t> left;
    for (std::size_t p = 0; p < given_.size(); ++p) {
      if (!given_[p]) left.push_back(p);
    }
    if (left.empty()) return std::nullopt;
    return left[static_cast<std::size_t>(rng_.below(std::ssize(left)))];
  }

  std::optional<std::size_t> most_promising() {
    const auto count = static_cast<double>(logs_.size());
    double mean = 0, square = 0;
    for (const double value : logs_) mean += value / count;
    for (const double value : logs_) square += (value - mean) * (value - mean) / count;
    const double scale = std::sqrt(std::max(square, 1e-12));
    std::vector<double> costs;
    for (const double value : logs_) costs.push_back((value - mean) / scale);
    Process* likeliest = nullptr;
    double most = -std::numeric_limits<double>::infinity();
    for (auto& process : processes_) {
      const double likelihood = process.fit(costs);
      if (likelihood > most) likeliest = &process;
      most = std::max(most, likelihood);
    }
    const double best = *std::ranges::min_element(costs);
    std::optional<std::size_t> chosen;
    double highest = -1;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (given_[p]) continue;
      const double gain = expected_improvement(best, likeliest->mean(p), likeliest->deviation(p));
      if (gain > highest) chosen = p;
      highest = std::max(highest, gain);
    }
    return chosen;
  }

  const ReplaySpace& space_;
  Rng rng_;
  std::vector<bool> given_;
  std::vector<std::vector<double>> points_;
  std::vector<Process> processes_;
  std::vector<double> logs_;
  std::optional<std::size_t> asked_;
};

}  // namespace

std::unique_ptr<Policy> make_bayesian(const Knowledge& knowledge) {
  return std::make_unique<BayesianPolicy>(knowledge);
}

}  // namespace kw::replay
