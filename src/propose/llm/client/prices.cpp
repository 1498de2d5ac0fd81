#include "propose/llm/client/prices.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/embedded_texts.hpp"
#include "base/text.hpp"
#include "problem/file/config_tree.hpp"
#include "propose/llm/client/name_pattern.hpp"

namespace kw {

std::span<const EmbeddedText> shipped_price_tables();  // data/prices.toml, compiled in

namespace {

constexpr std::size_t k_max_prices = 1000;

tl::unexpected<Error> refuse(const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{errc::prices_file, std::move(message), std::move(hint), where});
}

Result<std::string> read_text(const ConfigValue& value, std::string_view key) {
  if (value.kind == ConfigKind::text && !value.text.empty()) return value.text;
  return refuse(value.where, fmt::format("'{}' has to be a text in double quotes", key));
}

Result<double> read_dollars(const ConfigValue& value, std::string_view key) {
  constexpr double k_most = 1e6;
  const bool whole = value.kind == ConfigKind::integer;
  const double number = whole ? static_cast<double>(value.integer) : value.real;
  if ((whole || value.kind == ConfigKind::real) && std::isfinite(number) && number >= 0 && number <= k_most) {
    return number;
  }
  return refuse(value.where,
                fmt::format("'{}' has to be dollars per million tokens, a number from 0 to {:g}", key, k_most));
}

Result<std::vector<std::string>> read_models(const ConfigValue& value) {
  std::vector<std::string> models;
  if (value.kind != ConfigKind::array || value.items.empty()) {
    return refuse(value.where, "'models' has to be a list of names", "models = [\"deepseek-chat\"]");
  }
  for (const auto& item : value.items) {
    KW_TRY(models.emplace_back(), read_text(item, "models"));
  }
  return models;
}

Result<Price> read_price(const ConfigValue& table, const std::string& as_of) {
  if (table.kind != ConfigKind::table) return refuse(table.where, "a price has to be a [[price]] table");
  static const std::vector<std::string> k_keys = {"provider", "models", "prompt", "cached", "completion"};
  for (const auto* key : {"models", "prompt", "completion"}) {
    if (table.find(key) == nullptr) return refuse(table.where, fmt::format("this price has no '{}'", key));
  }
  Price price;
  price.as_of = as_of;
  bool has_cached = false;
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    const auto& key = table.keys[i];
    const auto& value = table.items[i];
    if (key == "provider") {
      KW_TRY(price.provider, read_text(value, key));
    } else if (key == "models") {
      KW_TRY(price.models, read_models(value));
    } else if (key == "prompt") {
      KW_TRY(price.prompt, read_dollars(value, key));
    } else if (key == "cached") {
      has_cached = true;
      KW_TRY(price.cached, read_dollars(value, key));
    } else if (key == "completion") {
      KW_TRY(price.completion, read_dollars(value, key));
    } else {
      return refuse(table.key_places[i], fmt::format("a price knows no '{}'", key),
                    fmt::format("the keys are {}", join(k_keys)));
    }
  }
  if (!has_cached) price.cached = price.prompt;
  return price;
}

}  // namespace

Result<PriceTable> parse_prices(std::string_view toml_text, const std::string& file) {
  auto root = parse_config(toml_text, file);
  if (!root) {
    root.error().code = errc::prices_file;
    return fail(std::move(root).error());
  }
  for (std::size_t i = 0; i < root->keys.size(); ++i) {
    if (root->keys[i] == "as_of" || root->keys[i] == "price") continue;
    return refuse(root->key_places[i], fmt::format("a price table knows no '{}'", root->keys[i]),
                  "it holds as_of = \"YYYY-MM-DD\" and [[price]] tables");
  }
  const ConfigValue* const as_of = root->find("as_of");
  const ConfigValue* const list = root->find("price");
  if (as_of == nullptr) return refuse({file, 1, 1}, "the table has no date", "as_of = \"2025-10-01\"");
  KW_TRY(const std::string date, read_text(*as_of, "as_of"));
  PriceTable table;
  if (list == nullptr) return table;
  if (list->kind != ConfigKind::array || list->items.size() > k_max_prices) {
    return refuse(list->where, fmt::format("'price' has to be at most {} [[price]] tables", k_max_prices));
  }
  for (const auto& item : list->items) {
    KW_TRY(table.prices.emplace_back(), read_price(item, date));
  }
  return table;
}

const PriceTable& built_in_prices() {
  static const PriceTable table = [] {
    const auto& shipped = shipped_price_tables().front();
    auto parsed = parse_prices(shipped.text, "prices.toml");
    KW_CHECK(parsed.has_value(), "{}", parsed.error().to_string());
    return *std::move(parsed);
  }();
  return table;
}

PriceTable joined(PriceTable first, const PriceTable& then) {
  first.prices.insert(first.prices.end(), then.prices.begin(), then.prices.end());
  return first;
}

const Price* find_price(const PriceTable& table, const Provider& provider, std::string_view model) {
  for (const auto& price : table.prices) {
    if (!matches_name_pattern(price.provider, provider.name)) continue;
    for (const auto& pattern : price.models) {
      if (matches_name_pattern(pattern, model)) return &price;
    }
  }
  return nullptr;
}

std::optional<double> dollars(const PriceTable& table, const Provider& provider, std::string_view model,
                              const TokenUsage& usage) {
  const Price* const price = find_price(table, provider, model);
  if (price == nullptr) return provider.local ? std::optional<double>(0.0) : std::nullopt;
  constexpr double k_million = 1e6;
  const auto cost = [](std::int64_t tokens, double rate) { return static_cast<double>(tokens) * rate / k_million; };
  return cost(usage.prompt - usage.cached, price->prompt) + cost(usage.cached, price->cached) +
         cost(usage.completion, price->completion);
}

}  // namespace kw
