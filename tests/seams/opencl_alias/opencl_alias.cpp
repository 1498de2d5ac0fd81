#include "tests/seams/opencl_alias/opencl_alias.hpp"

#include "language/rows.hpp"

namespace kw {

const Language& opencl_alias_language() {
  static const Language k_row = [] {
    Language row = opencl_language();
    row.name = "opencl_alias";
    row.title = "OpenCL C by another name";
    row.extension = "ocl";
    return row;
  }();
  return k_row;
}

}  // namespace kw
