#pragma once
// Shares tries between ways of trying, by what they gained lately: discounted UCB (Garivier and Moulines 2011,
// "On upper-confidence bound policies for switching bandit problems"). Discounted, because a way that gained much at
// first gains nothing once its room is used up. Deterministic: equal scores go to the arm of the lower index.

#include <cstddef>
#include <vector>

namespace kw {

class Bandit {
 public:
  explicit Bandit(std::size_t arms) : arms_(arms) {}

  /// The arm to try among those that are available, of which there must be one. Arms never tried come first.
  [[nodiscard]] std::size_t choose(const std::vector<bool>& available) const;
  /// What a try of the arm gained, from 0 to 1.
  void reward(std::size_t arm, double gain);

 private:
  struct Arm {
    double tries = 0;  ///< discounted
    double gains = 0;  ///< discounted
  };
  std::vector<Arm> arms_;
};

/// A speed-up over the best so far as a gain: 0 for none, 1 from 1.5x on; logarithmic between.
[[nodiscard]] double gain_of_speedup(double speedup);

}  // namespace kw
