#include "device/shared_library.hpp"

#include "base/text.hpp"
#include "device/device.hpp"

namespace kw {

Result<SharedLibrary> open_library(const std::vector<std::string>& names, std::string_view what,
                                   std::string_view hint) {
  std::vector<std::string> refusals;
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr)
      return SharedLibrary{handle, name};
    const char* const why = ::dlerror();
    refusals.emplace_back(why == nullptr ? name : why);
  }
  return fail(Error{errc::device_unavailable, fmt::format("{} cannot be loaded: {}", what, join(refusals, "; ")),
                    std::string(hint)});
}

}  // namespace kw
