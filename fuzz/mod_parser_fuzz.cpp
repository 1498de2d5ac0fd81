// Mods are text that people paste and models write. Whatever the bytes: an answer within bounds, and every analysis of
// an accepted mod holds its own invariants. The same text is also read as a whole file that defines `mod`; what follows
// a line "#### NAME.py" is then a file beside it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/frontend/file.hpp"
#include "mod/frontend/module_files.hpp"
#include "mod/frontend/parser.hpp"

namespace {

kw::CapturedTensor filled(std::vector<std::int64_t> extents, std::int64_t values) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  kw::CapturedTensor tensor{std::move(extents), {}};
  for (std::int64_t i = 0; i < count; ++i) tensor.values.push_back(static_cast<float>(i * values / count));
  return tensor;
}

const kw::CaptureData& captures() {
  static const kw::CaptureData data = {
      {"ids", filled({47}, 5)}, {"table", filled({4, 47}, 100)}, {"flags", filled({1, 47}, 2)}};
  return data;
}

kw::ModScope scope() {
  return {{{"W", std::int64_t{5}}, {"C", 0.5}},
          {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
          {{"ids", kw::DType::i32, {"Skv"}, true, 0, 5},
           {"table", kw::DType::f32, {"Hq", "Skv"}, false, 0, 100},
           {"flags", kw::DType::boolean, {"B", "Skv"}, false, 0, 1}}};
}

/// The files after the first one, each below its name.
class FilesInText final : public kw::FileSystem {
 public:
  explicit FilesInText(std::string_view text) : first_(text.substr(0, text.find(k_mark))) {
    for (auto at = text.find(k_mark); at != std::string_view::npos;) {
      const auto begin = at + k_mark.size();
      const auto next = text.find(k_mark, begin);
      const auto file = text.substr(begin, next == std::string_view::npos ? next : next - begin);
      const auto line = file.find('\n');
      files_[std::string(file.substr(0, line))] = line == std::string_view::npos ? "" : file.substr(line + 1);
      at = next;
    }
  }
  [[nodiscard]] std::string_view first() const { return first_; }

  [[nodiscard]] kw::Result<std::string> read(const std::filesystem::path& path, std::int64_t) const override {
    const auto found = files_.find(path.string());
    if (found == files_.end()) return kw::fail(kw::errc::not_found, "{} is not there", path.string());
    return found->second;
  }
  [[nodiscard]] kw::Result<void> write_atomic(const std::filesystem::path&, std::string_view) override { return {}; }
  [[nodiscard]] kw::Result<void> create_directories(const std::filesystem::path&) override { return {}; }
  [[nodiscard]] bool exists(const std::filesystem::path& path) const override {
    return files_.count(path.string()) > 0;
  }

 private:
  static constexpr std::string_view k_mark = "\n#### ";
  std::string_view first_;
  std::map<std::string, std::string> files_;
};

void check(kw::ModFunction mod, kw::ModRole role) {
  const kw::Axes axes = {{"B", 1}, {"Hq", 4}, {"Hkv", 4}, {"Sq", 33}, {"Skv", 47}, {"D", 8}, {"Dv", 8}};
  for (std::size_t i = 0; i < mod.nodes.size(); ++i) {
    for (const auto arg : mod.nodes[i].args) KW_CHECK(arg >= 0 && static_cast<std::size_t>(arg) < i);
  }
  const kw::ModPoint point{0.5, 0, 3, 20, 12};
  const double value = kw::evaluate(mod, axes, point, captures());
  if (role == kw::ModRole::score_mod) {
    (void)kw::affine_in_score(mod);
    (void)kw::linear_in_key(mod, mod.root);
    return;
  }
  KW_CHECK(value == 0.0 || value == 1.0, "a mask gave {}", value);
  const auto found = kw::classify_tile(mod, axes, {{0, 0}, {0, 3}, {16, 32}, {8, 40}});
  KW_CHECK(found == kw::TileClass::partial || (found == kw::TileClass::full) == (value == 1.0));
  const auto interval = kw::row_interval(mod);
  if (!interval) return;
  bool inside = true;
  const auto root = mod.root;
  const auto at_node = [&](kw::ExprId node) {
    mod.root = node;
    return kw::evaluate(mod, axes, point, captures());
  };
  for (const auto node : interval->first) inside = inside && static_cast<double>(point.key) >= at_node(node);
  for (const auto node : interval->last) inside = inside && static_cast<double>(point.key) <= at_node(node);
  mod.root = root;
  KW_CHECK(inside == (value == 1.0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto names = scope();
  for (const auto role : {kw::ModRole::score_mod, kw::ModRole::mask_mod}) {
    auto mod = kw::parse_mod(text, role, names);
    if (mod) {
      check(*std::move(mod), role);
    } else {
      KW_CHECK(mod.error().where.line > 0 && !mod.error().message.empty());
    }
  }
  const FilesInText files(text);
  kw::ModuleFiles beside(files, "main.py");
  auto from_file = kw::parse_mod_file(files.first(), "mod", names, &beside);
  if (from_file) {
    check(std::move(from_file->function), from_file->role);
  } else {
    // That a whole file lacks a name is nowhere in it; everything else has a line.
    const auto& error = from_file.error();
    KW_CHECK(!error.message.empty() && (error.where.line > 0 || error.code == kw::errc::mod_unknown_name));
  }
  return 0;
}
