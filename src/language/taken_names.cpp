#include "language/taken_names.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string>

#include "language/kernel_texts.hpp"

namespace kw {
namespace {

// Lists of words between spaces.

constexpr std::string_view k_c_words =
    " "
    "atomic_int auto bool break case char complex const constant continue default do double else enum event_t "
    "extern false float for generic global goto half if image1d_t image2d_t image3d_t imaginary inline int "
    "intptr_t kernel local long main pipe private ptrdiff_t quad read_only read_write register restrict return "
    "sampler_t short signed size_t sizeof static struct switch true typedef uchar uint uintptr_t ulong uniform "
    "union unsigned ushort void volatile while write_only ";

constexpr std::string_view k_c_functions =
    " "
    "abs all any as_float as_float16 as_int16 barrier ceil clamp convert_float16 convert_int16 "
    "convert_int16_sat convert_int_sat convert_ushort16 cos dot erf exp exp2 fabs floor fma fmax fmin fmod "
    "get_global_id get_group_id get_num_groups INFINITY log log2 mad max min NAN pow printf rint round rsqrt "
    "select sign sin sqrt tanh vload16 vload_half vload_half16 vstore16 vstore_half16_rte vstore_half_rte ";

/// The same for CUDA C++, as far as OpenCL C has not taken them already.
constexpr std::string_view k_cuda_keywords =
    " "
    "alignas alignof and and_eq asm atomicMax atomicMin bitand bitor blockDim blockIdx catch char16_t char32_t "
    "class compl concept const_cast consteval constexpr constinit cosf decltype delete dim3 dynamic_cast exp2f expf "
    "explicit export fabsf floorf fmaf fmaxf fminf fmodf friend gridDim log2f logf make_float2 make_float4 memcpy "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq powf protected public "
    "reinterpret_cast requires rintf rsqrtf sinf sqrtf static_assert static_cast tanhf template this thread_local "
    "threadIdx throw try typeid typename using virtual warpSize wchar_t xor xor_eq ";

/// Macros of the C library's headers, which both languages have.
constexpr std::string_view k_c_macros =
    " "
    "CHAR_BIT CHAR_MAX CHAR_MIN DBL_EPSILON DBL_MAX DBL_MIN FLT_EPSILON FLT_MAX FLT_MIN HUGE_VALF INT32_MAX "
    "INT32_MIN INT64_MAX INT64_MIN INT_MAX INT_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN linux M_1_PI M_2_SQRTPI M_E "
    "M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_SQRT1_2 M_SQRT2 SHRT_MAX SHRT_MIN UINT32_MAX UINT_MAX USHRT_MAX unix ";

bool holds(std::string_view words, std::string_view name) {
  return words.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

bool is_first(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_next(char c) {
  return is_first(c) || (c >= '0' && c <= '9');
}

using Names = std::set<std::string, std::less<>>;

/// The words behind `label` in lines of a comment.
void take_listed(std::string_view comment, std::string_view label, Names& names) {
  for (std::size_t at = comment.find(label); at != std::string_view::npos; at = comment.find(label, at + 1)) {
    std::string_view words = comment.substr(at + label.size());
    words = words.substr(0, words.find('\n'));
    while (!words.empty()) {
      const std::size_t end = words.find(' ');
      if (end != 0) names.emplace(words.substr(0, end));
      words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
    }
  }
}

/// Identifiers of kernel text. Holes, comments, strings, numbers and members of structures are passed over.
class IdentifierScan {
 public:
  explicit IdentifierScan(std::string_view text) : text_(text) {}

  /// The next one; empty at the end.
  std::string_view next() {
    while (at_ < text_.size()) {
      if (skip("${", "}") || skip("//", "\n") || skip("\"", "\"")) continue;
      const bool member = text_[at_] == '.';
      if (member) ++at_;
      if (at_ == text_.size() || !is_next(text_[at_])) {
        at_ += member ? 0 : 1;
        continue;
      }
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_next(text_[at_])) ++at_;
      if (!member && is_first(text_[begin])) return text_.substr(begin, at_ - begin);
    }
    return {};
  }
  /// Whether the last one is called or defined as a function.
  [[nodiscard]] bool at_call() const { return at_ < text_.size() && text_[at_] == '('; }

 private:
  bool skip(std::string_view open, std::string_view close) {
    if (!text_.substr(at_).starts_with(open)) return false;
    const std::size_t end = text_.find(close, at_ + open.size());
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct KernelNames {
  Names definitions, identifiers;
};

void scan_section(const KernelSection& section, const Names& axes, KernelNames& names) {
  const bool shared = section.file.starts_with("shared/");
  IdentifierScan scan(section.text);
  std::string_view last;
  for (std::string_view name = scan.next(); !name.empty(); last = name, name = scan.next()) {
    if (last == "define") names.definitions.emplace(name);
    // Templates of functions have single capitals, and no user's names.
    const bool template_parameter = name.size() == 1 && name.front() >= 'A' && name.front() <= 'Z';
    if (axes.count(name) == 0 && !template_parameter && (!shared || scan.at_call())) names.identifiers.emplace(name);
  }
}

const KernelNames& kernel_names() {
  static const KernelNames k_names = [] {
    KernelNames names;
    Names axes;
    for (const EmbeddedText& file : embedded_kernel_texts()) {
      const std::string_view comment = kernel_file_comment(file.text);
      take_listed(comment, "// definitions: ", names.definitions);
      take_listed(comment, "// axes: ", axes);
    }
    for (const KernelSection& section : kernel_sections()) scan_section(section, axes, names);
    return names;
  }();
  return k_names;
}

}  // namespace

bool is_c_word(std::string_view name) {
  return holds(k_c_words, name) || holds(k_c_functions, name);
}

bool is_kernel_definition(std::string_view name) {
  return kernel_names().definitions.count(name) > 0;
}

bool is_taken_in_kernels(std::string_view name) {
  return is_c_word(name) || holds(k_cuda_keywords, name) || holds(k_c_macros, name) || is_kernel_definition(name) ||
         kernel_names().identifiers.count(name) > 0;
}

}  // namespace kw
