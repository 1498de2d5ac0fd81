#include "device/sim/image.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "device/device.hpp"
#include "device/sim/compile.hpp"

namespace kw::sim {
namespace {

/// What dl_iterate_phdr says about the object that holds `inside`.
struct Segments {
  const void* inside = nullptr;
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::byte* thread_memory = nullptr;  ///< of the calling thread
  std::size_t thread_bytes = 0;
};

int look_at(dl_phdr_info* info, std::size_t, void* data) {
  auto& wanted = *static_cast<Segments*>(data);
  Segments found;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      found.begin = std::min<std::uintptr_t>(found.begin, info->dlpi_addr + segment.p_vaddr);
      found.end = std::max<std::uintptr_t>(found.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    if (segment.p_type == PT_TLS) found.thread_bytes = segment.p_memsz;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(wanted.inside);
  if (address < found.begin || address >= found.end) return 0;
  found.inside = wanted.inside;
  found.thread_memory = static_cast<std::byte*>(info->dlpi_tls_data);
  wanted = found;
  return 1;
}

template <typename Function>
Function symbol(void* handle, const std::string& name) {
  return reinterpret_cast<Function>(::dlsym(handle, name.c_str()));
}

}  // namespace

Result<Image> Image::load(const std::filesystem::path& file, const kw_sim::Runtime& runtime) {
  Image image;
  image.handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (image.handle_ == nullptr) return fail(errc::device_refused, "the program cannot be loaded: {}", ::dlerror());
  const auto bind = symbol<void (*)(const kw_sim::Runtime*)>(image.handle_, "kw_sim_bind");
  if (bind == nullptr) return fail(errc::device_refused, "the program was not built for the simulator");
  bind(&runtime);
  Segments segments;
  segments.inside = reinterpret_cast<const void*>(bind);
  ::dl_iterate_phdr(look_at, &segments);
  if (segments.end == 0) return fail(errc::device_refused, "the program's memory is not known to the loader");
  image.memory_ = {reinterpret_cast<const std::byte*>(segments.begin), segments.end - segments.begin};
  return image;
}

Result<KernelEntry> Image::kernel(const std::string& name) const {
  const auto entry = symbol<KernelEntry>(handle_, "kw_sim_enter_" + name);
  if (entry == nullptr) return fail(errc::device_refused, "the program has no kernel '{}'", name);
  return entry;
}

SharedRegion Image::shared_region(std::size_t granted_bytes) const {
  SharedRegion region;
  const auto dynamic = symbol<void* (*)()>(handle_, "kw_sim_shared");
  region.dynamic = static_cast<std::byte*>(dynamic());  // the thread gets its memory with this call
  region.dynamic_bytes = k_dynamic_shared_bytes;
  region.granted_bytes = granted_bytes;
  Segments segments;
  segments.inside = memory_.data();
  ::dl_iterate_phdr(look_at, &segments);
  region.begin = segments.thread_memory;
  region.bytes = segments.thread_bytes;
  return region;
}

}  // namespace kw::sim
