#pragma once
// Tunes the tunables of kernels that came from outside, such as a model's, the fastest first: what a device does while
// a model thinks. It never writes a kernel of its own.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "propose/proposer.hpp"

namespace kw {

class BackgroundTuner final : public Proposer {
 public:
  /// `problem` must outlive it.
  BackgroundTuner(const Problem& problem, DeviceFacts device, std::uint64_t seed)
      : problem_(problem), device_(std::move(device)), seed_(seed) {}

  std::optional<Proposal> next() override;
  /// Waiting: the next kernel from outside gives it work.
  [[nodiscard]] Idle idle() const override { return {Idle::Why::waiting, {}}; }
  void observe(const Attempt& attempt) override;
  /// Accepted ones that came out of a recorded exchange (Provenance::turn) are tuned from then on.
  void others_observed(const Attempt& attempt) override;

 private:
  struct Tuner {
    std::unique_ptr<Proposer> search;
    Attempt best;  ///< the attempt it began with, or a faster one it found
    std::int64_t chain = 0;
    int tries_without_gain = 0;
    bool spent = false;
  };
  void add(const Attempt& attempt);
  [[nodiscard]] Tuner* fastest_unspent();

  const Problem& problem_;
  DeviceFacts device_;
  std::uint64_t seed_;
  std::deque<Tuner> tuners_;
  std::deque<std::size_t> pending_;  ///< whose proposals are out, the oldest first
};

}  // namespace kw
