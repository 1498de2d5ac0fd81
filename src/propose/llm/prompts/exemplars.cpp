#include "propose/llm/prompts/exemplars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "propose/llm/prompts/same_source.hpp"

namespace kw {
namespace {

constexpr std::array<std::string_view, 5> k_names = {"none", "random", "top", "bucket", "island"};

bool lower_median(const Attempt* a, const Attempt* b) {
  return a->measurement->median_ns < b->measurement->median_ns;
}

/// One for each source, in the order in which sources came up.
std::vector<Exemplar> usable(const std::vector<const Attempt*>& verified, double plain_ns, const Island* island) {
  std::vector<Exemplar> pool;
  std::set<Hash> seen;
  std::map<Hash, std::size_t> places;
  for (const Attempt* attempt : verified) {
    if (attempt == nullptr || !attempt->verdict.accepted() || !attempt->measurement) continue;
    if (island != nullptr && !island->holds(*attempt)) continue;
    const double median_ns = attempt->measurement->median_ns;
    if (!(median_ns > 0) || !(plain_ns > 0) || !seen.insert(attempt->candidate.id()).second) continue;
    const auto [place, is_new] = places.emplace(source_identity(attempt->candidate.bundle), pool.size());
    if (is_new) pool.emplace_back();
    pool[place->second].forms.push_back(attempt);
  }
  for (auto& one : pool) {
    std::stable_sort(one.forms.begin(), one.forms.end(), lower_median);
    one.attempt = one.forms.front();
    one.speedup = plain_ns / one.attempt->measurement->median_ns;
  }
  return pool;
}

/// Index of a draw from weights that add up to something positive.
std::size_t draw(const std::vector<double>& weights, Rng& rng) {
  double left = rng.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.size() - 1;
}

Exemplar take_uniformly(std::vector<Exemplar>& pool, Rng& rng) {
  const auto at = static_cast<std::ptrdiff_t>(rng.below(std::ssize(pool)));
  const Exemplar taken = pool[static_cast<std::size_t>(at)];
  pool.erase(pool.begin() + at);
  return taken;
}

/// The least like those chosen before: two that read alike teach one thing. Without any before, each as likely.
Exemplar take_farthest(std::vector<Exemplar>& pool, const std::vector<Exemplar>& chosen, Rng& rng) {
  if (chosen.empty() || pool.size() == 1) return take_uniformly(pool, rng);
  const auto distance = [&](const Exemplar& one) {
    double least = 1;
    for (const Exemplar& other : chosen) {
      least = std::min(least, source_distance(one.attempt->candidate.bundle, other.attempt->candidate.bundle));
    }
    return least;
  };
  std::vector<double> distances;
  for (const Exemplar& one : pool) distances.push_back(distance(one));
  const double most = *std::max_element(distances.begin(), distances.end());
  std::vector<double> weights;
  for (const double one : distances) weights.push_back(one >= most ? 1 : 0);
  const auto at = static_cast<std::ptrdiff_t>(draw(weights, rng));
  Exemplar taken = pool[static_cast<std::size_t>(at)];
  pool.erase(pool.begin() + at);
  return taken;
}

std::vector<Exemplar> by_bucket(const std::vector<Exemplar>& pool, std::size_t count, Rng& rng) {
  std::map<std::int64_t, std::vector<Exemplar>> buckets;
  for (const auto& one : pool) buckets[bucket_of(one.speedup)].push_back(one);
  std::vector<std::vector<Exemplar>> left;
  std::vector<double> means;
  for (auto& [index, members] : buckets) {
    double sum = 0;
    for (const auto& one : members) sum += one.speedup;
    means.push_back(sum / static_cast<double>(members.size()));
    left.push_back(std::move(members));
  }
  // mu and tau belong to all buckets: drawing one does not change what the others weigh.
  std::vector<double> weights = bucket_probabilities(means);
  std::vector<Exemplar> chosen;
  while (chosen.size() < count && !left.empty()) {
    const std::size_t at = draw(weights, rng);
    chosen.push_back(take_farthest(left[at], chosen, rng));
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return chosen;
}

std::vector<Exemplar> at_random(std::vector<Exemplar> pool, std::size_t count, Rng& rng) {
  std::vector<Exemplar> chosen;
  while (chosen.size() < count && !pool.empty()) chosen.push_back(take_uniformly(pool, rng));
  return chosen;
}

bool slower(const Exemplar& a, const Exemplar& b) {
  return a.speedup != b.speedup ? a.speedup < b.speedup : a.attempt->ordinal < b.attempt->ordinal;
}

}  // namespace

std::string_view to_string(ExemplarChoice choice) {
  return k_names.at(static_cast<std::size_t>(choice));
}

Result<ExemplarChoice> parse_exemplar_choice(std::string_view text) {
  const auto found = std::find(k_names.begin(), k_names.end(), text);
  if (found != k_names.end()) return static_cast<ExemplarChoice>(found - k_names.begin());
  const std::vector<std::string> known(k_names.begin(), k_names.end());
  const auto near = closest_name(text, known);
  return fail(
      Error{errc::exemplar_choice,
            fmt::format("'{}' is not a way of choosing exemplars; known are {}", text.substr(0, 40), join(known)),
            near ? fmt::format("did you mean {}?", *near) : "bucket is the default"});
}

std::int64_t bucket_of(double speedup) {
  return static_cast<std::int64_t>(std::floor(std::log(speedup) / std::log(k_bucket_factor)));
}

std::vector<double> bucket_probabilities(const std::vector<double>& means) {
  if (means.empty()) return {};
  const double mu = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
  const double tau = k_bucket_temperature * mu;
  // The largest exponent is taken off: the quotient is the same, and nothing overflows.
  const double largest = *std::max_element(means.begin(), means.end());
  std::vector<double> weights;
  for (const double mean : means) weights.push_back(std::exp((mean - largest) / tau));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  return weights;
}

std::vector<Exemplar> choose_exemplars(ExemplarChoice choice, const std::vector<const Attempt*>& verified,
                                       double plain_ns, int count, const Island& island, Rng& rng) {
  if (choice == ExemplarChoice::none || count <= 0) return {};
  const bool one_chain = choice == ExemplarChoice::island;
  std::vector<Exemplar> pool = usable(verified, plain_ns, one_chain ? &island : nullptr);
  const auto wanted = static_cast<std::size_t>(count);
  std::vector<Exemplar> chosen;
  if (choice == ExemplarChoice::random) {
    chosen = at_random(std::move(pool), wanted, rng);
  } else if (choice == ExemplarChoice::top) {
    std::sort(pool.begin(), pool.end(), slower);
    chosen.assign(pool.end() - std::min(std::ssize(pool), static_cast<std::ptrdiff_t>(wanted)), pool.end());
  } else {
    chosen = by_bucket(pool, wanted, rng);
  }
  std::sort(chosen.begin(), chosen.end(), slower);
  return chosen;
}

}  // namespace kw
