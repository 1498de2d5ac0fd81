#include "propose/portfolio/with_model.hpp"

#include <utility>
#include <vector>

#include "propose/llm/llm_proposer.hpp"
#include "propose/portfolio/background_tuner.hpp"
#include "propose/portfolio/portfolio.hpp"
#include "propose/search/search_proposer.hpp"

namespace kw {
namespace {

std::unique_ptr<Proposer> led_by_model(const ProposerContext& context, std::vector<std::unique_ptr<Proposer>> others) {
  KW_CHECK(context.model != nullptr, "no model to ask");
  others.insert(others.begin(), std::make_unique<BackgroundTuner>(*context.problem, context.device, context.seed));
  return std::make_unique<Portfolio>(make_llm_proposer(context, *context.model), std::move(others));
}

Result<std::unique_ptr<Proposer>> make_llm(const ProposerContext& context) {
  return led_by_model(context, {});
}

Result<std::unique_ptr<Proposer>> make_hybrid(const ProposerContext& context) {
  std::vector<std::unique_ptr<Proposer>> others;
  KW_TRY(others.emplace_back(), search_entry().make(context));
  return led_by_model(context, std::move(others));
}

}  // namespace

const ProposerEntry& llm_entry() {
  static constexpr ProposerEntry k_entry = {"llm", "a language model", true, false, make_llm};
  return k_entry;
}

const ProposerEntry& hybrid_entry() {
  static constexpr ProposerEntry k_entry = {"hybrid", "both", true, false, make_hybrid};
  return k_entry;
}

}  // namespace kw
