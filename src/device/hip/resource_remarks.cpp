#include "device/hip/resource_remarks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace kw::hip {
namespace {

constexpr std::string_view k_kind = "[-Rpass-analysis=kernel-resource-usage]";
constexpr std::string_view k_remark = "remark:";

/// Takes the next line, without its end, off `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

struct Remark {
  std::string_view name, value;
};

/// "kernel.hip:3:1: remark:     VGPRs: 42 [-Rpass-analysis=kernel-resource-usage]"
std::optional<Remark> remark_of(std::string_view line) {
  const std::size_t begin = line.find(k_remark);
  const std::size_t end = line.find(k_kind);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  const std::string_view text = trimmed(line.substr(begin + k_remark.size(), end - begin - k_remark.size()));
  const std::size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  return Remark{text.substr(0, colon), trimmed(text.substr(colon + 2))};
}

struct Figure {
  std::string_view name;
  std::int64_t ResourceRemarks::*field;
};
constexpr std::array k_figures{
    Figure{"VGPRs", &ResourceRemarks::vector_registers},
    Figure{"AGPRs", &ResourceRemarks::accumulator_registers},
    Figure{"ScratchSize [bytes/lane]", &ResourceRemarks::scratch_bytes},
    Figure{"VGPRs Spill", &ResourceRemarks::spilled_registers},
    Figure{"LDS Size [bytes/block]", &ResourceRemarks::static_shared_bytes},
};

}  // namespace

std::vector<ResourceRemarks> read_remarks(std::string_view log) {
  std::vector<ResourceRemarks> kernels;
  while (!log.empty()) {
    const auto remark = remark_of(next_line(log));
    if (!remark) continue;
    if (remark->name == "Function Name") {
      kernels.push_back({std::string(remark->value)});
      continue;
    }
    for (const Figure& figure : k_figures) {
      if (kernels.empty() || figure.name != remark->name) continue;
      const std::string_view value = remark->value;
      std::from_chars(value.data(), value.data() + value.size(), kernels.back().*figure.field);
    }
  }
  return kernels;
}

std::string without_remarks(std::string_view log) {
  std::string kept;
  while (!log.empty()) {
    const std::string_view line = next_line(log);
    if (line.find(k_kind) == std::string_view::npos) kept.append(line).append("\n");
  }
  return kept == "\n" ? "" : kept;
}

}  // namespace kw::hip
