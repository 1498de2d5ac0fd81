#include "device/opencl/kernel_loading.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "device/device.hpp"

namespace kw::opencl {
namespace {

/// PoCL calls without an argument of ours, so what it is told stands here.
std::atomic<bool>& kernels_stay_unloaded() {
  static std::atomic<bool> stay{false};
  return stay;
}

[[noreturn]] void kernel_that_was_not_loaded() {
  std::abort();
}

/// Kernels in memory, by the folder that holds all variants of one: "XX/<hash>/<kernel>" of pocl_cache.hpp.
std::map<std::string, void*, std::less<>>& kernels_in_memory() {
  static std::map<std::string, void*, std::less<>> kernels;
  return kernels;
}

/// That of a library's path, whatever stands in front of it; "" for other files.
std::string_view folder_of_variants(std::string_view library) {
  constexpr int k_parts = 5;  // XX, hash, kernel, variant and file
  std::size_t begin = library.size();
  std::size_t end = 0;
  for (int part = k_parts; part > 0; --part) {
    if (begin == 0 || begin == std::string_view::npos) return {};
    begin = library.rfind('/', begin - 1);
    if (part == k_parts - 1) end = begin;
  }
  return begin == std::string_view::npos ? std::string_view() : library.substr(begin + 1, end - begin - 1);
}

void* open_for_pocl(const char* file, int mode) {
  if (kernels_stay_unloaded()) return ::dlopen(nullptr, mode);
  const auto& kernels = kernels_in_memory();
  const auto loaded = kernels.find(file == nullptr ? std::string_view() : folder_of_variants(file));
  return loaded == kernels.end() ? ::dlopen(file, mode) : loaded->second;
}

void* find_for_pocl(void* handle, const char* name) {
  if (kernels_stay_unloaded()) return reinterpret_cast<void*>(&kernel_that_was_not_loaded);
  return ::dlsym(handle, name);
}

/// What the loader knows of one library in memory.
struct LoadedLibrary {
  ElfW(Addr) base = 0;
  std::span<const ElfW(Phdr)> segments;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> functions;  ///< entries by which it calls functions of others
  std::span<const ElfW(Rela)> addresses;  ///< the same, where it was linked without lazy binding
};

/// What an entry of the dynamic section points to: on most processors the loader has made an address of it.
template <typename T>
const T* pointed_to(ElfW(Addr) base, ElfW(Addr) value) {
  return reinterpret_cast<const T*>(value < base ? base + value : value);
}

LoadedLibrary loaded_library(const dl_phdr_info& info) {
  LoadedLibrary library{info.dlpi_addr, {info.dlpi_phdr, info.dlpi_phnum}, nullptr, nullptr, {}, {}};
  const ElfW(Rela)* functions = nullptr;
  const ElfW(Rela)* addresses = nullptr;
  std::size_t function_bytes = 0;
  std::size_t address_bytes = 0;
  for (const auto& segment : library.segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.base + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) library.symbols = pointed_to<ElfW(Sym)>(library.base, entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) library.names = pointed_to<char>(library.base, entry->d_un.d_ptr);
      if (entry->d_tag == DT_JMPREL) functions = pointed_to<ElfW(Rela)>(library.base, entry->d_un.d_ptr);
      if (entry->d_tag == DT_PLTRELSZ) function_bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_RELA) addresses = pointed_to<ElfW(Rela)>(library.base, entry->d_un.d_ptr);
      if (entry->d_tag == DT_RELASZ) address_bytes = entry->d_un.d_val;
    }
  }
  library.functions = {functions, function_bytes / sizeof *functions};
  library.addresses = {addresses, address_bytes / sizeof *addresses};
  return library;
}

/// Entries may lie in a part that the loader has made read-only when it was done.
bool write_entry(const LoadedLibrary& library, ElfW(Addr) offset, void* function) {
  const ElfW(Addr) at = library.base + offset;
  const auto page_bytes = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  auto* const page = reinterpret_cast<void*>(at / page_bytes * page_bytes);
  bool read_only = false;
  for (const auto& segment : library.segments) {
    const bool inside = offset >= segment.p_vaddr && offset - segment.p_vaddr < segment.p_memsz;
    read_only = read_only || (segment.p_type == PT_GNU_RELRO && inside);
  }
  if (read_only && ::mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(at), &function, sizeof function);
  return !read_only || ::mprotect(page, page_bytes, PROT_READ) == 0;
}

struct Redirected {
  bool opens = false;
  bool finds = false;
};

void redirect(const LoadedLibrary& library, Redirected& done) {
  if (library.symbols == nullptr || library.names == nullptr) return;
  for (const auto& entries : {library.functions, library.addresses}) {
    for (const auto& entry : entries) {
      const std::string_view name = library.names + library.symbols[ELF64_R_SYM(entry.r_info)].st_name;
      if (name == "dlopen") {
        done.opens |= write_entry(library, entry.r_offset, reinterpret_cast<void*>(&open_for_pocl));
      }
      if (name == "dlsym") {
        done.finds |= write_entry(library, entry.r_offset, reinterpret_cast<void*>(&find_for_pocl));
      }
    }
  }
}

int redirect_if_pocl(dl_phdr_info* info, std::size_t, void* done) {
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (path.substr(path.rfind('/') + 1).starts_with("libpocl")) {
    redirect(loaded_library(*info), *static_cast<Redirected*>(done));
  }
  return 0;
}

}  // namespace

Result<void> redirect_loading_of_pocl() {
  Redirected done;
  ::dl_iterate_phdr(&redirect_if_pocl, &done);
  if (done.opens && done.finds) return {};
  return fail(Error{errc::device_refused, "this PoCL loads what it compiles in a way that cannot be prevented",
                    "use the PoCL of the distribution"});
}

Result<void> load_kernel(const std::filesystem::path& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(errc::device_refused, "a compiled kernel cannot be loaded: {}", ::dlerror());
  const std::string folder(folder_of_variants(library.native()));
  if (!folder.empty()) kernels_in_memory().insert_or_assign(folder, handle);
  return {};
}

KernelsUnloaded::KernelsUnloaded() {
  const bool already = kernels_stay_unloaded().exchange(true);
  KW_CHECK(!already);
}

KernelsUnloaded::~KernelsUnloaded() {
  kernels_stay_unloaded() = false;
}

}  // namespace kw::opencl
