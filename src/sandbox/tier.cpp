#include "sandbox/tier.hpp"

namespace kw {

std::string_view to_string(SandboxTier tier) {
  switch (tier) {
    case SandboxTier::none:
      return "none";
    case SandboxTier::a:
      return "A";
    case SandboxTier::b:
      return "B";
    case SandboxTier::c:
      return "C";
  }
  return "none";
}

}  // namespace kw
