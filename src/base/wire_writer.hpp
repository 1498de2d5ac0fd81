#pragma once
// How values travel between processes, as they are written: Writer appends fields to a payload. Which fields a struct
// has its list_fields() alone says; bytes from elsewhere are for Reader (wire_reader.hpp).

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kw::wire {

class Writer {
 public:
  template <typename... Fields>
  void operator()(const Fields&... values) {
    (put(values), ...);
  }
  void put_byte(std::uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <std::integral Int>
  void put(const Int& value) {
    const auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    for (unsigned shift = 0; shift < 64; shift += 8) put_byte(static_cast<std::uint8_t>(word >> shift));
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void put(const Enum& value) { put(static_cast<std::int64_t>(value)); }
  void put(const float& value) { put(std::bit_cast<std::uint32_t>(value)); }
  void put(const double& value) { put(std::bit_cast<std::int64_t>(value)); }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <typename Item>
  void put(const std::vector<Item>& items) {
    put(items.size());
    for (const Item& item : items) put(item);
  }
  template <typename Item, std::size_t count>
  void put(const Item (&items)[count]) {
    for (const Item& item : items) put(item);
  }
  template <typename First, typename Second>
  void put(const std::pair<First, Second>& both) {
    (*this)(both.first, both.second);
  }
  template <typename... Alternatives>
  void put(const std::variant<Alternatives...>& choice) {
    put(choice.index());
    std::visit([this](const auto& value) { this->put(value); }, choice);
  }
  template <typename Item>
  void put(const std::optional<Item>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <typename Struct>
  void put(const Struct& value) {
    list_fields(*this, value);
  }

  std::string bytes_;
};

}  // namespace kw::wire
