#pragma once
// Access to the TOML of a bundle's header: a node of the kind that is wanted, or an error that says where in the file
// it sits and what to write instead. Knows nothing about what the keys mean. Internal to record/.

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace kw {

class HeaderAccess {
 public:
  using Names = std::vector<std::string>;
  using Item = std::pair<const toml::key*, const toml::node*>;

  /// `header_line` is where the header starts in `file`; both only label errors.
  HeaderAccess(std::string file, int header_line) : file_(std::move(file)), header_line_(header_line) {}

  [[nodiscard]] SourcePlace place(const toml::source_region& region) const {
    return {file_, header_line_ - 1 + static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }
  tl::unexpected<Error> refuse(ErrorCode code, const toml::node& at, std::string message, std::string hint = "") const {
    return fail(Error{code, std::move(message), std::move(hint), place(at.source())});
  }

  /// toml++ keeps keys sorted; a bundle keeps the order its author chose.
  [[nodiscard]] static std::vector<Item> in_written_order(const toml::table& table);
  /// `what` is the table, for messages; a key of the header itself is told where it belongs.
  [[nodiscard]] Result<void> check_keys(const toml::table& table, const Names& known, std::string_view what) const;
  [[nodiscard]] Result<const toml::node*> required(const toml::table& table, std::string_view key,
                                                   std::string_view what) const;
  /// Null when the section is absent.
  [[nodiscard]] Result<const toml::table*> section(const toml::table& top, std::string_view key,
                                                   std::size_t max_entries) const;
  [[nodiscard]] Result<const toml::array*> array(const toml::node& node, std::string_view what, std::size_t min_items,
                                                 std::size_t max_items) const;
  /// An array of tables below lines [[key]].
  [[nodiscard]] Result<const toml::array*> tables(const toml::node& node, std::string_view key,
                                                  std::size_t max_items) const;
  /// "" when absent; at most `max_bytes`, and no NUL byte.
  [[nodiscard]] Result<std::string> free_text(const toml::table& table, std::string_view key,
                                              std::size_t max_bytes) const;
  [[nodiscard]] Result<std::string> expression(const toml::node& node, std::string_view what) const;
  [[nodiscard]] Result<std::vector<std::string>> expressions(const toml::node& node, std::string_view what,
                                                             std::size_t min_items, std::size_t max_items) const;

  /// The keys of the header itself.
  [[nodiscard]] static const Names& top_keys();

 private:
  std::string file_;
  int header_line_;
};

}  // namespace kw
