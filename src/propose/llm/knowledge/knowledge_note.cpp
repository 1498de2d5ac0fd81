#include "propose/llm/knowledge/knowledge_note.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace kw {
namespace {

constexpr std::string_view k_bullet = "* ";

/// A head line as it was read.
struct HeadLine {
  std::string value;
  int line = 0;
};
using Head = std::multimap<std::string, HeadLine, std::less<>>;

/// Reads a note line by line, and knows where it is.
class NoteReader {
 public:
  NoteReader(std::string_view text, const std::string& name) : rest_(text), file_("knowledge/" + name + ".md") {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  /// The next line, without blanks around it.
  [[nodiscard]] std::string_view peek() const { return trimmed(rest_.substr(0, rest_.find('\n'))); }
  std::string_view next() {
    const std::string_view line = peek();
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size() - 1) + 1);
    ++line_;
    return line;
  }
  [[nodiscard]] std::string_view rest() const { return trimmed(rest_); }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] tl::unexpected<Error> refuse(std::string message, std::string hint = {}, int line = 0) const {
    return fail(Error{errc::knowledge_note, std::move(message), std::move(hint), {file_, line > 0 ? line : line_, 0}});
  }

 private:
  std::string_view rest_;
  std::string file_;
  int line_ = 0;
};

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (const auto part = trimmed(list.substr(0, end)); !part.empty()) parts.emplace_back(part);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::optional<double> number_of(std::string_view text) {
  const std::string whole(trimmed(text));
  char* end = nullptr;
  const double value = std::strtod(whole.c_str(), &end);
  if (whole.empty() || end != whole.c_str() + whole.size()) return std::nullopt;
  return value;
}

Result<SignCondition> read_condition(const NoteReader& reader, const HeadLine& where, const std::string& text) {
  const std::size_t at = text.find_first_of("<>=");
  const std::size_t end = at == std::string::npos ? at : text.find_first_not_of("<>=", at);
  if (end == std::string::npos) {
    return reader.refuse(fmt::format("'{}' is no condition", text),
                         "write SIGN < NUMBER, with <, <=, >, >= or ==", where.line);
  }
  const SignCondition found{std::string(trimmed(text.substr(0, at))), text.substr(at, end - at),
                            number_of(text.substr(end)).value_or(0)};
  const bool known = std::string_view(" < <= > >= == ").find(" " + found.comparison + " ") != std::string_view::npos;
  if (!known || !number_of(text.substr(end))) {
    return reader.refuse(fmt::format("'{}' is no condition", text),
                         "write SIGN < NUMBER, with <, <=, >, >= or ==", where.line);
  }
  if (sign_meaning(found.sign).empty()) {
    return reader.refuse(fmt::format("there is no sign '{}'", found.sign), "the signs are " + sign_names(), where.line);
  }
  return found;
}

Result<Head> read_head(NoteReader& reader) {
  static const std::vector<std::string> k_keys = {"target", "device", "operator", "when", "gain", "source", "figure"};
  Head head;
  while (reader.peek().empty() && !reader.at_end()) (void)reader.next();
  while (reader.peek().starts_with(k_bullet)) {
    const std::string_view line = reader.next();
    const std::size_t colon = std::min(line.find(':'), line.size() - 1);
    const std::string key(line.substr(k_bullet.size(), colon - k_bullet.size()));
    if (std::find(k_keys.begin(), k_keys.end(), key) == k_keys.end()) {
      return reader.refuse(fmt::format("a note knows no '{}'", key), "the head lines are " + join(k_keys));
    }
    if (key != "figure" && head.count(key) > 0) return reader.refuse(fmt::format("'{}' is there twice", key));
    head.emplace(key, HeadLine{std::string(trimmed(line.substr(colon + 1))), reader.line()});
  }
  for (const char* key : {"when", "gain", "source", "figure"}) {
    if (head.count(key) == 0) return reader.refuse(fmt::format("the note has no line '* {}:'", key));
  }
  return head;
}

}  // namespace

bool SignCondition::holds(const Signs& signs) const {
  const auto found = signs.find(sign);
  if (found == signs.end()) return false;
  if (comparison == "<") return found->second < value;
  if (comparison == "<=") return found->second <= value;
  if (comparison == ">") return found->second > value;
  if (comparison == ">=") return found->second >= value;
  return found->second == value;
}

std::string SignCondition::to_string() const {
  return fmt::format("{} {} {:g}", sign, comparison, value);
}

Result<KnowledgeNote> parse_knowledge_note(std::string_view text, const std::string& name) {
  NoteReader reader(text, name);
  KnowledgeNote note;
  note.name = name;
  const std::string_view title = reader.next();
  if (!title.starts_with("# ")) return reader.refuse("a note begins with its title", "# TITLE");
  note.title = trimmed(title.substr(2));
  KW_TRY(const Head head, read_head(reader));
  const auto list = [&](const char* key) {
    const auto found = head.find(key);
    return found == head.end() ? std::vector<std::string>() : parts_of(found->second.value);
  };
  note.targets = list("target");
  note.devices = list("device");
  note.operators = list("operator");
  const HeadLine& when = head.find("when")->second;
  for (const auto& part : parts_of(when.value)) {
    KW_TRY(note.when.emplace_back(), read_condition(reader, when, part));
  }
  if (note.when.empty()) return reader.refuse("'when' names no sign", "the signs are " + sign_names(), when.line);
  const HeadLine& gain = head.find("gain")->second;
  note.gain = number_of(gain.value).value_or(0);
  if (!(note.gain > 1)) {
    return reader.refuse(fmt::format("'{}' is no gain", gain.value), "write how many times as fast it became: 1.18",
                         gain.line);
  }
  note.source = head.find("source")->second.value;
  const auto [first, last] = head.equal_range("figure");
  for (auto figure = first; figure != last; ++figure) note.figures.push_back(figure->second.value);
  note.text = reader.rest();
  if (note.text.empty()) return reader.refuse("the note has no text");
  return note;
}

}  // namespace kw
