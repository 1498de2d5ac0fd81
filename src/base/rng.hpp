#pragma once
// A seeded generator whose sequence is the same on every platform and library version: std::mt19937 is portable but the
// standard's distributions are not, and a run must be repeatable from its seed.

#include <cmath>
#include <cstdint>
#include <numbers>

namespace kw {

/// Number `place` of the sequence of Rng(key), by itself: SplitMix64 adds a constant and mixes.
[[nodiscard]] inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t place) {
  std::uint64_t z = key + (place + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes BigCrush, and any seed is a good seed.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    const std::uint64_t bits = random_bits(state_, 0);
    state_ += k_step;
    return bits;
  }
  /// Uniform in [0, bound); bound > 0. Multiply-shift; the bias is below 2^-32 for bounds under 2^32.
  std::int64_t below(std::int64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>((static_cast<Wide>(next()) * static_cast<std::uint64_t>(bound)) >> 64);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Standard normal (Box-Muller; one value per call so that the sequence position is obvious).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  /// An independent generator for a named part of the work.
  Rng split(std::uint64_t stream) { return Rng(next() ^ (stream * 0xd1342543de82ef95ULL)); }

 private:
  static constexpr std::uint64_t k_step = 0x9e3779b97f4a7c15ULL;

  std::uint64_t state_;
};

}  // namespace kw
