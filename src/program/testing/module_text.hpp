#pragma once
// Modules for tests of the reader, written in as few lines as possible.

#include <string>

#include "program/reader/program_reader.hpp"

namespace kw::program_test {

/// A file whose forward(x) has this body, with `inputs` for get_inputs(); `init` stands in __init__, behind super().
[[nodiscard]] std::string module_text(const std::string& forward, const std::string& inputs,
                                      const std::string& init = "pass");

/// The shape of the first output of such a module, as text: "[2, 3]"; the error's text where it is refused.
[[nodiscard]] std::string shape_of(const std::string& forward, const std::string& inputs,
                                   const std::string& init = "pass");

}  // namespace kw::program_test
