#include "sandbox/tier.hpp"

namespace kw {

std::string_view to_string(SandboxTier tier) {
  switch (tier) {
    case SandboxTier::none:
      return "none";
    case SandboxTier::a:
      return "a";
    case SandboxTier::b:
      return "b";
    case SandboxTier::c:
      return "c";
  }
  return "none";
}

}  // namespace kw
