#include "propose/llm/source_language.hpp"

#include <algorithm>
#include <array>
#include <cctype>
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

bool contains_any(std::string_view code, const std::vector<std::string_view>& marks) {
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return contains(code, mark); });
}

struct Marks {
  SourceLanguage language;
  std::vector<std::string_view> marks;
};

/// The first match wins: Python holds other languages in strings, Metal and SYCL look like C++.
const std::vector<Marks>& table() {
  static const std::vector<Marks> rows = {
      {SourceLanguage::triton,
       {"@triton.jit", "@triton.autotune", "import triton", "tl.program_id", "tl.load", "tl.dot"}},
      {SourceLanguage::metal,
       {"<metal_stdlib>", "using namespace metal", "[[thread_position_in_grid]]", "[[threadgroup_position_in_grid]]",
        "[[buffer(0)]]"}},
      {SourceLanguage::wgsl,
       {"@compute", "@workgroup_size", "var<storage", "var<workgroup>", "@builtin(global_invocation_id)"}},
      {SourceLanguage::glsl,
       {"gl_GlobalInvocationID", "gl_WorkGroupID", "layout(local_size_x", "#version 430", "#version 450"}},
      {SourceLanguage::hlsl,
       {"[numthreads(", "SV_DispatchThreadID", "SV_GroupID", "RWStructuredBuffer", "groupshared"}},
      {SourceLanguage::sycl, {"sycl::", "cl::sycl::", "<sycl/sycl.hpp>", "nd_item"}},
      {SourceLanguage::opencl,
       {"__kernel", "kernel void", "get_global_id", "get_group_id", "get_local_id", "__global", "CLK_LOCAL_MEM_FENCE"}},
      {SourceLanguage::hip, {"hip/hip_runtime.h", "hipThreadIdx_x", "hipBlockIdx_x", "HIP_DYNAMIC_SHARED"}},
      {SourceLanguage::cuda, {"__global__", "__device__", "threadIdx", "blockIdx", "__syncthreads", "__shared__"}},
      {SourceLanguage::python,
       {"import torch", "import numpy", "from torch", "nn.Module", "def forward", "import numba"}},
  };
  return rows;
}

}  // namespace

std::string_view to_string(SourceLanguage language) {
  constexpr std::array<std::string_view, 12> k_names = {"text",   "OpenCL C", "CUDA C++", "HIP C++", "Triton (Python)",
                                                        "Python", "HLSL",     "GLSL",     "WGSL",    "Metal",
                                                        "SYCL",   "C or C++"};
  return k_names.at(static_cast<std::size_t>(language));
}

SourceLanguage language_of(std::string_view code) {
  const std::string text = bare(code);
  for (const auto& row : table()) {
    if (contains_any(text, row.marks)) return row.language;
  }
  const bool looks_like_c = text.find('{') != std::string::npos && text.find(';') != std::string::npos;
  if (looks_like_c && contains_any(text, {"void", "float", "int", "half"})) return SourceLanguage::c_family;
  if (contains_any(text, {"def", "lambda"}) && text.find(':') != std::string::npos && contains(text, "return")) {
    return SourceLanguage::python;
  }
  return SourceLanguage::none;
}

bool has_marks_of(SourceLanguage language, std::string_view code) {
  // Most of HIP's words are CUDA's.
  if (language == SourceLanguage::hip && has_marks_of(SourceLanguage::cuda, code)) return true;
  const std::string text = bare(code);
  return std::any_of(table().begin(), table().end(),
                     [&](const Marks& row) { return row.language == language && contains_any(text, row.marks); });
}

bool has_host_code(std::string_view code) {
  const std::string text = bare(code);
  return contains_any(text, {"int main",
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
                             "std::vector"}) ||
         text.find("<<<") != std::string::npos;
}

SourceLanguage language_for(std::string_view target) {
  if (target == "opencl") return SourceLanguage::opencl;
  if (target == "cuda") return SourceLanguage::cuda;
  if (target == "hip") return SourceLanguage::hip;
  return SourceLanguage::none;
}

}  // namespace kw
