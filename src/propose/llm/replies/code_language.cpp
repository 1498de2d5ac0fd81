#include "propose/llm/replies/code_language.hpp"

#include <algorithm>
#include <cctype>
#include <span>
#include <string>
#include <vector>

namespace kw {
namespace {

/// Without C comments, and with string literals emptied: words in them say nothing about the language. Python's
/// comments and strings in triple quotes stay; its words are looked for all the same.
std::string bare(std::string_view code) {
  std::string out;
  for (std::size_t i = 0; i < code.size();) {
    const std::string_view rest = code.substr(i);
    if (rest.substr(0, 2) == "//") {
      i = std::min(code.find('\n', i), code.size());
    } else if (rest.substr(0, 2) == "/*") {
      const std::size_t end = code.find("*/", i + 2);
      i = end == std::string_view::npos ? code.size() : end + 2;
      out += ' ';
    } else {
      out += code[i++];
    }
  }
  return out;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether `mark` stands in `code`, not as a part of a longer word where it begins or ends with one.
bool contains(std::string_view code, std::string_view mark) {
  for (std::size_t at = 0; (at = code.find(mark, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + mark.size();
    const bool joined_before = at > 0 && is_word(mark.front()) && is_word(code[at - 1]);
    const bool joined_after = end < code.size() && is_word(mark.back()) && is_word(code[end]);
    if (!joined_before && !joined_after) return true;
  }
  return false;
}

bool contains_any(std::string_view code, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(code, word); });
}

/// A language that is no target's.
struct Foreign {
  CodeKind kind;
  std::string_view title;
  std::vector<std::string_view> words;
};

/// Python holds other languages in strings, Metal and SYCL look like C++: these are looked for first.
const std::vector<Foreign>& foreign_languages() {
  static const std::vector<Foreign> rows = {
      {CodeKind::triton,
       "Triton (Python)",
       {"@triton.jit", "@triton.autotune", "import triton", "tl.program_id", "tl.load", "tl.dot"}},
      {CodeKind::other,
       "Metal",
       {"<metal_stdlib>", "using namespace metal", "[[thread_position_in_grid]]", "[[threadgroup_position_in_grid]]",
        "[[buffer(0)]]"}},
      {CodeKind::other,
       "WGSL",
       {"@compute", "@workgroup_size", "var<storage", "var<workgroup>", "@builtin(global_invocation_id)"}},
      {CodeKind::other,
       "GLSL",
       {"gl_GlobalInvocationID", "gl_WorkGroupID", "layout(local_size_x", "#version 430", "#version 450"}},
      {CodeKind::other,
       "HLSL",
       {"[numthreads(", "SV_DispatchThreadID", "SV_GroupID", "RWStructuredBuffer", "groupshared"}},
      {CodeKind::other, "SYCL", {"sycl::", "cl::sycl::", "<sycl/sycl.hpp>", "nd_item"}},
  };
  return rows;
}

constexpr CodeLanguage k_python{CodeKind::other, "Python", nullptr};

/// The language of a target, by its own words; one that extends another before that one.
const Language* target_language_of(std::string_view text) {
  for (const Language* language : languages()) {
    for (const Language* extending : languages()) {
      if (extending->extends == language->name && contains_any(text, extending->words)) return extending;
    }
    if (contains_any(text, language->words)) return language;
  }
  return nullptr;
}

}  // namespace

CodeLanguage language_of(std::string_view code) {
  static const std::vector<std::string_view> k_python_words = {"import torch", "import numpy", "from torch",
                                                               "nn.Module",    "def forward",  "import numba"};
  static const std::vector<std::string_view> k_c_types = {"void", "float", "int", "half"};
  static const std::vector<std::string_view> k_functions = {"def", "lambda"};
  const std::string text = bare(code);
  for (const auto& foreign : foreign_languages()) {
    if (contains_any(text, foreign.words)) return {foreign.kind, foreign.title, nullptr};
  }
  if (const Language* language = target_language_of(text)) return {CodeKind::kernels, language->title, language};
  if (contains_any(text, k_python_words)) return k_python;
  const bool looks_like_c = text.find('{') != std::string::npos && text.find(';') != std::string::npos;
  if (looks_like_c && contains_any(text, k_c_types)) return {CodeKind::c_family, "C or C++", nullptr};
  if (contains_any(text, k_functions) && text.find(':') != std::string::npos && contains(text, "return")) {
    return k_python;
  }
  return {};
}

bool has_words_of(const Language& language, std::string_view code) {
  if (const Language* extended = find_language(language.extends)) {
    if (has_words_of(*extended, code)) return true;
  }
  return contains_any(bare(code), language.words);
}

bool has_host_code(std::string_view code) {
  static const std::vector<std::string_view> k_host_words = {"int main",
                                                             "load_inline",
                                                             "cpp_extension",
                                                             "torch::Tensor",
                                                             "at::Tensor",
                                                             "PYBIND11_MODULE",
                                                             "TORCH_LIBRARY",
                                                             "<torch/extension.h>",
                                                             "nn.Module",
                                                             "hipMalloc",
                                                             "hipMemcpy",
                                                             "hipLaunchKernelGGL",
                                                             "cudaMalloc",
                                                             "cudaMemcpy",
                                                             "cudaLaunchKernel",
                                                             "cudaDeviceSynchronize",
                                                             "clCreateContext",
                                                             "clCreateBuffer",
                                                             "clEnqueueNDRangeKernel",
                                                             "pyopencl",
                                                             "pycuda",
                                                             "cupy",
                                                             "numba",
                                                             "std::vector"};
  const std::string text = bare(code);
  return contains_any(text, k_host_words) || text.find("<<<") != std::string::npos;
}

}  // namespace kw
