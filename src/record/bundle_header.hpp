#pragma once
// The TOML half of a bundle, apart from the cutting of the file. Internal to record/: callers use parse_bundle.

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Everything of a Bundle but its source. `toml_text` starts on line `first_line` of `file`; both only label errors.
[[nodiscard]] Result<Bundle> read_bundle_header(std::string_view toml_text, const std::string& file, int first_line);

}  // namespace kw
