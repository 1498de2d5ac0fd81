#include "base/closest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace kw {
namespace {

constexpr std::size_t k_longest_name = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Levenshtein distance, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substitute = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// A third of the letters, at least two; of a name of three letters or fewer only one, or everything would be near it.
std::size_t allowed_distance(std::size_t letters) {
  return letters <= 3 ? 1 : std::max<std::size_t>(2, letters / 3);
}

}  // namespace

std::optional<std::string> closest_name(std::string_view written, const std::vector<std::string>& known) {
  if (written.size() > k_longest_name) return std::nullopt;
  std::optional<std::string> best;
  std::size_t best_distance = allowed_distance(written.size()) + 1;
  for (const auto& name : known) {
    const std::size_t distance = edit_distance(written, name);
    // A distance as long as the name itself says only that both are short.
    if (distance < best_distance && distance < std::max(name.size(), written.size())) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace kw
