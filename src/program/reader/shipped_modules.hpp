#pragma once
// What is written in Python in program/library/: modules of torch.nn that other modules make up, such as nn.LSTM and
// nn.MultiheadAttention, and functions of other libraries, such as einops.rearrange. They are read as a file's own
// classes and functions are, when a file asks for them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "python/ast.hpp"

namespace kw {

/// One file of program/library/.
struct ShippedFile {
  std::string_view name;     ///< "recurrent"
  std::string_view library;  ///< whose names it defines: "torch.nn"
  std::vector<PyStatement> statements;
};

/// Names that begin with an underscore are the files' own.
struct ShippedName {
  std::string path;  ///< "torch.nn.LSTM"
  std::size_t file = 0;
};

/// Parsed when first asked for.
[[nodiscard]] const std::vector<ShippedFile>& shipped_files();
/// Null where nothing of that name is shipped.
[[nodiscard]] const ShippedName* find_shipped(std::string_view path);
[[nodiscard]] const std::vector<ShippedName>& shipped_names();  ///< sorted

}  // namespace kw
