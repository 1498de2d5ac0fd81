// The source languages of this program and of its worker, the default first.
#include <array>

#include "language/rows.hpp"

namespace kw {

std::span<const Language* const> languages() {
  static const std::array<const Language*, 3> list = {&opencl_language(), &cuda_language(), &hip_language()};
  return list;
}

}  // namespace kw
