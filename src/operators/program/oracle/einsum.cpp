// Einstein's sum: every letter of the result is an axis, every other letter is summed over.

#include <array>
#include <map>
#include <optional>
#include <string>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

/// The letters of one operand. The axes under "..." get digits, the last one always the same, so that they broadcast.
std::string letters_of(std::string_view written, std::size_t unnamed) {
  std::string letters;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '.') {
      letters += written[i];
      continue;
    }
    for (std::size_t k = unnamed; k-- > 0;) letters += static_cast<char>('9' - static_cast<char>(k));
    i += 2;
  }
  return letters;
}

struct EinsumEquation {
  std::vector<std::string> operands;
  std::string result;
};

/// The reader has checked the text. Without "->" the result has the letters that stand once, in alphabetical order.
EinsumEquation read_equation(const std::string& text, const std::vector<Operand>& operands) {
  std::string equation;
  for (const char c : text) {
    if (c != ' ') equation += c;
  }
  const auto arrow = equation.find("->");
  EinsumEquation read;
  std::map<char, int> uses;
  std::size_t unnamed = 0;
  std::string_view rest = std::string_view(equation).substr(0, arrow);
  for (const auto& operand : operands) {
    const auto written = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), written.size() + 1));
    const bool dots = written.find('.') != std::string_view::npos;
    const auto own = dots ? operand.rank() - (written.size() - 3) : 0;
    unnamed = std::max(unnamed, own);
    read.operands.push_back(letters_of(written, own));
    for (const char letter : read.operands.back()) ++uses[letter];
  }
  if (arrow != std::string::npos) {
    read.result = letters_of(std::string_view(equation).substr(arrow + 2), unnamed);
    return read;
  }
  for (const auto& [letter, count] : uses) {
    if (count == 1 || letter < 'A') read.result += letter;
  }
  return read;
}

/// The strides that the letters have in an operand; a letter that stands twice walks its diagonal.
Extents letter_strides(const Operand& operand, const std::string& own, const std::string& letters) {
  const auto dense = strides_of(operand.extents());
  Extents strides(letters.size(), 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto at = letters.find(own[i]);
    if (at != std::string::npos && operand.extent(i) != 1) strides[at] += dense[i];
  }
  return strides;
}

Result<Answer> einsum(const OracleCall& call) {
  const auto operands = call.tensors("operands");
  const auto equation = read_equation(call.text("equation"), operands);
  std::map<char, std::int64_t> extents;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t k = 0; k < equation.operands[i].size(); ++k) {
      auto& known = extents.try_emplace(equation.operands[i][k], 1).first->second;
      known = operands[i].extent(k) == 1 ? known : operands[i].extent(k);
    }
  }
  std::string summed;
  Extents kept_extents;
  Extents summed_extents;
  for (const char letter : equation.result) kept_extents.push_back(extents.at(letter));
  for (const auto& [letter, extent] : extents) {
    if (equation.result.find(letter) != std::string::npos) continue;
    summed += letter;
    summed_extents.push_back(extent);
  }
  std::vector<StridedMap> kept;
  std::vector<StridedMap> walked;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto& own = equation.operands[i];
    kept.emplace_back(kept_extents, letter_strides(operands[i], own, equation.result));
    walked.emplace_back(summed_extents, letter_strides(operands[i], own, summed));
  }
  return each_element([operands, kept, walked, count = volume_of(summed_extents)](std::int64_t i) {
    std::vector<std::int64_t> starts;
    for (const auto& map : kept) starts.push_back(map(i));
    double sum = 0.0;
    for (std::int64_t k = 0; k < count; ++k) {
      double product = 1.0;
      for (std::size_t n = 0; n < operands.size(); ++n) product *= operands[n][starts[n] + walked[n](k)];
      sum += product;
    }
    return sum;
  });
}

constexpr std::array k_einsum_answers = {OracleRow{"einsum", einsum}};

}  // namespace

std::span<const OracleRow> einsum_answers() {
  return k_einsum_answers;
}

}  // namespace kw::program_oracle
