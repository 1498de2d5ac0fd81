#pragma once
// What is known of names of libraries besides how to call them. Libraries are not read: the truth of mine.FLAG, or
// whether it is None, is not known, and nothing may be decided by it.

#include <string_view>

#include "base/result.hpp"

namespace kw {

/// Modules, functions and dtypes: true, not None, and equal to themselves alone.
[[nodiscard]] bool is_known_of_library(std::string_view path);
/// errc::mod_unsupported for a decision that such a value would make.
[[nodiscard]] tl::unexpected<Error> unknown_of_library(std::string_view path, const SourcePlace& where);

/// Whether a mod may call or read `path`, so that a file that assigns to it changes the mod.
[[nodiscard]] bool is_read_from_library(std::string_view path);
/// Whether `root`, as in "root.name", is a library that is never looked for as a file.
[[nodiscard]] bool is_library(std::string_view root);
/// Whether "from module import *" binds nothing that a mod may read but what is_read_from_library() knows.
[[nodiscard]] bool is_listed_module(std::string_view module);

/// Decorators that leave what a function computes as it is, such as torch.compile.
[[nodiscard]] bool keeps_function(std::string_view decorator);

}  // namespace kw
