#include "propose/llm/prompts/template_text.hpp"

#include <algorithm>
#include <optional>

#include "base/closest_name.hpp"
#include "base/text.hpp"

namespace kw {
namespace {

enum class TagKind : std::uint8_t { value, open, close };

struct TemplateTag {
  TagKind kind = TagKind::value;
  std::string_view name;
  std::size_t begin = 0;  ///< of what it replaces: the whole line when it stands alone there
  std::size_t end = 0;
};

bool is_name(std::string_view text) {
  return !text.empty() && text[0] >= 'a' && text[0] <= 'z' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// A section's tag with nothing else on its line takes the line's indentation and its end.
void widen_to_line(std::string_view text, TemplateTag& tag) {
  std::size_t begin = tag.begin;
  while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  std::size_t end = tag.end;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) ++end;
  const bool from_line_start = begin == 0 || text[begin - 1] == '\n';
  if (!from_line_start || (end < text.size() && text[end] != '\n')) return;
  tag.begin = begin;
  tag.end = std::min(end + 1, text.size());
}

std::optional<TemplateTag> next_tag(std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = text.find("{{", at)) != std::string_view::npos; ++at) {
    const std::size_t close = text.find("}}", at + 2);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view name = text.substr(at + 2, close - at - 2);
    TemplateTag tag{TagKind::value, name, at, close + 2};
    if (!name.empty() && (name[0] == '#' || name[0] == '/')) {
      tag.kind = name[0] == '#' ? TagKind::open : TagKind::close;
      tag.name.remove_prefix(1);
      if (is_name(tag.name)) widen_to_line(text, tag);
    }
    if (is_name(tag.name)) return tag;
  }
  return std::nullopt;
}

struct OpenSection {
  std::string_view name;
  int line = 0;
  bool shown = true;
};

}  // namespace

Result<void> check_template(std::string_view text, const std::vector<std::string>& known, const std::string& file) {
  std::vector<OpenSection> open;
  std::size_t at = 0;
  int line = 1;
  const auto refuse = [&](std::string message, std::string hint, int where) {
    return fail(Error{errc::prompt_template, std::move(message), std::move(hint), {file, where, 0}});
  };
  while (const auto tag = next_tag(text, at)) {
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                        text.begin() + static_cast<std::ptrdiff_t>(tag->begin), '\n'));
    const int tag_line = line;
    line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(tag->begin),
                                        text.begin() + static_cast<std::ptrdiff_t>(tag->end), '\n'));
    at = tag->end;
    if (std::find(known.begin(), known.end(), tag->name) == known.end()) {
      const auto near = closest_name(tag->name, known);
      return refuse(fmt::format("unknown placeholder '{}'; known here are {}", tag->name.substr(0, 64), join(known)),
                    near ? fmt::format("did you mean {}?", *near) : "", tag_line);
    }
    if (tag->kind == TagKind::open) open.push_back({tag->name, tag_line, true});
    if (tag->kind != TagKind::close) continue;
    if (open.empty() || open.back().name != tag->name) {
      return refuse(
          fmt::format("{{{{/{}}}}} closes a section that is not the one last opened", tag->name),
          open.empty() ? "" : fmt::format("{{{{#{}}}}} of line {} is open", open.back().name, open.back().line),
          tag_line);
    }
    open.pop_back();
  }
  if (!open.empty()) {
    return refuse(fmt::format("the section {{{{#{}}}}} is never closed", open.back().name),
                  fmt::format("end it with {{{{/{}}}}}", open.back().name), open.back().line);
  }
  return {};
}

std::string render_template(std::string_view text, const PromptValues& values) {
  const auto value_of = [&](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string_view() : std::string_view(found->second);
  };
  std::string out;
  std::vector<OpenSection> open;
  const auto shown = [&] { return open.empty() || open.back().shown; };
  std::size_t at = 0;
  while (const auto tag = next_tag(text, at)) {
    if (shown()) out += text.substr(at, tag->begin - at);
    if (tag->kind == TagKind::open) {
      open.push_back({tag->name, 0, shown() && !value_of(tag->name).empty()});
    } else if (tag->kind == TagKind::close) {
      if (!open.empty()) open.pop_back();
    } else if (shown()) {
      out += value_of(tag->name);
    }
    at = tag->end;
  }
  if (shown()) out += text.substr(at);
  return out;
}

}  // namespace kw
