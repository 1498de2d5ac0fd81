#include "propose/search/bundle_tuner.hpp"

#include <algorithm>
#include <utility>

#include "codegen/codegen.hpp"
#include "propose/search/search_proposer.hpp"

namespace kw {
namespace {

/// A style that can write one bundle.
Style style_of(const Attempt& verified, const Problem& problem) {
  Style style;
  style.op = problem.op;
  style.target = verified.candidate.bundle.target;
  style.name = "given";
  style.emit = [bundle = verified.candidate.bundle](const Problem&, const DeviceFacts&, const IntBindings&) {
    return Result<Bundle>(bundle);
  };
  style.seeds = [tunables = verified.candidate.tunables](const Problem&, const DeviceFacts&) {
    return std::vector<IntBindings>{tunables};
  };
  style.estimate = [](const Problem&, const DeviceFacts&, const IntBindings&) { return 1.0; };
  return style;
}

class BundleTuner final : public Proposer {
 public:
  explicit BundleTuner(Style style) : style_(std::move(style)) {}

  /// False when there is nothing to tune.
  bool open(const Attempt& verified, const SearchOptions& options) {
    auto search = make_search_proposer(style_, options);
    if (!search) return false;
    search_ = *std::move(search);
    const auto known = search_->next();
    if (!known || known->candidate.id() != verified.candidate.id()) return false;
    Attempt alone = verified;
    if (alone.measurement) alone.measurement->versus.clear();
    search_->observe(alone);
    return true;
  }
  std::optional<Proposal> next() override { return search_->next(); }
  void observe(const Attempt& attempt) override { search_->observe(attempt); }

 private:
  Style style_;  ///< search_ points to it
  std::unique_ptr<Proposer> search_;
};

}  // namespace

std::unique_ptr<Proposer> make_bundle_tuner(const Attempt& verified, const Problem& problem, const DeviceFacts& device,
                                            std::uint64_t seed) {
  const auto& tunables = verified.candidate.bundle.tunables;
  const bool choice =
      std::any_of(tunables.begin(), tunables.end(), [](const Tunable& t) { return t.values.size() > 1; });
  if (!choice) return nullptr;
  SearchOptions options;
  options.problem = &problem;
  options.device = device;
  options.target = verified.candidate.bundle.target;
  options.seed = seed;
  auto tuner = std::make_unique<BundleTuner>(style_of(verified, problem));
  if (!tuner->open(verified, options)) return nullptr;
  return tuner;
}

}  // namespace kw
