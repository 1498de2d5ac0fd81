#include "tests/errors/case_file.hpp"

#include <algorithm>
#include <cctype>

namespace kw::error_cases {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_of_a_block(std::string_view line) {
  return line.empty() || line.starts_with("  ");
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  });
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : lines_(lines_of(text)), file_(file) {}

  Result<std::vector<ErrorCase>> cases() {
    std::vector<ErrorCase> found;
    for (skip_comments(); at_ < lines_.size(); skip_comments()) {
      KW_TRY(ErrorCase error_case, header());
      for (const auto& other : found) {
        if (other.name == error_case.name) return refused("there are two cases of the name " + error_case.name);
      }
      ++at_;
      const std::size_t input_end = block_end();
      error_case.input = block(at_, input_end);
      at_ = input_end;
      if (error_case.input.empty()) return refused(error_case.name + " has no input");
      if (at_ == lines_.size() || lines_[at_] != "=>")
        return refused("expected '=>' after the input of " + error_case.name);
      error_case.expected_begin = ++at_;
      at_ = error_case.expected_end = block_end();
      while (error_case.expected_end > error_case.expected_begin && lines_[error_case.expected_end - 1].empty()) {
        --error_case.expected_end;
      }
      error_case.expected = block(error_case.expected_begin, error_case.expected_end);
      found.push_back(std::move(error_case));
    }
    if (found.empty()) return refused("there is no case in this file");
    return found;
  }

 private:
  Result<ErrorCase> header() const {
    const std::string_view line = lines_[at_];
    const auto space = std::min(line.find(' '), line.size());
    const auto kind = line.substr(0, space);
    const auto name = line.substr(std::min(space + 1, line.size()));
    const bool known = kind == "mask" || kind == "score" || kind == "problem" || kind == "module";
    if (!known || !is_name(name)) {
      return refused("expected 'mask NAME', 'score NAME', 'problem NAME' or 'module NAME'");
    }
    ErrorCase error_case;
    error_case.kind = kind;
    error_case.name = name;
    return error_case;
  }
  void skip_comments() {
    while (at_ < lines_.size() && (lines_[at_].empty() || lines_[at_].starts_with("#"))) ++at_;
  }
  [[nodiscard]] std::size_t block_end() const {
    std::size_t end = at_;
    while (end < lines_.size() && is_of_a_block(lines_[end])) ++end;
    return end;
  }
  [[nodiscard]] std::string block(std::size_t begin, std::size_t end) const {
    std::string text;
    for (; begin < end; ++begin)
      text.append(lines_[begin].substr(std::min<std::size_t>(2, lines_[begin].size()))) += '\n';
    return text;
  }
  [[nodiscard]] tl::unexpected<Error> refused(std::string message) const {
    return fail(Error{k_case_file, std::move(message), "", {file_, static_cast<int>(at_) + 1, 1}});
  }

  std::vector<std::string_view> lines_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<ErrorCase>> parse_case_file(std::string_view text, const std::string& file) {
  return Reader(text, file).cases();
}

Result<std::string> with_expected(std::string_view text, const std::string& file, std::string_view name,
                                  std::string_view expected) {
  KW_TRY(const auto cases, parse_case_file(text, file));
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& one) { return one.name == name; });
  KW_CHECK(found != cases.end(), "{} has no case {}", file, name);
  const auto lines = lines_of(text);
  std::string changed;
  const auto copy = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) changed.append(lines[begin]) += '\n';
  };
  copy(0, found->expected_begin);
  for (const auto line : lines_of(expected)) changed.append(line.empty() ? "" : "  ").append(line) += '\n';
  copy(found->expected_end, lines.size());
  return changed;
}

}  // namespace kw::error_cases
