#include "propose/registry.hpp"

#include <fmt/ranges.h>

namespace kw {

Result<const ProposerEntry*> find_proposer(std::string_view name) {
  for (const ProposerEntry* entry : proposers()) {
    if (entry->name == name) return entry;
  }
  return fail(
      Error{errc::proposer_unknown, fmt::format("there is no proposer \"{}\"", name), one_of(proposer_names())});
}

std::vector<std::string> proposer_names(bool asking_models) {
  std::vector<std::string> names;
  for (const ProposerEntry* entry : proposers()) {
    if (!entry->needs_start && (entry->asks_model || !asking_models)) names.emplace_back(entry->name);
  }
  return names;
}

std::string one_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace kw
