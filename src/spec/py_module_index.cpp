#include "spec/py_module_index.hpp"

#include <algorithm>
#include <utility>

#include "spec/py_lexer.hpp"
#include "spec/py_parser.hpp"

namespace kw {
namespace {

/// A statement that starts at the left margin, with the indented lines below it.
struct Chunk {
  std::string_view text;
  std::string_view head;  ///< the same without decorators
  int line = 1;
};

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view first_word(std::string_view text) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), is_name_part);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// Takes the first word and the blanks behind it off `text`.
std::string_view take_word(std::string_view& text) {
  const auto word = first_word(text);
  text.remove_prefix(word.size());
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return word;
}

/// Walks over logical lines: newlines inside of brackets, strings and after a backslash do not end one.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Chunk> run() {
    std::vector<Chunk> chunks;
    bool decorated = false;  // the chunk consists of decorators so far
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      const int line = line_;
      const char first = text_[begin];
      logical_line();
      if (first == '\n' || first == '\r' || first == '#') continue;
      const bool margin = first != ' ' && first != '\t';
      if (margin && !decorated) chunks.push_back({text_.substr(begin, 0), {}, line});
      if (chunks.empty()) continue;
      auto& chunk = chunks.back();
      const auto start = static_cast<std::size_t>(chunk.text.data() - text_.data());
      chunk.text = text_.substr(start, at_ - start);
      if (margin) {
        chunk.head = text_.substr(begin, at_ - begin);
        decorated = first == '@';
      }
    }
    return chunks;
  }

 private:
  void step() {
    if (text_[at_++] == '\n') ++line_;
  }
  void logical_line() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') step();
      } else if (c == '"' || c == '\'') {
        string(c);
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        step();
        step();
      } else {
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') depth = std::max(0, depth - 1);
        step();
        if (c == '\n' && depth == 0) return;
      }
    }
  }
  void string(char quote) {
    const auto opening = text_.substr(at_, 3);
    const bool triple = opening.size() == 3 && opening[1] == quote && opening[2] == quote;
    const int width = triple ? 3 : 1;
    for (int i = 0; i < width; ++i) step();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !triple) return;
      if (c == quote && (!triple || text_.substr(at_, 3) == opening)) {
        for (int i = 0; i < width; ++i) step();
        return;
      }
      step();
      if (c == '\\' && at_ < text_.size()) step();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

/// The names that "a, (b, *c)" binds; empty when the tokens are anything else.
std::vector<std::string> target_names(const std::vector<PyToken>& tokens, std::size_t begin, std::size_t end) {
  std::vector<std::string> names;
  bool after_name = false;
  for (std::size_t i = begin; i < end; ++i) {
    const auto& token = tokens[i];
    if (token.kind == PyTokenKind::name) {
      if (after_name) return {};
      names.push_back(token.text);
    } else if (token.kind == PyTokenKind::symbol && token.text == ":" && i == begin + 1) {
      return names;  // what follows is the annotation
    } else if (token.kind != PyTokenKind::symbol || token.text == "." || token.text == ":" ||
               ((token.text == "(" || token.text == "[") && after_name)) {
      return {};
    }
    after_name = token.kind == PyTokenKind::name;
  }
  return names;
}

/// The names on the left of every "=" of simple statements separated by ";".
std::vector<std::string> assigned_names(std::string_view text) {
  const auto lexed = tokenize_python(text);
  if (!lexed) return {};
  const auto& tokens = *lexed;
  std::vector<std::string> names;
  std::size_t begin = 0;
  int depth = 0;
  bool value = false;  // a part that is no target ends the targets of its statement
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& token = tokens[i];
    if (token.kind != PyTokenKind::symbol) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{") ++depth;
    if (token.text == ")" || token.text == "]" || token.text == "}") --depth;
    if (depth > 0) continue;
    if (token.text == ";") {
      begin = i + 1;
      value = false;
    } else if (token.text.back() == '=' && token.text != "==" && token.text != "!=" && token.text != "<=" &&
               token.text != ">=") {
      const auto found = value ? std::vector<std::string>() : target_names(tokens, begin, i);
      value = value || found.empty();
      names.insert(names.end(), found.begin(), found.end());
      begin = i + 1;
    }
  }
  return names;
}

std::vector<std::string> imported_names(std::string_view text) {
  const auto parsed = parse_python(text);
  std::vector<std::string> names;
  if (!parsed) return names;
  for (const auto& statement : *parsed) names.insert(names.end(), statement.names.begin(), statement.names.end());
  return names;
}

bool opens_block(std::string_view word) {
  for (const std::string_view known : {"if", "elif", "else", "for", "while", "with", "try", "except", "finally"}) {
    if (word == known) return true;
  }
  return false;
}

PyModuleItem item_of(const Chunk& chunk) {
  PyModuleItem item{PyModuleItemKind::definition, {}, chunk.text, chunk.line};
  auto rest = chunk.head;
  auto word = take_word(rest);
  if (word == "from" || word == "import") {
    item.names = imported_names(chunk.text);
  } else if (word == "def" || word == "class" || word == "async") {
    if (word != "def") item.kind = PyModuleItemKind::unread;
    if (word == "async") take_word(rest);
    item.names = {std::string(first_word(rest))};
  } else if (!opens_block(word)) {
    item.kind = PyModuleItemKind::assignment;
    item.names = assigned_names(chunk.text);
  }
  return item;
}

}  // namespace

std::vector<PyModuleItem> index_python_module(std::string_view text) {
  std::vector<PyModuleItem> items;
  for (const auto& chunk : Scanner(text).run()) {
    auto item = item_of(chunk);
    if (!item.names.empty()) items.push_back(std::move(item));
  }
  return items;
}

}  // namespace kw
