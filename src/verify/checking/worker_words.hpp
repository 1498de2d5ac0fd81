#pragma once
// Words of a worker's reply as they may be recorded and shown: the compiler took them from the candidate's source.

#include <string>
#include <string_view>

namespace kw {

/// At most 60 characters; whatever no identifier has becomes '?'.
[[nodiscard]] std::string plain_name(std::string_view name);

}  // namespace kw
