// The sections of the files in kernels/ against the code that fills them: every section is written into some kernel.
// fill() aborts where a hole of it is not filled.
#include "language/kernel_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "codegen/calibration.hpp"
#include "codegen/codegen.hpp"
#include "codegen/group_functions.hpp"
#include "codegen/kernel_helpers.hpp"
#include "codegen/testing/devices.hpp"
#include "language/taken_names.hpp"
#include "problem/operator.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

/// Lines of emitted kernels, without indentation.
class EmittedLines {
 public:
  void add(std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1))
      lines_.emplace(trimmed(text.substr(0, text.find('\n'))));
  }
  [[nodiscard]] bool any_starts_with(const std::string& prefix) const {
    const auto found = lines_.lower_bound(prefix);
    return found != lines_.end() && found->starts_with(prefix);
  }

 private:
  std::set<std::string> lines_;
};

/// With its default choices, and with each value of each choice. What bundles name beside the text must be reserved.
void add_variants(const Problem& problem, const Style& style, const DeviceFacts& device, EmittedLines& lines) {
  std::vector<IntBindings> variants = {{}};
  for (const Tunable& choice : style.structure)
    for (const std::int64_t value : choice.values) variants.push_back({{choice.name, value}});
  for (const IntBindings& structure : variants) {
    const auto bundle = style.emit(problem, device, structure);
    if (!bundle) continue;
    lines.add(bundle->source);
    for (const Tunable& tunable : bundle->tunables) EXPECT_TRUE(is_kernel_definition(tunable.name)) << tunable.name;
    for (const Definition& define : bundle->defines) EXPECT_TRUE(is_kernel_definition(define.name)) << define.name;
  }
}

/// Processors with a small and a large first cache, which have other loops over rows.
std::vector<DeviceFacts> devices_of(const std::string& target) {
  if (target != "opencl") return {target == "cuda" ? h200_device() : gpu_device("gfx942")};
  DeviceFacts large = avx512_device();
  large.l1_cache_bytes = 48 << 10;
  return {avx512_device(), large};
}

void add_styles(const Problem& problem, EmittedLines& lines) {
  for (const Style& style : styles_of(problem.op))
    for (const DeviceFacts& device : devices_of(style.target)) add_variants(problem, style, device, lines);
}

/// A module whose forward() gives `result` of x and y, which are of these shapes; N is an axis, and m `member`.
Problem module_problem(const std::string& result, const std::string& x, const std::string& y,
                       const std::string& precision = "", const std::string& member = "None") {
  const std::string module =
      "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nN = 128\n"
      "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = " +
      member + "\n    def forward(self, x, y):\n        return " + result +
      "\ndef get_inputs():\n    return [torch.rand(" + x + "), torch.rand(" + y +
      ")]\n"
      "def get_init_inputs():\n    return []\n";
  constexpr double k_any = 1e12;
  const auto text =
      find_operator("program")->format.from_module({module, "m.py", "", "", {}, {k_any, k_any}, precision});
  return parse_problem(text.value(), "m.py").value();
}

/// Modules whose kernels have everything that is written for programs.
std::vector<Problem> modules() {
  return {
      module_problem("torch.amax(x, dim=1) - torch.amin(y, dim=1)", "8, 16", "8, 16"),
      module_problem("torch.amax(x, dim=1) - torch.amin(y, dim=1)", "8, 600", "8, 600"),
      module_problem("torch.softmax(x, dim=1) * y", "8192, 2048", "2048"),
      module_problem("torch.log_softmax(x, dim=1) * y", "8192, 2048", "2048"),
      module_problem("torch.softmax(x, dim=1) * torch.prod(y, dim=1, keepdim=True) + torch.arange(600)", "600, 600",
                     "600, 600"),
      module_problem("torch.cumsum(x, dim=1) + y", "8, 600", "8, 600"),
      module_problem("torch.erf(x) + torch.expm1(y) * torch.log1p(x)", "8, 600", "8, 600"),
      module_problem("F.max_pool1d(x, 2) + y", "8, 64", "8, 32"),
      module_problem("F.max_pool1d(x, 3) + y", "8, 96", "8, 32"),
      module_problem("x @ y", "128, 64", "64, 128"),
      module_problem("x.T @ y.T", "64, 128", "128, 64"),
      module_problem("x.T @ y", "61, 127", "61, 127"),
      module_problem("x @ y.T", "127, 61", "127, 61"),
      module_problem("torch.relu(x) @ y", "127, 61", "61, 127"),
      module_problem("F.conv2d(x, y, padding=1)", "2, 6, 20, 20", "17, 6, 3, 3"),
      module_problem("x @ y", "32, 50000", "50000, 32"),
      module_problem("F.conv_transpose2d(x, y, stride=2, padding=1)", "2, 6, 20, 20", "6, 17, 3, 3"),
      module_problem("F.conv_transpose2d(x, y, stride=2, padding=1)", "16, 64, 64, 64", "64, 64, 3, 3"),
      module_problem("F.conv_transpose2d(x, y, stride=2, padding=1)", "16, 64, 64, 64", "64, 64, 3, 3", "tf32"),
      module_problem("x @ y", "128, 64", "64, 128", "tf32"),
      module_problem("x.T @ y", "640, 128", "640, 127", "tf32"),
      module_problem("F.conv2d(x, y, padding=1)", "2, 6, 20, 20", "17, 6, 3, 3", "tf32"),
      module_problem("x @ y", "32, 50000", "50000, 32", "tf32"),
      module_problem("F.conv2d(x, y, y[:, 0, 0, 0], padding=1)", "16, 600, 64, 64", "128, 600, 3, 3", "tf32"),
      module_problem("torch.amin(F.conv2d(x, y, padding=1), dim=1)", "16, 64, 64, 64", "128, 64, 3, 3"),
      module_problem("F.max_pool2d(F.conv2d(x, y, padding=1), 2)", "16, 64, 64, 64", "128, 64, 3, 3"),
      module_problem("torch.mean(torch.relu(F.conv2d(x, y, padding=1)), dim=(2, 3))", "16, 64, 64, 64",
                     "128, 64, 3, 3"),
      module_problem("torch.logsumexp(F.conv2d(x, y, padding=1), dim=1)", "16, 3, 256, 256", "16, 3, 3, 3"),
      module_problem("F.max_pool2d(torch.sin(F.conv2d(x, y, padding=1)), 2)", "16, 3, 256, 256", "16, 3, 3, 3"),
      module_problem("F.group_norm(F.conv2d(x, y, padding=1), 4)", "16, 3, 256, 256", "16, 3, 3, 3"),
      module_problem("F.group_norm(F.conv2d(x, y, padding=1), 4)", "16, 64, 64, 64", "128, 64, 3, 3"),
      module_problem("x @ y", "128, 64, dtype=torch.float16", "64, 128, dtype=torch.float16"),
      module_problem("x @ y", "N, N, dtype=torch.float16", "N, N, dtype=torch.float16"),
      module_problem("x @ y.T", "128, 64, dtype=torch.bfloat16", "128, 64, dtype=torch.bfloat16"),
      module_problem("self.m(x)[0] * y", "16, 4, 8", "16, 4, 20", "", "nn.GRU(8, 20)"),
      module_problem("self.m(x)[0] * y", "16, 4, 8", "16, 4, 200", "", "nn.GRU(8, 200)"),
  };
}

EmittedLines all_emitted() {
  EmittedLines lines;
  for (const char* name : {"causal", "alibi_lse", "softcap", "neighborhood_2d", "document_causal_f16", "causal_bf16",
                           "decode", "document_lse", "learned_relative", "additive_mask"}) {
    add_styles(load_problem(std::string("attention/") + name, RealFileSystem{}, {"problems"}).value(), lines);
  }
  for (const auto& module : modules()) add_styles(module, lines);
  // One query: its keys are split, and LSE is written in parts.
  const Problem lse = load_problem("attention/alibi_lse", RealFileSystem{}, {"problems"}).value();
  add_styles(with_axes(lse, {"Sq=1"}).value(), lines);
  const int last = static_cast<int>(KernelHelper::upper_bound_bf16);
  for (const Dialect dialect : {opencl_dialect(), cuda_dialect()})
    for (int helper = 0; helper <= last; ++helper)
      lines.add(helper_source({static_cast<KernelHelper>(helper)}, dialect));
  lines.add(multiply_add_calibration(avx512_device()).value().source);
  lines.add(bandwidth_calibration(avx512_device()).value().source);
  lines.add(copy_calibration(avx512_device()).value().source);
  return lines;
}

TEST(KernelTexts, are_all_written_into_kernels) {
  const EmittedLines emitted = all_emitted();
  for (const KernelSection& section : kernel_sections()) {
    std::string_view rest = section.text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      const std::string known(trimmed(line.substr(0, line.find("${"))));
      if (known.size() < 3) continue;  // a brace may stand behind what fills another hole
      EXPECT_TRUE(emitted.any_starts_with(known) || emitted.any_starts_with(with_places_named(known)))
          << "kernels/" << section.file << ", section " << section.name << ": no kernel has the line\n"
          << line;
    }
  }
}

}  // namespace
}  // namespace kw
