#pragma once
// The layers of the sandbox, and the only way to leave one out: a named token that says what is given up. Used by tests
// (each protection is shown to be the one that stops an attack) and by an operator whose machine breaks one layer.
// There is no "off" switch for all of them.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode sandbox_token{"sandbox.unknown_token", ExitClass::usage};
}  // namespace errc

enum class SandboxLayer : std::uint8_t {
  descriptors,
  environment,
  limits,
  capabilities,
  landlock,
  system_calls,
  namespaces,
  cgroup,
  reaping,
  tool_calls,  ///< that not even a vendor's tool connects to a local socket
  tool_paths,  ///< that Landlock governs paths for such a tool too, and not only for the worker it starts
};

class SandboxExemption {
 public:
  /// The token as written on a command line or in a test; errc::sandbox_token lists the known ones.
  [[nodiscard]] static Result<SandboxExemption> from_token(std::string_view token);
  /// Every token there is, in the order of the layers.
  [[nodiscard]] static std::span<const SandboxExemption> all();

  [[nodiscard]] SandboxLayer layer() const { return layer_; }
  [[nodiscard]] std::string_view token() const { return token_; }
  /// A paragraph for the person who is about to use it: what an attacker gains.
  [[nodiscard]] std::string_view consequence() const { return consequence_; }

 private:
  constexpr SandboxExemption(SandboxLayer layer, std::string_view token, std::string_view consequence)
      : layer_(layer), token_(token), consequence_(consequence) {}
  friend struct ExemptionTable;

  SandboxLayer layer_;
  std::string_view token_;
  std::string_view consequence_;
};

}  // namespace kw
