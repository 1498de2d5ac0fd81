#pragma once
// How values travel between processes, as they are read: Reader takes back what Writer (wire_writer.hpp) appended, and
// trusts nothing. It never allocates for a count that the remaining bytes could not fill, and its recursion is as deep
// as the message types are nested, whatever the bytes say.

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kw::wire {

/// Every encoded value is at least this long, which is what bounds the counts of lists.
inline constexpr std::size_t k_word_bytes = 8;

/// Largest enumerator; the enums that travel count from 1 without gaps. Specialised beside the list of fields.
template <typename Enum>
inline constexpr std::int64_t k_enum_last = 0;

/// After the first mistake it stays failed and leaves everything else as it was.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename... Fields>
  void operator()(Fields&... values) {
    (get(values), ...);
  }
  [[nodiscard]] std::uint8_t get_byte();
  [[nodiscard]] bool failed() const { return !mistake_.empty(); }
  [[nodiscard]] const std::string& mistake() const { return mistake_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }
  /// Keeps the first mistake, with the offset at which it was found.
  void fail_with(std::string_view what);

  /// Alternative `index` of a variant, read as the fields of that type; false when there is no such alternative.
  template <typename Variant, std::size_t candidate = 0>
  bool get_alternative(Variant& choice, std::uint64_t index) {
    if constexpr (candidate < std::variant_size_v<Variant>) {
      if (index == candidate) {
        get(choice.template emplace<candidate>());
        return true;
      }
      return get_alternative<Variant, candidate + 1>(choice, index);
    } else {
      return false;
    }
  }

 private:
  [[nodiscard]] std::int64_t get_word();
  [[nodiscard]] std::size_t get_count(std::size_t least_bytes_each);

  template <std::integral Int>
  void get(Int& value) {
    const std::int64_t word = get_word();
    if (failed()) return;
    if constexpr (std::is_same_v<Int, bool>) {
      if (word != 0 && word != 1) return fail_with("a flag is neither 0 nor 1");
      value = word != 0;
    } else if constexpr (std::is_same_v<Int, std::uint64_t>) {
      value = static_cast<std::uint64_t>(word);  // any 64 bits are one
    } else {
      if (!std::in_range<Int>(word)) return fail_with("a number is out of its range");
      value = static_cast<Int>(word);
    }
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void get(Enum& value) {
    static_assert(k_enum_last<Enum> > 0, "name the last enumerator beside the list of fields");
    const std::int64_t word = get_word();
    if (failed()) return;
    if (word < 1 || word > k_enum_last<Enum>) return fail_with("an enumerator does not exist");
    value = static_cast<Enum>(word);
  }
  void get(float& value) {
    std::uint32_t bits = 0;
    get(bits);
    if (!failed()) value = std::bit_cast<float>(bits);
  }
  void get(double& value) { value = std::bit_cast<double>(get_word()); }
  void get(std::string& text);
  template <typename Item>
  void get(std::vector<Item>& items) {
    const std::size_t count = get_count(k_word_bytes);
    items.clear();
    for (std::size_t i = 0; i < count && !failed(); ++i) get(items.emplace_back());
  }
  template <typename Item, std::size_t count>
  void get(Item (&items)[count]) {
    for (Item& item : items) get(item);
  }
  template <typename First, typename Second>
  void get(std::pair<First, Second>& both) {
    (*this)(both.first, both.second);
  }
  template <typename... Alternatives>
  void get(std::variant<Alternatives...>& choice) {
    const auto index = static_cast<std::uint64_t>(get_word());
    if (!failed() && !get_alternative(choice, index)) fail_with("a choice does not exist");
  }
  template <typename Item>
  void get(std::optional<Item>& value) {
    bool present = false;
    get(present);
    value.reset();
    if (present && !failed()) get(value.emplace());
  }
  template <typename Struct>
  void get(Struct& value) {
    list_fields(*this, value);
  }

  std::string_view bytes_;
  std::size_t offset_ = 0;
  std::string mistake_;
};

}  // namespace kw::wire
