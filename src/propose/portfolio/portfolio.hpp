#pragma once
// Several proposers that share one run. A leader proposes whenever it has something; while it has not, the others use
// the device, and a bandit divides it among them by what they gained lately. All of them are told of each other's work.

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "propose/bandit.hpp"
#include "propose/proposer.hpp"

namespace kw {

class Portfolio final : public Proposer {
 public:
  Portfolio(std::unique_ptr<Proposer> leader, std::vector<std::unique_ptr<Proposer>> others);

  std::optional<Proposal> next() override;
  /// The leader's: the others only fill its pauses. What they are waiting for comes from it.
  [[nodiscard]] Idle idle() const override { return members_.front()->idle(); }
  void observe(const Attempt& attempt) override;
  void others_proposed(const Candidate& candidate) override;
  void others_observed(const Attempt& attempt) override;

 private:
  [[nodiscard]] std::optional<Proposal> next_of_others();
  [[nodiscard]] std::optional<Proposal> next_of(std::size_t member);

  std::vector<std::unique_ptr<Proposer>> members_;  ///< the leader first
  Bandit bandit_;                                   ///< over the others, in their order
  std::vector<bool> exhausted_;                     ///< of the others
  std::deque<std::size_t> pending_;                 ///< members whose proposals are out, the oldest first
};

}  // namespace kw
