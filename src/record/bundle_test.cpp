#include "record/bundle.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/rng.hpp"
#include "record/bundle_limits.hpp"

namespace kw {
namespace {

/// The example of bundle.hpp, with the keys in its order.
const char* const k_example = R"text(/*kernelwright
format = 1
target = "opencl"
problem = "attention/alibi"
generator = "vector 1"
constraints = ["BM * BN <= 2048"]

[tunables]
BM = {values = [2, 4, 6], default = 4}
BN = {values = [128, 256], default = 256}

[defines]
HEAD_DIM = "D"

[scratch]
kt = {dtype = "f32", elements = "B * Hkv * D * round_up(Skv, 32)"}

[[launch]]
kernel = "attention"
grid = ["ceil_div(Sq, BM)", "Hq", "B"]
block = [1, 1, "1"]
shared_bytes = "0"
args = ["Q", "kt", "O", "Sq"]
*/
__kernel void attention() {}
)text";

/// The shortest bundle, with `extra` in its header before the launch and `launch_extra` in the launch.
std::string small(const std::string& extra, const std::string& launch_extra = "") {
  return "/*kernelwright\nformat = 1\ntarget = \"opencl\"\n" + extra +
         "\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = []\n" + launch_extra + "*/\nsource\n";
}

std::string error_of(const std::string& text) {
  const auto bundle = parse_bundle(text, "x.cl");
  return bundle ? "no error" : bundle.error().to_string();
}

Bundle parsed(const std::string& text) {
  auto bundle = parse_bundle(text, "x.cl");
  EXPECT_TRUE(bundle.has_value()) << bundle.error().to_string() << "\n" << text;
  return bundle ? *std::move(bundle) : Bundle{};
}

TEST(Bundle, has_launches_that_repeat) {
  const Bundle bundle = parsed(small("", "repeat = \"Sq / 2\"\n"));
  EXPECT_EQ(bundle.launches[0].repeat, "Sq / 2");
  EXPECT_EQ(parsed(bundle.to_text()), bundle);
  EXPECT_EQ(parsed(small("", "repeat = 3\n")).launches[0].repeat, "3");
  EXPECT_EQ(parsed(small("")).launches[0].repeat, std::nullopt);
}

TEST(Bundle, reads_the_documented_example) {
  const Bundle bundle = parsed(k_example);
  EXPECT_EQ(bundle.target, "opencl");
  EXPECT_EQ(bundle.generator, "vector 1");
  EXPECT_TRUE(bundle.deterministic);
  EXPECT_EQ(bundle.tunables, (std::vector<Tunable>{{"BM", {2, 4, 6}, 4}, {"BN", {128, 256}, 256}}));
  EXPECT_EQ(bundle.constraints, std::vector<std::string>{"BM * BN <= 2048"});
  EXPECT_EQ(bundle.defines, (std::vector<Definition>{{"HEAD_DIM", "D"}}));
  EXPECT_EQ(bundle.scratch, (std::vector<ScratchBuffer>{{"kt", DType::f32, "B * Hkv * D * round_up(Skv, 32)"}}));
  EXPECT_EQ(bundle.launches,
            (std::vector<Launch>{
                {"attention", {"ceil_div(Sq, BM)", "Hq", "B"}, {"1", "1", "1"}, "0", {"Q", "kt", "O", "Sq"}}}));
  EXPECT_EQ(bundle.source, "__kernel void attention() {}\n");
}

TEST(Bundle, prints_an_aligned_header) {
  EXPECT_EQ(parsed(k_example).to_text(), R"text(/*kernelwright
format      = 1
target      = "opencl"
problem     = "attention/alibi"
generator   = "vector 1"
constraints = ["BM * BN <= 2048"]

[tunables]
BM = {values = [2, 4, 6], default = 4}
BN = {values = [128, 256], default = 256}

[defines]
HEAD_DIM = "D"

[scratch]
kt = {dtype = "f32", elements = "B * Hkv * D * round_up(Skv, 32)"}

[[launch]]
kernel = "attention"
grid   = ["ceil_div(Sq, BM)", "Hq", "B"]
block  = ["1", "1", "1"]
args   = ["Q", "kt", "O", "Sq"]
*/
__kernel void attention() {}
)text");
}

TEST(Bundle, keeps_the_order_its_author_chose) {
  const auto bundle = parsed(small("[tunables]\nZ = {values = [8, 4]}\nA = {values = [1]}\n[defines]\nY = 1\nB = 2"));
  ASSERT_EQ(bundle.tunables.size(), 2U);
  EXPECT_EQ(bundle.tunables[0].name, "Z");
  EXPECT_EQ(bundle.tunables[0].values, (std::vector<std::int64_t>{8, 4}));
  EXPECT_EQ(bundle.tunables[0].default_value, 8);
  EXPECT_EQ(bundle.defines.front().name, "Y");
}

TEST(Bundle, accepts_blank_lines_a_byte_order_mark_and_windows_line_ends) {
  std::string text = "\xef\xbb\xbf\n\n";
  for (const char* at = k_example; *at != '\0'; ++at) {
    if (*at == '\n') text += '\r';
    text += *at;
  }
  const Bundle bundle = parsed(text);
  EXPECT_EQ(bundle.launches.size(), 1U);
  EXPECT_EQ(bundle.source, "__kernel void attention() {}\r\n");
}

TEST(Bundle, refuses_a_file_without_a_header) {
  const std::string hint =
      "\n  try: start the file with a line \"/*kernelwright\", then the header in TOML, then a line \"*/\"";
  EXPECT_EQ(error_of("\n\n__kernel void f() {}"),
            "x.cl:3: the file does not start with a bundle header [bundle.no_header]" + hint);
  EXPECT_EQ(error_of("/* a comment */"), "x.cl:1: the first comment is not a bundle header [bundle.no_header]" + hint);
  EXPECT_EQ(error_of("/*kernelwright\nformat = 1"),
            "x.cl:1: the header's comment never ends [bundle.no_header]" + hint);
  EXPECT_EQ(error_of(""), "x.cl:1: the file does not start with a bundle header [bundle.no_header]" + hint);
}

TEST(Bundle, counts_lines_from_the_start_of_the_file) {
  const auto bundle = parse_bundle("\n/*kernelwright\nformat = 1\ntarget = \n*/\nx", "x.cl");
  ASSERT_FALSE(bundle.has_value());
  EXPECT_EQ(bundle.error().code, errc::bundle_syntax);
  EXPECT_EQ(bundle.error().where.line, 4);
}

TEST(Bundle, refuses_table_lines_that_the_toml_library_asserts_on) {
  const std::string rest =
      ": the header is not TOML: this is not a [table] line [bundle.syntax]\n"
      "  try: the tables are [tunables], [defines], [scratch], [[launch]] and [[dispatch]]";
  EXPECT_EQ(error_of(small("[^tunables]")), "x.cl:4" + rest);
  EXPECT_EQ(error_of(small("\n  [[ ")), "x.cl:5" + rest);
  EXPECT_EQ(error_of(small("[[[launch]]")), "x.cl:4" + rest);
}

TEST(Bundle, takes_other_alphabets_in_text_and_comments_alone) {
  const auto bundle = parsed(small("generator = \"\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x98\x80\"  # \xc3\xa9"));
  EXPECT_EQ(bundle.generator, "\xc3\xa9 \xe2\x80\x94 \xf0\x9f\x98\x80");
  EXPECT_EQ(parsed(bundle.to_text()), bundle);
  // Undefined behaviour in toml++ 3.3 when it is shown the character itself.
  const auto refused = parse_bundle(small("constraints = [\xcf\xa2]"), "x.cl");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, errc::bundle_syntax);
  EXPECT_EQ(refused.error().where.line, 4);
}

TEST(Bundle, refuses_unknown_keys_with_the_nearest_one) {
  EXPECT_EQ(error_of(small("generatr = \"x\"")),
            "x.cl:4:1: the header has no key 'generatr' [bundle.unknown_key]\n  try: did you mean 'generator'?");
  EXPECT_EQ(error_of(small("", "shared_byte = 0\n")),
            "x.cl:10:1: launch 1 has no key 'shared_byte' [bundle.unknown_key]\n  try: did you mean 'shared_bytes'?");
  EXPECT_EQ(error_of(small("[tunables]\nA = {values = [1], step = 2}")),
            "x.cl:5:20: tunable 'A' has no key 'step' [bundle.unknown_key]\n  try: its keys: values, default");
  EXPECT_EQ(error_of(small("[defines]\nX = 1\nconstraints = [\"1\"]")),
            "x.cl:6:15: 'constraints' does not belong in [defines] [bundle.unknown_key]\n"
            "  try: 'constraints' is a key of the header: write it before the first [table]");
}

TEST(Bundle, refuses_missing_keys_and_other_versions) {
  EXPECT_EQ(error_of("/*kernelwright\ntarget = \"opencl\"\n*/\nx"),
            "x.cl:1:1: the header needs the key 'format' [bundle.missing_key]\n"
            "  try: 'format' is a key of the header: write it before the first [table]");
  EXPECT_EQ(error_of("/*kernelwright\nformat = 2\n*/\nx"),
            "x.cl:2:10: this is bundle format 2, not 1 [bundle.version]\n"
            "  try: write format = 1, or use a newer kernelwright");
  EXPECT_EQ(error_of("/*kernelwright\nformat = 1\ntarget = \"opencl\"\n[[launch]]\nkernel = \"k\"\n*/\nx"),
            "x.cl:4:1: launch 1 needs the key 'grid' [bundle.missing_key]");
}

TEST(Bundle, holds_names_to_c_identifiers_and_one_use) {
  EXPECT_EQ(error_of(small("[tunables]\n\"-DX\" = {values = [1]}")),
            "x.cl:5:1: the tunable name '-DX' is not a C identifier [bundle.value]\n"
            "  try: use letters, digits and underscores, not starting with a digit, at most 64");
  EXPECT_EQ(error_of(small("[defines]\nA = 1\n[scratch]\nA = {dtype = \"f32\", elements = 1}")),
            "x.cl:7:1: the name 'A' is used twice [bundle.value]\n"
            "  try: tunables, definitions and scratch buffers share one set of names");
  EXPECT_EQ(error_of(small("[scratch]\nshared = {dtype = \"f32\", elements = 1}")),
            "x.cl:5:1: the scratch buffer name 'shared' is reserved [bundle.value]\n"
            "  try: choose a name other than shared, ceil_div, round_up, min, max");
  EXPECT_EQ(error_of("/*kernelwright\nformat = 1\ntarget = \"o\"\n[[launch]]\nkernel = \"a b\"\n*/\nx"),
            "x.cl:5:10: 'kernel' of launch 1 must be the name of a kernel in the source [bundle.value]");
}

TEST(Bundle, refuses_values_that_make_no_sense) {
  EXPECT_EQ(error_of(small("[tunables]\nA = {values = [1, 2], default = 3}")),
            "x.cl:5:33: the default of tunable 'A' must be one of its values [bundle.value]");
  EXPECT_EQ(error_of(small("[tunables]\nA = {values = [1, 1]}")),
            "x.cl:5:19: tunable 'A' lists the value 1 twice [bundle.value]");
  EXPECT_EQ(error_of(small("[tunables]\nA = {values = []}")),
            "x.cl:5:15: 'values' of tunable 'A' must not be empty [bundle.value]");
  EXPECT_EQ(error_of(small("[tunables]\nA = [1, 2]")),
            "x.cl:5:5: tunable 'A' must be a table [bundle.value]\n  try: A = {values = [1, 2, 4], default = 2}");
  EXPECT_EQ(error_of(small("[scratch]\nA = {dtype = \"f64\", elements = 1}")),
            "x.cl:5:14: the dtype of scratch buffer 'A' is unknown [bundle.value]\n  try: write \"f32\", \"f16\", "
            "\"bf16\", \"i32\" or \"bool\"");
  EXPECT_EQ(error_of(small("deterministic = \"no\"")),
            "x.cl:4:17: 'deterministic' must be true or false [bundle.value]");
  EXPECT_EQ(error_of(small("constraints = [1.5]")),
            "x.cl:4:16: entry 1 of 'constraints' must be an integer or an expression in quotes [bundle.value]");
  EXPECT_EQ(error_of(small("constraints = [\"1 +\"]")),
            "x.cl:4:16: in \"1 +\": expected a number, a name or '(' at character 4, found the end [expr.syntax]\n"
            "  while reading entry 1 of 'constraints'");
}

TEST(Bundle, refuses_a_block_that_does_not_fit_its_grid_and_an_empty_source) {
  EXPECT_EQ(error_of("/*kernelwright\nformat = 1\ntarget = \"o\"\n[[launch]]\nkernel = \"k\"\ngrid = [1, 2]\n"
                     "block = [1]\nargs = []\n*/\nx"),
            "x.cl:7:9: 'block' of launch 1 has 1 entries but 'grid' has 2 [bundle.value]");
  EXPECT_EQ(error_of("/*kernelwright\nformat = 1\ntarget = \"o\"\n[[launch]]\nkernel = \"k\"\ngrid = [1]\n"
                     "block = [1]\nargs = []\n*/\n \n"),
            "x.cl:11: there is no source below the header [bundle.value]");
}

TEST(Bundle, refuses_what_is_not_text) {
  EXPECT_EQ(error_of(small("") + std::string("a\0b", 3)),
            "x.cl:12: the bundle is not UTF-8 text, or holds a NUL byte [bundle.value]");
  EXPECT_EQ(error_of(small("") + "\xc0\xaf"),
            "x.cl:12: the bundle is not UTF-8 text, or holds a NUL byte [bundle.value]");
  EXPECT_EQ(error_of(small("generator = \"\\u0000\"")), "x.cl:4:13: 'generator' holds a NUL byte [bundle.value]");
}

TEST(Bundle, is_bounded) {
  EXPECT_EQ(error_of(std::string((4U << 20) + 1, ' ')),
            "x.cl: the bundle has 4194305 bytes; at most 4194304 are allowed [bundle.too_large]");
  std::string launches;
  for (int i = 0; i < 4096; ++i) launches += "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = []\n";
  EXPECT_EQ(error_of(small("", launches)),
            "x.cl:5:1: 'launch' has 4097 entries; at most 4096 are allowed [bundle.too_large]");
  std::string tunables = "[tunables]\n";
  for (int i = 0; i < 33; ++i) tunables += fmt::format("T{} = {{values = [1]}}\n", i);
  EXPECT_EQ(error_of(small(tunables)),
            "x.cl:4:1: [tunables] has 33 entries; at most 32 are allowed [bundle.too_large]");
  std::string values;
  for (int i = 0; i < 65; ++i) values += std::to_string(i) + ",";
  EXPECT_EQ(error_of(small("[tunables]\nA = {values = [" + values + "]}")),
            "x.cl:5:15: 'values' of tunable 'A' has 65 entries; at most 64 are allowed [bundle.too_large]");
}

TEST(Bundle, bounds_the_normal_form_too) {
  // The limit exactly, in a header that the normal form pads with spaces.
  std::string text =
      "/*kernelwright\nformat=1\ntarget=\"o\"\n[[launch]]\nkernel=\"k\"\ngrid=[1]\nblock=[1]\nargs=[]\n*/\n";
  text.resize(std::size_t{4} << 20, 'x');
  EXPECT_EQ(error_of(text), "x.cl: the bundle has 4194326 bytes; at most 4194304 are allowed [bundle.too_large]");
}

class RandomBundle {
 public:
  explicit RandomBundle(std::uint64_t seed) : rng_(seed) {}

  Bundle make() {
    Bundle bundle;
    names_.clear();
    bundle.target = name();
    bundle.problem = free_text();
    bundle.generator = free_text();
    bundle.deterministic = rng_.below(2) == 0;
    times(4, [&] { bundle.tunables.push_back(tunable()); });
    times(3, [&] { bundle.constraints.push_back(expression()); });
    times(3, [&] { bundle.defines.push_back({name(), expression()}); });
    times(3, [&] { bundle.scratch.push_back({name(), rng_.below(2) == 0 ? DType::f32 : DType::bf16, expression()}); });
    bundle.launches.push_back(launch());
    times(3, [&] { bundle.launches.push_back(launch()); });
    times(4, [&] { bundle.dispatch.push_back(row(bundle.tunables)); });
    bundle.source = free_text() + "source";
    return bundle;
  }

 private:
  template <typename Body>
  void times(int at_most, const Body& body) {
    for (std::int64_t i = rng_.below(at_most + 1); i > 0; --i) body();
  }
  std::string name() {
    while (true) {
      std::string text(1, static_cast<char>('A' + rng_.below(26)));
      times(6, [&] { text += "_z9"[rng_.below(3)]; });
      if (!bundle_format::is_reserved(text) && names_.insert(text).second) return text;
    }
  }
  std::string free_text() {
    const char* const pieces[] = {"*/",       "/*", "\"",  "\\",    "\n", "\t", "\x01", "\x7f",
                                  "\xc3\xa9", "#",  "[x]", "word ", "*",  "/",  "'",    "\r"};
    std::string text;
    times(8, [&] { text += pieces[rng_.below(16)]; });
    return text;
  }
  std::string expression() {
    const char* const texts[] = {"1", "Sq * BM", "ceil_div(Sq, 4)", "-3 % 2", "A<=B&&C!=1", "max(1, 2, x)"};
    return texts[rng_.below(6)];
  }
  Tunable tunable() {
    std::set<std::int64_t> values = {rng_.below(1000) - 500};
    times(6, [&] { values.insert(rng_.below(1000) - 500); });
    Tunable tunable{name(), {values.rbegin(), values.rend()}, 0};
    tunable.default_value = tunable.values[static_cast<std::size_t>(rng_.below(std::ssize(tunable.values)))];
    return tunable;
  }
  Launch launch() {
    Launch launch;
    launch.kernel = "kernel";
    for (std::int64_t i = rng_.below(3); i >= 0; --i) {
      launch.grid.push_back(expression());
      launch.block.push_back(expression());
    }
    launch.shared_bytes = rng_.below(2) == 0 ? "0" : expression();
    times(40, [&] { launch.args.push_back(rng_.below(2) == 0 ? "shared" : expression()); });
    if (rng_.below(3) == 0) launch.repeat = expression();
    return launch;
  }

  DispatchRow row(const std::vector<Tunable>& tunables) {
    const char* const conditions[] = {"1", "Sq >= 4096", "ceil_div(Skv, 4) % 2", "shared_bytes_per_block<100&&Skv!=1"};
    DispatchRow row;
    if (rng_.below(2) == 0) row.device = "sm_90" + free_text();
    times(3, [&] { row.when.emplace_back(conditions[rng_.below(4)]); });
    for (const Tunable& tunable : tunables)
      if (rng_.below(2) == 0) row.tunables[tunable.name] = tunable.values.front();
    return row;
  }

  Rng rng_;
  std::set<std::string> names_;
};

TEST(Bundle, random_bundles_survive_the_round_trip) {
  constexpr std::uint64_t k_seed = 7;
  RandomBundle random(k_seed);
  for (int i = 0; i < 300; ++i) {
    const Bundle bundle = random.make();
    const auto again = parse_bundle(bundle.to_text(), "random");
    ASSERT_TRUE(again.has_value()) << "seed " << k_seed << " case " << i << ": " << again.error().to_string() << "\n"
                                   << bundle.to_text();
    ASSERT_EQ(*again, bundle) << "seed " << k_seed << " case " << i << "\n" << bundle.to_text();
    ASSERT_EQ(again->id(), bundle.id()) << "seed " << k_seed << " case " << i;
  }
}

TEST(Candidate, takes_defaults_and_overrides) {
  const auto candidate = make_candidate(parsed(k_example), {{"BM", 6}});
  ASSERT_TRUE(candidate.has_value()) << candidate.error().to_string();
  EXPECT_EQ(candidate->tunables, (IntBindings{{"BM", 6}, {"BN", 256}}));
}

TEST(Candidate, refuses_unknown_tunables_and_values) {
  const auto unknown = make_candidate(parsed(k_example), {{"BMM", 6}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().to_string(),
            "the bundle has no tunable 'BMM' [candidate.tunable]\n  try: did you mean 'BM'?");
  const auto value = make_candidate(parsed(k_example), {{"BM", 5}});
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().to_string(), "tunable BM cannot be 5; its values are 2, 4, 6 [candidate.tunable]");
}

TEST(Candidate, holds_to_constraints_over_tunables) {
  Bundle bundle = parsed(k_example);
  bundle.constraints = {"BM * BN < 1024"};
  const auto broken = make_candidate(bundle);
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().to_string(),
            "the constraint \"BM * BN < 1024\" does not hold for BM=4 BN=256 [candidate.constraint]");
  EXPECT_TRUE(make_candidate(bundle, {{"BM", 2}}).has_value());
  bundle.constraints = {"BM / 0"};
  const auto failing = make_candidate(bundle);
  ASSERT_FALSE(failing.has_value());
  EXPECT_EQ(failing.error().code, errc::expr_value);
  bundle.constraints = {"BM <= Sq"};
  EXPECT_TRUE(make_candidate(bundle).has_value()) << "axes are known only to plan_launches";
}

TEST(Candidate, is_identified_by_bundle_and_assignment) {
  const auto a = make_candidate(parsed(k_example), {{"BM", 4}});
  const auto b = make_candidate(parsed(k_example));
  const auto c = make_candidate(parsed(k_example), {{"BM", 2}});
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->id(), b->id());
  EXPECT_NE(a->id(), c->id());
}

}  // namespace
}  // namespace kw
