#pragma once
// A source language for tests alone: OpenCL C under another name and extension, run by the same driver.

#include "language/language.hpp"

namespace kw {

[[nodiscard]] const Language& opencl_alias_language();

}  // namespace kw
