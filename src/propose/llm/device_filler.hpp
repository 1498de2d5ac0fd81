#pragma once
// What the device does while models think: it tunes the tunables of kernels that models wrote, the fastest first, and
// goes on with the built-in search where there is one.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "propose/bandit.hpp"
#include "propose/proposer.hpp"
#include "spec/problem.hpp"
#include "target/device_facts.hpp"

namespace kw {

class DeviceFiller {
 public:
  /// `problem` must outlive it; `search` may be null.
  DeviceFiller(const Problem& problem, DeviceFacts device, std::uint64_t seed, std::unique_ptr<Proposer> search)
      : problem_(problem), device_(std::move(device)), seed_(seed), search_(std::move(search)) {}

  /// An accepted attempt whose tunables are worth a look. The reference must stay valid.
  void add(const Attempt& attempt);
  [[nodiscard]] std::optional<Proposal> next();
  /// What became of the oldest proposal of next().
  void observe(const Attempt& attempt);
  /// Of somebody else's attempt: whether it is the new best, which later times are then relative to.
  void note_best(const Attempt& attempt);

 private:
  struct Tuner {
    std::unique_ptr<Proposer> search;
    const Attempt* best = nullptr;  ///< the attempt it began with, or a faster one it found
    std::int64_t chain = 0;
    int tries_without_gain = 0;
    bool spent = false;
  };
  [[nodiscard]] std::optional<Proposal> next_tuned();
  [[nodiscard]] std::optional<Proposal> next_searched();
  [[nodiscard]] Tuner* fastest_unspent();

  const Problem& problem_;
  DeviceFacts device_;
  std::uint64_t seed_;
  std::unique_ptr<Proposer> search_;
  bool search_is_spent_ = false;
  Bandit bandit_{2};
  std::deque<Tuner> tuners_;
  std::deque<Proposer*> pending_;       ///< who proposed
  Proposer* holder_of_best_ = nullptr;  ///< whose attempt is the best so far; null: somebody else's
};

}  // namespace kw
