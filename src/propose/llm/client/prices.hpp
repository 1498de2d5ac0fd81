#pragma once
// What tokens cost. The table is data: one is compiled in (data/prices.toml, which also describes the format), a file
// of the user's comes before it. A model that is in no table has no price, which is not the same as costing nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "propose/llm/client/provider.hpp"
#include "record/chat.hpp"

namespace kw {

namespace errc {
/// A price table that cannot be read; `where` says the line.
inline constexpr ErrorCode prices_file{"prices.file"};
}  // namespace errc

/// US dollars per million tokens.
struct Price {
  std::string provider = "*";       ///< pattern of the preset's name
  std::vector<std::string> models;  ///< patterns of the model's name
  double prompt = 0;
  double cached = 0;  ///< prompt tokens that the provider had cached
  double completion = 0;
  std::string as_of;  ///< "2025-10-01": the day the price was looked up
};

struct PriceTable {
  std::vector<Price> prices;  ///< the first that matches counts
};

/// errc::prices_file, with line and column. `file` only labels errors; at most 256 KiB and 1000 prices.
[[nodiscard]] Result<PriceTable> parse_prices(std::string_view toml_text, const std::string& file);
[[nodiscard]] const PriceTable& built_in_prices();
/// `first` in front of `then`.
[[nodiscard]] PriceTable joined(PriceTable first, const PriceTable& then);

/// Null when there is none.
[[nodiscard]] const Price* find_price(const PriceTable& table, const Provider& provider, std::string_view model);

/// What the tokens cost: nothing (0) at the user's own server unless the table says otherwise, no value for a model
/// without a price. A budget in dollars has to be refused then.
[[nodiscard]] std::optional<double> dollars(const PriceTable& table, const Provider& provider, std::string_view model,
                                            const TokenUsage& usage);

}  // namespace kw
