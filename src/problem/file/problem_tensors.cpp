#include "problem/file/problem_tensors.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "problem/file/config_tree.hpp"
#include "problem/file/number_array.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_array_bytes = 8 * k_max_captured_elements + 4096;
constexpr const char* k_folder = "command-line";  // of the declared .npy files, as the problem's text names them

/// A problem's folder, and in it a few files more.
class WithFiles final : public FileSystem {
 public:
  explicit WithFiles(const FileSystem& files) : files_(files) {}
  void add(const std::filesystem::path& path, std::string bytes) { added_[path.string()] = std::move(bytes); }

  [[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::int64_t max_bytes) const override {
    const auto found = added_.find(path.string());
    return found != added_.end() ? Result<std::string>(found->second) : files_.read(path, max_bytes);
  }
  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path& path, std::string_view) override {
    return fail(errc::io, "{}: a problem's files are only read", path.string());
  }
  [[nodiscard]] Result<void> create_directories(const std::filesystem::path& path) override {
    return fail(errc::io, "{}: a problem's files are only read", path.string());
  }
  [[nodiscard]] bool exists(const std::filesystem::path& path) const override {
    return added_.count(path.string()) > 0 || files_.exists(path);
  }

 private:
  const FileSystem& files_;
  std::map<std::string, std::string> added_;
};

struct Declaration {
  std::string name;
  std::optional<std::vector<std::string>> axes;
  std::string value;
};

tl::unexpected<Error> refuse_declaration(const std::string& declaration, std::string_view why) {
  return fail(Error{errc::problem_value, fmt::format("--tensor \"{}\" {}", declaration, why),
                    "write NAME=FILE.npy, 'NAME=[0, 5, 9]', or with axes 'NAME[B,Skv]=FILE.npy'"});
}

bool is_plain_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

Result<Declaration> read_declaration(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) return refuse_declaration(text, "has no '='");
  Declaration made{trimmed(text.substr(0, equals)), std::nullopt, trimmed(text.substr(equals + 1))};
  const auto bracket = made.name.find('[');
  if (bracket != std::string::npos) {
    if (made.name.back() != ']') return refuse_declaration(text, "has no ']' behind its axes");
    made.axes.emplace();
    auto rest = made.name.substr(bracket + 1, made.name.size() - bracket - 2);
    while (!trimmed(rest).empty()) {
      const auto comma = std::min(rest.find(','), rest.size());
      made.axes->push_back(trimmed(rest.substr(0, comma)));
      rest = rest.substr(std::min(comma + 1, rest.size()));
    }
    made.name = trimmed(made.name.substr(0, bracket));
  }
  const bool words =
      is_plain_word(made.name) && (!made.axes || std::all_of(made.axes->begin(), made.axes->end(), is_plain_word));
  if (!words) return refuse_declaration(text, "does not begin with a name");
  if (made.value.empty()) return refuse_declaration(text, "has no values");
  return made;
}

/// True and False as TOML writes them.
std::string as_toml(std::string text) {
  for (const auto& [python, toml] : {std::pair{"True", "true"}, std::pair{"False", "false"}}) {
    for (auto at = text.find(python); at != std::string::npos; at = text.find(python, at)) {
      text.replace(at, std::string_view(python).size(), toml);
    }
  }
  return text;
}

DType dtype_in(const ConfigValue& value) {
  if (value.kind == ConfigKind::boolean) return DType::boolean;
  if (value.kind == ConfigKind::integer) return DType::i32;
  if (value.kind != ConfigKind::array) return DType::f32;  // a number, or "-inf"
  auto type = DType::boolean;
  for (const auto& item : value.items) {
    const auto next = dtype_in(item);
    if (next == DType::f32 || type == DType::f32) {
      type = DType::f32;
    } else if (next == DType::i32) {
      type = next;
    }
  }
  return type;
}

/// By the kind in the header of an .npy file, which has been read.
DType dtype_of_npy(std::string_view bytes) {
  const auto header = bytes.substr(0, bytes.find('\n'));
  if (header.find("'|b1'") != std::string_view::npos) return DType::boolean;
  if (header.find("'<f2'") != std::string_view::npos) return DType::f16;
  return header.find("'<f") != std::string_view::npos ? DType::f32 : DType::i32;
}

struct DeclaredTable {
  std::string text;
  std::string npy;  ///< the bytes of the file; empty for written values
};

Result<DeclaredTable> table_of(const Declaration& declared, const std::string& shown, const FileSystem& files) {
  NumberArray array;
  DType dtype = DType::f32;
  DeclaredTable table;
  std::string source;
  if (declared.value.ends_with(".npy")) {
    KW_TRY(table.npy, files.read(declared.value, k_max_array_bytes));
    KW_TRY(array, parse_npy(table.npy));
    dtype = dtype_of_npy(table.npy);
    source = fmt::format("npy = \"{}/{}.npy\"", k_folder, declared.name);
  } else {
    source = "values = " + as_toml(declared.value);
    const auto root = parse_config(source, "");
    const bool one = root && root->items.size() == 1 && declared.value.find('\n') == std::string::npos;
    if (!one) return refuse_declaration(shown, "holds neither the name of an .npy file nor numbers");
    KW_TRY(array, read_number_array(root->items.front()));
    dtype = dtype_in(root->items.front());
  }
  std::vector<std::string> axes;
  for (std::size_t i = 0; i < array.extents.size(); ++i) axes.push_back(fmt::format("{}_dim{}", declared.name, i));
  for (auto& axis : declared.axes ? axes = *declared.axes : axes) axis = fmt::format("\"{}\"", axis);
  table.text = fmt::format("\n[tensors.{}]\ndtype = \"{}\"\naxes = [{}]\n{}\n", declared.name, to_string(dtype),
                           join(axes), source);
  return table;
}

Result<Problem> with_tensor(const Problem& problem, const std::string& file, const std::string& shown,
                            WithFiles& files) {
  KW_TRY(const auto declared, read_declaration(shown));
  const bool taken = std::any_of(problem.captures.begin(), problem.captures.end(),
                                 [&](const Capture& capture) { return capture.declared.name == declared.name; });
  if (taken) return refuse_declaration(shown, "names a tensor that the problem has already");
  KW_TRY(auto table, table_of(declared, shown, files));
  if (!table.npy.empty()) {
    files.add(std::filesystem::path(file).parent_path() / k_folder / (declared.name + ".npy"), std::move(table.npy));
  }
  return parse_problem(problem.source->text + table.text, file, &files);
}

}  // namespace

Result<Problem> with_tensors(Problem problem, const std::string& file, const std::vector<std::string>& declarations,
                             const FileSystem& files) {
  WithFiles with(files);
  for (const auto& declaration : declarations) {
    auto more = with_tensor(problem, file, declaration, with);
    if (!more) {
      auto error = std::move(more).error();
      error.where = {};  // a place in the grown text would mislead
      return with_context(std::move(error), fmt::format("reading --tensor \"{}\"", declaration));
    }
    problem = *std::move(more);
  }
  return problem;
}

}  // namespace kw
