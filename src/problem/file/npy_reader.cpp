#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/half.hpp"
#include "problem/file/number_array.hpp"

namespace kw {
namespace {

constexpr std::string_view k_magic = "\x93NUMPY";
constexpr std::string_view k_save = "write the file with numpy.save and an array of float32, int32 or bool";

tl::unexpected<Error> refuse_npy(std::string message, std::string_view hint = k_save) {
  return fail(Error{errc::npy_format, std::move(message), std::string(hint)});
}

template <typename T>
T little_endian(const char* bytes) {
  static_assert(std::endian::native == std::endian::little, "the bytes of a number are read as they lie");
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T>
double number(const char* bytes) {
  return static_cast<double>(little_endian<T>(bytes));
}

struct ElementFormat {
  std::string_view descr;
  std::size_t bytes;
  double (*read)(const char* bytes);
};
constexpr std::array k_element_formats = std::to_array<ElementFormat>({
    {"<f4", 4, number<float>},
    {"<f8", 8, number<double>},
    {"<f2", 2, [](const char* bytes) { return static_cast<double>(half_value(little_endian<std::uint16_t>(bytes))); }},
    {"<i4", 4, number<std::int32_t>},
    {"<i8", 8, number<std::int64_t>},
    {"<i2", 2, number<std::int16_t>},
    {"|i1", 1, number<std::int8_t>},
    {"|u1", 1, number<std::uint8_t>},
    {"|b1", 1, [](const char* bytes) { return *bytes != 0 ? 1.0 : 0.0; }},
});

/// The header is the text of a Python dictionary with three known keys.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  struct Header {
    std::string_view descr;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
  };
  /// Nothing when the text is not such a dictionary.
  std::optional<Header> read() {
    Header header;
    if (!take("{")) return std::nullopt;
    while (!take("}")) {
      if (!entry(header) || (!take(",") && !ahead("}"))) return std::nullopt;
    }
    skip_space();
    if (!rest_.empty() || seen_ != std::array{true, true, true}) return std::nullopt;
    return header;
  }

 private:
  /// One key with its value; no key comes twice.
  bool entry(Header& header) {
    std::string_view key;
    if (!quoted(key) || !take(":")) return false;
    const auto found = std::find(k_keys.begin(), k_keys.end(), key);
    if (found == k_keys.end()) return false;
    bool& seen = seen_[static_cast<std::size_t>(found - k_keys.begin())];
    if (std::exchange(seen, true)) return false;
    if (key == "descr") return quoted(header.descr);
    return key == "shape" ? tuple(header.shape) : truth(header.fortran_order);
  }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool ahead(std::string_view text) {
    skip_space();
    return rest_.substr(0, text.size()) == text;
  }
  bool take(std::string_view text) {
    if (!ahead(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool quoted(std::string_view& text) {
    const std::string_view quote = ahead("\"") ? "\"" : "'";
    if (!take(quote)) return false;
    const auto end = rest_.find(quote);
    if (end == std::string_view::npos) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool truth(bool& value) {
    value = ahead("True");
    return take(value ? "True" : "False");
  }
  bool tuple(std::vector<std::int64_t>& values) {
    if (!take("(")) return false;
    while (!take(")")) {
      skip_space();
      std::int64_t value = 0;
      const auto [end, status] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (status != std::errc()) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      values.push_back(value);
      if (!take(",") && !ahead(")")) return false;
    }
    return true;
  }

  static constexpr std::array<std::string_view, 3> k_keys = {"descr", "fortran_order", "shape"};
  std::string_view rest_;
  std::array<bool, 3> seen_{};  // beside k_keys
};

/// Cuts the preamble and the header off `bytes`.
Result<std::string_view> take_header(std::string_view& bytes) {
  if (bytes.substr(0, k_magic.size()) != k_magic || bytes.size() < 10) return refuse_npy("this is not an .npy file");
  const auto major = static_cast<unsigned char>(bytes[6]);
  const auto minor = static_cast<unsigned char>(bytes[7]);
  if (major != 1 && major != 2) return refuse_npy(fmt::format("NPY format {}.{} is not read", major, minor));
  const std::size_t preamble = major == 1 ? 10 : 12;
  if (bytes.size() < preamble) return refuse_npy("the file ends within its header");
  const std::size_t length = major == 1 ? little_endian<std::uint16_t>(bytes.data() + 8)
                                        : std::size_t{little_endian<std::uint32_t>(bytes.data() + 8)};
  if (bytes.size() - preamble < length) return refuse_npy("the file ends within its header");
  const auto header = bytes.substr(preamble, length);
  bytes.remove_prefix(preamble + length);
  return header;
}

Result<std::int64_t> count_elements(const std::vector<std::int64_t>& shape) {
  if (shape.size() > k_max_dimensions) {
    return refuse_npy(fmt::format("the array has {} dimensions, more than {}", shape.size(), k_max_dimensions));
  }
  std::int64_t count = 1;
  for (const auto extent : shape) {
    if (extent < 1) return refuse_npy(fmt::format("the array has an extent of {}", extent));
    const auto product = checked_mul(count, extent);
    if (!product || *product > k_max_captured_elements) return refuse_npy("the array has more than 2^26 elements");
    count = *product;
  }
  return count;
}

}  // namespace

Result<NumberArray> parse_npy(std::string_view bytes) {
  KW_TRY(const auto text, take_header(bytes));
  const auto header = HeaderReader(text).read();
  if (!header) return refuse_npy("the header of the .npy file is damaged, or describes records");
  const auto* format = std::find_if(k_element_formats.begin(), k_element_formats.end(),
                                    [&](const auto& each) { return each.descr == header->descr; });
  if (format == k_element_formats.end())
    return refuse_npy(fmt::format("elements of type '{}' are not read", header->descr));
  if (header->fortran_order && header->shape.size() > 1) {
    return refuse_npy("the array is in Fortran order", "save numpy.ascontiguousarray(array)");
  }
  KW_TRY(const auto count, count_elements(header->shape));
  const auto elements = static_cast<std::size_t>(count);
  if (bytes.size() != elements * format->bytes) {
    return refuse_npy(fmt::format("the header promises {} bytes of elements, the file has {}", elements * format->bytes,
                                  bytes.size()));
  }
  NumberArray array{header->shape, {}};
  array.values.reserve(elements);
  for (std::size_t i = 0; i < elements; ++i) array.values.push_back(format->read(bytes.data() + i * format->bytes));
  return array;
}

}  // namespace kw
