#include "device/null/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace kw {
namespace {

/// What a directive is followed by.
enum class Operands { none, text, number, bytes, text_number, text_value, two_texts };
struct Shape {
  std::string_view name;
  Operands operands;
};
constexpr std::array k_shapes{
    Shape{"fill", Operands::text_value},   Shape{"copy", Operands::two_texts},
    Shape{"modify_input", Operands::text}, Shape{"touch_guard", Operands::text_number},
    Shape{"spin_us", Operands::number},    Shape{"claim_ns", Operands::number},
    Shape{"hang", Operands::none},         Shape{"sleep_until_killed", Operands::none},
    Shape{"crash", Operands::none},        Shape{"abort", Operands::none},
    Shape{"exit", Operands::none},         Shape{"allocate", Operands::bytes},
    Shape{"fork", Operands::number},       Shape{"exec", Operands::text},
    Shape{"write_file", Operands::text},   Shape{"garbage_reply", Operands::none},
};

bool parse_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_value(const std::string& text, double& value) {
  std::istringstream stream(text);
  return (stream >> value) && stream.eof();
}

bool parse_bytes(std::string_view text, std::int64_t& bytes) {
  int shift = 0;
  for (const auto& [unit, bits] : {std::pair{"KiB", 10}, std::pair{"MiB", 20}, std::pair{"GiB", 30}}) {
    if (text.ends_with(unit)) shift = bits;
  }
  if (shift > 0) text.remove_suffix(3);
  if (!parse_number(text, bytes) || bytes < 0 || bytes > (std::int64_t{1} << 24)) return false;
  bytes <<= shift;
  return true;
}

bool parse_operands(const std::vector<std::string>& words, Operands operands, NullDirective& directive) {
  const std::size_t expected =
      operands == Operands::none                                                                                 ? 1
      : operands == Operands::text_number || operands == Operands::text_value || operands == Operands::two_texts ? 3
                                                                                                                 : 2;
  if (words.size() != expected) return false;
  if (expected > 1) directive.text = words[1];
  switch (operands) {
    case Operands::none:
    case Operands::text:
      return true;
    case Operands::number:
      return parse_number(words[1], directive.number);
    case Operands::bytes:
      return parse_bytes(words[1], directive.number);
    case Operands::text_number:
      return parse_number(words[2], directive.number);
    case Operands::text_value:
      return parse_value(words[2], directive.value);
    case Operands::two_texts:
      directive.second_text = words[2];
      return true;
  }
  return false;
}

bool parse_line(const std::vector<std::string>& words, NullProgram& program) {
  if (words[0] == "at_build" && words.size() == 2 && program.kernels.empty()) {
    program.at_build = words[1];
    constexpr std::array<std::string_view, 5> k_known = {"crash", "crash_late", "hang", "sleep_until_killed", "exit"};
    return std::ranges::find(k_known, words[1]) != k_known.end();
  }
  if (words[0] == "kernel" && (words.size() == 2 || words.size() == 3)) {
    NullKernel& kernel = program.kernels.emplace_back();
    kernel.name = words[1];
    return words.size() == 2 || (parse_number(words[2], kernel.arguments) && kernel.arguments >= 0);
  }
  const auto* shape =
      std::find_if(k_shapes.begin(), k_shapes.end(), [&](const Shape& s) { return s.name == words[0]; });
  if (shape == k_shapes.end() || program.kernels.empty()) return false;
  NullDirective& directive = program.kernels.back().body.emplace_back();
  directive.name = words[0];
  return parse_operands(words, shape->operands, directive);
}

}  // namespace

const NullKernel* NullProgram::find(std::string_view name) const {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const auto& kernel) { return kernel.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

Result<NullProgram> parse_null_program(std::string_view source) {
  NullProgram program;
  std::istringstream lines{std::string(source)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.empty() || parse_line(words, program)) continue;
    return fail(Error{errc::null_syntax, fmt::format("the null device does not understand '{}'", line),
                      "see device/null/program.hpp for its directives", SourcePlace{"", number, 0}});
  }
  return program;
}

}  // namespace kw
