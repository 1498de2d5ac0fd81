#include "tests/seams/coordinate_descent/coordinate_descent.hpp"

#include <set>
#include <utility>

#include "codegen/codegen.hpp"

namespace kw {
namespace {

class CoordinateDescent final : public Proposer {
 public:
  explicit CoordinateDescent(Bundle bundle) : bundle_(std::move(bundle)) {}

  std::optional<Proposal> next() override {
    if (tried_.empty()) {
      if (auto first = propose(best_, "the defaults", std::nullopt)) return first;
    }
    for (; tunable_ < bundle_.tunables.size(); ++tunable_, value_ = 0) {
      const Tunable& tunable = bundle_.tunables[tunable_];
      while (value_ < tunable.values.size()) {
        IntBindings changed = best_;
        changed[tunable.name] = tunable.values[value_++];
        if (auto proposal = propose(changed, tunable.name, std::ssize(tried_))) return proposal;
      }
    }
    return std::nullopt;
  }

  void observe(const Attempt& attempt) override {
    if (attempt.became_best) best_ = attempt.candidate.tunables;
  }

 private:
  /// Nothing for what was tried before or breaks a constraint. `line` is this proposer's own provenance.
  std::optional<Proposal> propose(const IntBindings& tunables, std::string origin, std::optional<std::int64_t> line) {
    auto candidate = make_candidate(bundle_, tunables);
    if (!candidate || !tried_.insert(candidate->id()).second) return std::nullopt;
    return Proposal{*std::move(candidate), "coordinate_descent", std::move(origin), {std::nullopt, line}};
  }

  Bundle bundle_;
  IntBindings best_;
  std::set<Hash> tried_;
  std::size_t tunable_ = 0;
  std::size_t value_ = 0;
};

Result<std::unique_ptr<Proposer>> make(const ProposerContext& context) {
  KW_TRY(auto bundle, emit_bundle(*context.problem, context.target, context.style, context.device));
  return std::make_unique<CoordinateDescent>(std::move(bundle));
}

}  // namespace

const ProposerEntry& coordinate_descent_entry() {
  static constexpr ProposerEntry k_entry = {"coordinate_descent", "one tunable at a time", false, false, make};
  return k_entry;
}

}  // namespace kw
