#include <charconv>
#include <vector>

#include "sandbox/probe.hpp"

// One frame is a list of fields, each ended by a newline; a newline inside a field cannot occur in a path of ours, and
// in a hostile child's text it only spoils the child's own report.

namespace kw {
namespace {

std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> fields;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return fields;
}

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string ProbeBait::encode() const {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", canary, outside, host, open_files, memory_bytes, processes);
}

std::optional<ProbeBait> ProbeBait::decode(std::string_view text) {
  const auto fields = fields_of(text);
  if (fields.size() != 6) return std::nullopt;
  return ProbeBait{fields[0], fields[1], number(fields[2]), number(fields[3]), number(fields[4]), number(fields[5])};
}

std::string encode(const ProbeResult& result) {
  return fmt::format("{}\n{}\n{}\n", result.attempt, result.stopped ? "stopped" : "done", result.detail);
}

std::optional<ProbeResult> decode_probe_result(std::string_view text) {
  constexpr std::size_t k_longest_detail = 200;
  auto fields = fields_of(text);
  if (fields.size() != 3) return std::nullopt;
  return ProbeResult{fields[0], fields[1] == "stopped", fields[2].substr(0, k_longest_detail)};
}

}  // namespace kw
