#include "loop/run_directory.hpp"

namespace kw {

Bundle with_defaults(const Candidate& candidate) {
  Bundle bundle = candidate.bundle;
  for (auto& tunable : bundle.tunables) tunable.default_value = candidate.tunables.find(tunable.name)->second;
  return bundle;
}

}  // namespace kw
