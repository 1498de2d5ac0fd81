#include "propose/llm/replies/reply_parse.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "propose/llm/replies/answer_section.hpp"
#include "propose/llm/replies/code_blocks.hpp"
#include "propose/llm/replies/code_language.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_message_bytes = 400;
constexpr std::string_view k_marker = "kernelwright";
/// More headers than that in one answer are noise, and reading them costs time.
constexpr std::size_t k_max_pieces = 64;

/// A piece of a reply that is, or may be, a kernel.
struct Piece {
  std::string text;
  bool closed = true;
};

/// Offset of a line that starts with "/*kernelwright", blanks allowed; npos without. Prose that names it is no header.
std::size_t find_header(std::string_view text, std::size_t from = 0) {
  for (std::size_t at = from; (at = text.find("/*", at)) != std::string_view::npos; at += 2) {
    const std::size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t", at - 1);
    const bool starts_line = before == std::string_view::npos || text[before] == '\n';
    const std::size_t word = text.find_first_not_of(" \t", at + 2);
    if (starts_line && word != std::string_view::npos && text.substr(word, k_marker.size()) == k_marker) return at;
  }
  return std::string_view::npos;
}

/// Code without a fence has no end: up to the last line that closes a block or a directive. What follows is prose.
std::string_view without_prose_below(std::string_view code) {
  std::size_t end = 0;
  for (std::size_t start = 0; start < code.size();) {
    const std::size_t stop = std::min(code.find('\n', start), code.size());
    std::string_view line = code.substr(start, stop - start);
    if (line.substr(0, 3) == "```" || line.substr(0, 3) == "~~~") break;
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
    if (!line.empty() && (line.back() == '}' || line.substr(0, 6) == "#endif" || line.substr(0, 7) == "#define"))
      end = stop;
    start = stop + 1;
  }
  return end == 0 ? code : code.substr(0, end);
}

/// Every piece with a bundle header, each from its header on.
std::vector<Piece> bundle_pieces(const std::string& text, const std::vector<CodeBlock>& blocks) {
  std::vector<Piece> pieces;
  for (const auto& block : blocks) {
    const std::size_t at = find_header(block.text);
    if (at != std::string_view::npos) pieces.push_back({block.text.substr(at), block.closed});
    if (pieces.size() == k_max_pieces) return pieces;
  }
  if (!pieces.empty()) return pieces;
  for (std::size_t at = find_header(text); at != std::string::npos && pieces.size() < k_max_pieces;) {
    const std::size_t next = find_header(text, at + 2);
    const std::string_view whole = std::string_view(text).substr(at, next == std::string::npos ? next : next - at);
    pieces.push_back({std::string(without_prose_below(whole)) + "\n", next != std::string::npos});
    at = next;
  }
  return pieces;
}

/// What stands below a piece's header; the whole of it where there is no header.
std::string_view below_header(std::string_view piece) {
  if (find_header(piece) == std::string_view::npos) return piece;
  const std::size_t end = piece.find("*/");
  if (end == std::string_view::npos) return {};
  const std::size_t start = piece.find('\n', end);
  return start == std::string_view::npos ? std::string_view() : piece.substr(start + 1);
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Gives headers that stand alone the source that they are meant for.
void complete_headers(std::vector<Piece>& pieces, std::string_view source) {
  for (auto& piece : pieces) {
    if (piece.closed && is_blank(below_header(piece.text)))
      piece.text.append(piece.text.ends_with('\n') ? "" : "\n").append(source);
  }
}

bool braces_balance(std::string_view code) {
  return std::count(code.begin(), code.end(), '{') == std::count(code.begin(), code.end(), '}');
}

ParsedReply fault(ReplyFault why, std::string_view sentence) {
  return {std::nullopt, {}, why, one_line(sentence, k_max_message_bytes), ""};
}

/// A bundle that parsed: whether it is for this target and holds device code only.
std::optional<ParsedReply> refuse_bundle(const Bundle& bundle, std::string_view target) {
  if (bundle.target != target) {
    return fault(ReplyFault::wrong_language, fmt::format("the bundle says target = \"{}\"; this run takes \"{}\"",
                                                         one_line(bundle.target, 40), target));
  }
  if (has_host_code(bundle.source)) {
    return fault(ReplyFault::host_program,
                 "below the header stands host code; a bundle holds kernels alone, and the "
                 "header says how they are launched");
  }
  const Language* wanted = find_language(target);
  const CodeLanguage found = language_of(bundle.source);
  const bool undecided = found.kind == CodeKind::none || found.kind == CodeKind::c_family;
  // A kernel that mixes in a word of another language is the compiler's to judge: its errors say more.
  if (wanted != nullptr && !undecided && !has_words_of(*wanted, bundle.source)) {
    return fault(ReplyFault::wrong_language, fmt::format("below the header stands {}; the target \"{}\" takes {}",
                                                         found.title, target, wanted->title));
  }
  return std::nullopt;
}

/// What the pieces with a header come to; nothing when there is none.
std::optional<ParsedReply> read_pieces(const std::vector<Piece>& pieces, ChatFinish finish, std::string_view target) {
  if (pieces.empty()) return std::nullopt;
  std::vector<Bundle> complete;
  std::optional<ParsedReply> refused;
  bool cut = false;
  for (const auto& piece : pieces) {
    const bool at_the_end = !piece.closed;
    if (at_the_end && finish == ChatFinish::length) {
      cut = true;
      continue;
    }
    auto bundle = parse_bundle(piece.text, "bundle");
    if (!bundle) {
      const Error& error = bundle.error();
      refused =
          fault(ReplyFault::bundle_invalid, fmt::format("line {} of the bundle: {}{}{}", error.where.line,
                                                        error.message, error.hint.empty() ? "" : "; ", error.hint));
    } else if (at_the_end && finish == ChatFinish::unknown && !braces_balance(bundle->source)) {
      cut = true;
    } else if (auto why = refuse_bundle(*bundle, target)) {
      refused = std::move(why);
    } else if (std::find(complete.begin(), complete.end(), *bundle) == complete.end()) {
      complete.push_back(*std::move(bundle));
    }
  }
  if (complete.size() > k_most_bundles) {
    return fault(ReplyFault::several_bundles,
                 fmt::format("the answer holds {} different complete bundles; at most {} are verified", complete.size(),
                             k_most_bundles));
  }
  if (!complete.empty()) {
    ParsedReply taken;
    taken.bundle = std::move(complete.front());
    taken.others.assign(std::next(complete.begin()), complete.end());
    return taken;
  }
  if (cut) return fault(ReplyFault::cut_off, "the answer ended inside the kernel, at the limit on its length");
  return refused;
}

/// Why the model stopped, where that alone explains that there is no bundle.
std::optional<ParsedReply> explain_finish(ChatFinish finish) {
  switch (finish) {
    case ChatFinish::length:
      return fault(ReplyFault::cut_off, "the answer reached the limit on its length before it held a kernel");
    case ChatFinish::filter:
      return fault(ReplyFault::filtered, "the provider's content filter ended the answer");
    case ChatFinish::tool:
      return fault(ReplyFault::tool_call, "the answer calls a tool; there are none, the kernel itself is asked for");
    case ChatFinish::stop:
    case ChatFinish::unknown:
      return std::nullopt;
  }
  return std::nullopt;
}

/// No header anywhere: what there is instead.
ParsedReply explain_code(const std::string& text, const std::vector<CodeBlock>& blocks, std::string_view target) {
  std::string code;
  for (const auto& block : blocks) code += block.text + "\n";
  if (blocks.empty()) code = text;
  const Language* wanted = find_language(target);
  const CodeLanguage found = language_of(code);
  const std::string_view taken = wanted == nullptr ? target : wanted->title;
  if (found.kind == CodeKind::triton) {
    return fault(ReplyFault::wrong_language, fmt::format("the code is {}; this target takes {}", found.title, taken));
  }
  // Prose about torch or main() is no program.
  if (has_host_code(code) && (!blocks.empty() || found.kind != CodeKind::none)) {
    return fault(ReplyFault::host_program,
                 "the code is a whole program around the kernel; only a bundle is taken: header, then kernels");
  }
  if (found.kind == CodeKind::none || (blocks.empty() && found.kind == CodeKind::c_family)) {
    return fault(ReplyFault::no_code, "the answer holds no kernel");
  }
  const bool same = wanted == nullptr || found.kind == CodeKind::c_family || found.language == wanted ||
                    (found.language != nullptr && found.language->name == wanted->extends);
  if (!same) {
    return fault(ReplyFault::wrong_language, fmt::format("the code is {}; this target takes {}", found.title, taken));
  }
  return fault(ReplyFault::no_header,
               "the code has no bundle header: it must start with a comment /*kernelwright ... */");
}

ParsedReply parse_text(const ChatReply& reply, std::string_view target, std::string_view source) {
  const auto blocks = code_blocks(reply.text);
  std::vector<Piece> pieces = bundle_pieces(reply.text, blocks);
  if (!source.empty()) complete_headers(pieces, source);
  if (auto read = read_pieces(pieces, reply.finish, target)) return *std::move(read);
  if (auto why = explain_finish(reply.finish)) return *std::move(why);
  return explain_code(reply.text, blocks, target);
}

}  // namespace

std::string source_in(const ChatReply& reply) {
  if (reply.text.size() > k_max_reply_bytes) return "";
  const auto blocks = code_blocks(reply.text);
  std::vector<std::string> sources;
  for (const auto& piece : bundle_pieces(reply.text, blocks)) sources.emplace_back(below_header(piece.text));
  if (sources.empty()) {
    for (const auto& block : blocks) sources.push_back(block.text);
  }
  return sources.size() == 1 && !is_blank(sources.front()) ? sources.front() : "";
}

ParsedReply parse_reply(const ChatReply& reply, std::string_view target, std::string_view source) {
  if (reply.text.size() + reply.reasoning.size() > k_max_reply_bytes) {
    return fault(ReplyFault::too_large, fmt::format("the reply has {} bytes; at most {} are read",
                                                    reply.text.size() + reply.reasoning.size(), k_max_reply_bytes));
  }
  if (reply.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    if (auto why = explain_finish(reply.finish)) return *std::move(why);
    return fault(ReplyFault::empty,
                 reply.reasoning.empty() ? "the reply is empty" : "the reply holds reasoning and no answer");
  }
  ParsedReply parsed = parse_text(reply, target, source);
  parsed.plan = answer_section(reply.text, "Plan");
  return parsed;
}

}  // namespace kw
