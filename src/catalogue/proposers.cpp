// The proposers of this program.
#include <array>

#include "propose/portfolio/with_model.hpp"
#include "propose/registry.hpp"
#include "propose/search/bundle_tuner.hpp"
#include "propose/search/search_proposer.hpp"

namespace kw {

std::span<const ProposerEntry* const> proposers() {
  static const std::array<const ProposerEntry*, 4> list = {&search_entry(), &llm_entry(), &hybrid_entry(),
                                                           &retune_entry()};
  return list;
}

}  // namespace kw
