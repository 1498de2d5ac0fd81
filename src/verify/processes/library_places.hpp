#pragma once
// Where this machine has its shared libraries, and what a compiler that is one of them reads beside them: for a build
// process that is to see no more of the system than that. Found where the loader, OpenCL's own loader and the libraries
// of this process say, never by the names that one distribution has for its folders.

#include <filesystem>
#include <string_view>
#include <vector>

namespace kw {

/// The folders of this process's own libraries and of OpenCL's drivers, PoCL's files and the compiler's libraries
/// beside them, and each library of the loader's cache that lies elsewhere. Resolved, sorted, and only what exists;
/// looked for once.
[[nodiscard]] const std::vector<std::filesystem::path>& library_places();

/// The libraries that a cache of the loader (ld.so.cache) lists, as they stand there; none in what is no cache.
[[nodiscard]] std::vector<std::filesystem::path> libraries_in_cache(std::string_view cache);

/// What an OpenCL driver's registration (NAME.icd) names: the library's path, or its bare name.
[[nodiscard]] std::filesystem::path library_in_registration(std::string_view text);

}  // namespace kw
