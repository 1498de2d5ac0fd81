#include "program/reader/shipped_modules.hpp"

#include <algorithm>
#include <array>

#include "base/embedded_texts.hpp"
#include "python/parser.hpp"

namespace kw {

/// Generated from program/library/*.py.
[[nodiscard]] std::span<const EmbeddedText> shipped_library_texts();

namespace {

struct LibraryOfFile {
  std::string_view file;
  std::string_view library;
};
constexpr std::array k_libraries_of_files = {
    LibraryOfFile{"attention", "torch.nn"},
    LibraryOfFile{"autograd", "torch.autograd"},
    LibraryOfFile{"losses", "torch.nn"},
    LibraryOfFile{"recurrent", "torch.nn"},
    LibraryOfFile{"rearranging", "torch.nn"},
    LibraryOfFile{"transformer", "torch.nn"},
    LibraryOfFile{"einops", "einops"},
    LibraryOfFile{"einops_layers", "einops.layers.torch"},
    LibraryOfFile{"functools", "functools"},
    LibraryOfFile{"itertools", "itertools"},
    LibraryOfFile{"tensor", "Tensor"},
    LibraryOfFile{"timm_layers", "timm.layers"},
    LibraryOfFile{"assignment", "kernelwright"},
    LibraryOfFile{"functions", "torch"},
    LibraryOfFile{"functional", "torch.nn.functional"},
    LibraryOfFile{"linalg", "torch.linalg"},
};

std::string_view library_of(std::string_view file) {
  const auto found = std::ranges::find(k_libraries_of_files, file, &LibraryOfFile::file);
  KW_CHECK(found != k_libraries_of_files.end(), "program/library/{}.py is in no library", file);
  return found->library;
}

std::vector<ShippedFile> parsed_files() {
  std::vector<ShippedFile> files;
  for (const auto& text : shipped_library_texts()) {
    auto statements = parse_python(text.text, {"", 1, 1}, PyDialect::module);
    KW_CHECK(statements.has_value(), "program/library/{}.py: {}", text.name, statements.error().to_string());
    files.push_back({text.name, library_of(text.name), *std::move(statements)});
  }
  return files;
}

std::string_view defined_name(const PyStatement& statement) {
  if (statement.kind == PyStatementKind::define_class) return statement.names.front();
  if (statement.kind == PyStatementKind::define) return statement.function->name;
  return {};
}

std::vector<ShippedName> named_in(const std::vector<ShippedFile>& files) {
  std::vector<ShippedName> names;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const auto& statement : files[i].statements) {
      const auto name = defined_name(statement);
      if (!name.empty() && !name.starts_with('_')) names.push_back({fmt::format("{}.{}", files[i].library, name), i});
    }
  }
  std::ranges::sort(names, {}, &ShippedName::path);
  return names;
}

}  // namespace

const std::vector<ShippedFile>& shipped_files() {
  static const auto k_files = parsed_files();
  return k_files;
}

const std::vector<ShippedName>& shipped_names() {
  static const auto k_names = named_in(shipped_files());
  return k_names;
}

const ShippedName* find_shipped(std::string_view path) {
  const auto& names = shipped_names();
  // Every name of a library and every method of a tensor is asked for.
  const auto found = std::ranges::lower_bound(names, path, {}, &ShippedName::path);
  return found == names.end() || found->path != path ? nullptr : &*found;
}

}  // namespace kw
