#pragma once

#include <cstdlib>
#include <string>

namespace kw {

/// The value of an environment variable; empty when it is not set. No thread of ours sets any.
[[nodiscard]] inline std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): see above
  return value == nullptr ? "" : value;
}

}  // namespace kw
