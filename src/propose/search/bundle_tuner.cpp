#include "propose/search/bundle_tuner.hpp"

#include <algorithm>
#include <utility>

#include "codegen/codegen.hpp"
#include "record/dispatch.hpp"

namespace kw {
namespace {

/// The registered style that writes `bundle`, as it is, for this problem and device; null where none does.
const Style* writer_of(const Bundle& bundle, const Problem& problem, const DeviceFacts& device) {
  const auto same_choices = [](const Tunable& a, const Tunable& b) { return a.name == b.name && a.values == b.values; };
  for (const Style& style : styles_of(problem.op)) {
    if (style.target != bundle.target) continue;
    const auto own = style.emit(problem, device, {});
    if (own && own->source == bundle.source &&
        std::equal(own->tunables.begin(), own->tunables.end(), bundle.tunables.begin(), bundle.tunables.end(),
                   same_choices))
      return &style;
  }
  return nullptr;
}

/// What the candidate's tunables are for the primary workload.
IntBindings assignment_of(const Candidate& candidate, const Problem& problem, const DeviceFacts& device) {
  auto resolved = resolve_tunables(candidate, problem.primary().axes, device);
  if (!resolved) return candidate.tunables;
  return std::move(resolved->values);
}

/// A style that can write one bundle. `guide` knows seeds and costs of its tunables; null: all cost the same.
Style style_of(const Candidate& candidate, const Problem& problem, const DeviceFacts& device, const Style* guide) {
  Style style;
  style.op = problem.op;
  style.target = candidate.bundle.target;
  style.name = "given";
  style.emit = [bundle = candidate.bundle](const Problem&, const DeviceFacts&, const IntBindings&) {
    return Result<Bundle>(bundle);
  };
  std::vector<IntBindings> seeds = {assignment_of(candidate, problem, device)};
  style.estimate = [](const Problem&, const DeviceFacts&, const IntBindings&) { return 1.0; };
  if (guide != nullptr) {
    for (auto& seed : guide->seeds(problem, device)) seeds.push_back(std::move(seed));
    style.estimate = guide->estimate;
  }
  style.seeds = [seeds](const Problem&, const DeviceFacts&) { return seeds; };
  return style;
}

bool has_a_choice(const Bundle& bundle) {
  return std::any_of(bundle.tunables.begin(), bundle.tunables.end(),
                     [](const Tunable& tunable) { return tunable.values.size() > 1; });
}

class BundleTuner final : public Proposer {
 public:
  explicit BundleTuner(Style style) : style_(std::move(style)) {}

  Result<void> open(const SearchOptions& options) {
    KW_TRY(search_, make_search_proposer(style_, options));
    return {};
  }
  /// False when the search does not begin with what was verified.
  bool begin_with(const Attempt& verified) {
    auto known = search_->next();
    if (!known) return false;
    if (known->candidate.id() != verified.candidate.id()) {
      // Where a dispatch table had a say, one assignment for all workloads is a candidate of its own.
      first_ = std::move(known);
      return !verified.candidate.bundle.dispatch.empty();
    }
    Attempt alone = verified;
    alone.became_best = false;  // not by this search, whose own comparisons begin with its own first best
    if (alone.measurement) alone.measurement->versus.clear();
    search_->observe(alone);
    return true;
  }
  std::optional<Proposal> next() override { return first_ ? std::exchange(first_, std::nullopt) : search_->next(); }
  void observe(const Attempt& attempt) override { search_->observe(attempt); }
  void others_observed(const Attempt& attempt) override { search_->others_observed(attempt); }

 private:
  Style style_;  ///< search_ points to it
  std::unique_ptr<Proposer> search_;
  std::optional<Proposal> first_;  ///< taken from search_, not yet given out
};

}  // namespace

std::unique_ptr<Proposer> make_bundle_tuner(const Attempt& verified, const Problem& problem, const DeviceFacts& device,
                                            std::uint64_t seed) {
  if (!has_a_choice(verified.candidate.bundle)) return nullptr;
  SearchOptions options;
  options.problem = &problem;
  options.device = device;
  options.target = verified.candidate.bundle.target;
  options.seed = seed;
  auto tuner = std::make_unique<BundleTuner>(style_of(verified.candidate, problem, device, nullptr));
  if (!tuner->open(options) || !tuner->begin_with(verified)) return nullptr;
  return tuner;
}

std::string style_that_writes(const Bundle& bundle, const Problem& problem, const DeviceFacts& device) {
  const Style* writer = writer_of(bundle, problem, device);
  return writer == nullptr ? "" : writer->name;
}

Result<void> require_choice(const Bundle& bundle) {
  if (has_a_choice(bundle)) return {};
  return fail(Error{errc::candidate_tunable, "the bundle has no tunable with more than one value",
                    "give it [tunables] whose values are worth trying"});
}

Result<std::unique_ptr<Proposer>> make_bundle_search(const Candidate& start, const SearchOptions& options) {
  KW_CHECK(options.problem != nullptr, "a search needs a problem");
  KW_TRY_VOID(require_choice(start.bundle));
  const Style* guide = writer_of(start.bundle, *options.problem, options.device);
  auto tuner = std::make_unique<BundleTuner>(style_of(start, *options.problem, options.device, guide));
  KW_TRY_VOID(tuner->open(options));
  return tuner;
}

namespace {

Result<std::unique_ptr<Proposer>> make_retune(const ProposerContext& context) {
  KW_CHECK(context.start.has_value(), "no bundle to tune");
  return make_bundle_search(*context.start, search_options(context));
}

}  // namespace

const ProposerEntry& retune_entry() {
  static constexpr ProposerEntry k_entry = {k_retune, "the tunables of one bundle", false, true, make_retune};
  return k_entry;
}

}  // namespace kw
