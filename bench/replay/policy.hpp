#pragma once
// One way of searching a space, for comparing it with others. Every policy is asked for a point and told its time, and
// that is all that counts as an evaluation: a rejected candidate costs one as well.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "predict/time_model.hpp"
#include "replay_space.hpp"

namespace kw::replay {

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;
  /// A point that was not given before; nothing when there is none left.
  virtual std::optional<std::size_t> next() = 0;
  /// The time of the last one; nothing: it was rejected.
  virtual void tell(std::optional<double> cost) = 0;
};

/// What a policy may know beforehand: winners of other tables, the most relevant first.
struct Knowledge {
  const ReplaySpace& space;
  std::uint64_t seed = 0;
  std::vector<const ReplaySpace*> others;  ///< tables that an archive would hold
  bool misleads = false;                   ///< the archive's winners are other tables' worst
  std::shared_ptr<const TimeModel> model;  ///< of the other tables, or of their reverse; null: none
};

/// As a run learns from its archive, had that these tables. Misleading: the slowest are said to be the fastest.
std::shared_ptr<const TimeModel> model_from(const std::vector<const ReplaySpace*>& others, bool misleads);

struct NamedPolicy {
  std::string name;
  std::function<std::unique_ptr<Policy>(const Knowledge&)> make;
  bool needs_others = false;
  bool misleads = false;
  bool foretells = false;  ///< has a model of the others
};

/// Textbook policies (random, iterated local search, annealing, genetic), Gaussian process, and the product's.
[[nodiscard]] std::vector<NamedPolicy> policies();

std::unique_ptr<Policy> make_random(const Knowledge& knowledge);
std::unique_ptr<Policy> make_local_search(const Knowledge& knowledge);
/// The same from the style's guesses.
std::unique_ptr<Policy> make_seeded_local_search(const Knowledge& knowledge);
std::unique_ptr<Policy> make_annealing(const Knowledge& knowledge);
std::unique_ptr<Policy> make_genetic(const Knowledge& knowledge);
std::unique_ptr<Policy> make_bayesian(const Knowledge& knowledge);
/// The search that ships, with the style's guesses and cost model.
std::unique_ptr<Policy> make_ours(const Knowledge& knowledge);

}  // namespace kw::replay
