#pragma once
// The text of kernels, which lies in files below kernels/ and is compiled into the program. Lines
// "// --- section: NAME" cut a file into sections; what stands before the first one, and lines "// --- ..." right
// behind such a line, are for the reader of the file and go into no kernel. Sections have ${name} holes, which fill()
// of codegen/text.hpp fills.

#include <span>
#include <string_view>
#include <vector>

#include "base/embedded_texts.hpp"

namespace kw {

/// The files below kernels/, each named by its path there, such as "attention/vector.cl".
[[nodiscard]] std::span<const EmbeddedText> embedded_kernel_texts();

struct KernelSection {
  std::string_view file;
  std::string_view name;  ///< once per file
  std::string_view text;  ///< whole lines, none of them blank at the end
};

/// All sections, file by file.
[[nodiscard]] const std::vector<KernelSection>& kernel_sections();

/// The text of one section. To ask for one that does not exist is a defect of the caller and aborts.
[[nodiscard]] std::string_view kernel_text(std::string_view file, std::string_view section);

/// What a file says to its reader before its first section.
[[nodiscard]] std::string_view kernel_file_comment(std::string_view file_text);

}  // namespace kw
