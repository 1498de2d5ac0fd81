#include "program/reader/formatting.hpp"

#include <gmock/gmock.h>

#include "program/errors.hpp"
#include "program/reader/program_reader.hpp"
#include "program/testing/module_text.hpp"

namespace kw::program_test {
namespace {

struct WrittenText {
  const char* expression;
  const char* text;  ///< as CPython 3.11 writes it
};

constexpr WrittenText k_texts[] = {
    {"'fc%d' % 3", "fc3"},
    {"'block%02d' % 7", "block07"},
    {"'%s_%d' % ('a', 4)", "a_4"},
    {"'%5d|%-5d|%+d' % (3, 4, 5)", "    3|4    |+5"},
    {"'%.2f' % 1.005", "1.00"},
    {"'%e' % 12345.678", "1.234568e+04"},
    {"'%g' % 0.00001", "1e-05"},
    {"'%x' % 255", "ff"},
    {"'%s' % None", "None"},
    {"'%s' % 1.0", "1.0"},
    {"'%r' % 'a'", "'a'"},
    {"'100%%: %i' % 3.9", "100%: 3"},
    {"'%(a)s-%(b)03d' % {'a': 'x', 'b': 5}", "x-005"},
    {"'%5s|%-5s|' % ('ab', 'cd')", "   ab|cd   |"},
    {"'%s' % [1, 'a']", "[1, 'a']"},
    {"'%08.3f' % -3.14159", "-003.142"},
    {"'%d' % True", "1"},
    {"'layer{}'.format(1)", "layer1"},
    {"'{0}{1}{0}'.format(1, 2)", "121"},
    {"'{:02d}'.format(5)", "05"},
    {"'{:>4}|{:<4}|{:^4}|'.format(1, 2, 3)", "   1|2   | 3  |"},
    {"'{a}.{b}'.format(a='x', b=2)", "x.2"},
    {"'{:.3f}'.format(3.14159)", "3.142"},
    {"'{{}}{}'.format(1)", "{}1"},
    {"'{:.2e}'.format(123456.0)", "1.23e+05"},
    {"'{}'.format(1e-5)", "1e-05"},
    {"'{}'.format(1e16)", "1e+16"},
    {"'{:5}'.format(True)", "    1"},
    {"'{:%}'.format(0.25)", "25.000000%"},
    {"'{!r}'.format('a')", "'a'"},
    {"'{:04b}'.format(5)", "0101"},
    {"'{:*^7}'.format('ab')", "**ab***"},
    {"'{}'.format((1,))", "(1,)"},
    {"f'{[4, 5][1]}'", "5"},
    {"f'{3:02d}{1.5}{True}{None}'", "031.5TrueNone"},
    {"f'{\"a\"!r}'", "'a'"},
    {"str(2.0) + str(torch.float16) + str((1, 'b'))", "2.0torch.float16(1, 'b')"},
};

/// Of a module that has a parameter of each of these names.
Result<Program> program_with(const std::vector<std::string>& names) {
  std::string init = "self.parts = nn.Module()\n";
  for (const auto& name : names) init += "self.parts.register_parameter(" + name + ", nn.Parameter(torch.ones(1)))\n";
  return read_program(module_text("return x", "torch.rand(2)", init), "m.py", {});
}

TEST(Formatting, names_are_as_python_writes_them) {
  for (const auto& [expression, text] : k_texts) {
    const auto program = program_with({expression});
    ASSERT_TRUE(program.has_value()) << expression << "\n" << program.error().to_string();
    ASSERT_EQ(program->parameters.size(), 1u) << expression;
    EXPECT_EQ(program->parameters[0].name, std::string("parts.") + text) << expression;
  }
}

TEST(Formatting, modules_of_a_loop_keep_apart) {
  for (const std::string name : {"'conv%d' % i", "'conv{}'.format(i)", "f'conv{i}'", "'conv' + str(i)"}) {
    const auto program =
        read_program(module_text("return self.convs(x)", "torch.rand(1, 2, 9, 9)",
                                 "self.convs = nn.Sequential()\nfor i in range(3):\n    self.convs.add_module(" + name +
                                     ", nn.Conv2d(2, 2, 3))"),
                     "m.py", {});
    ASSERT_TRUE(program.has_value()) << program.error().to_string();
    EXPECT_EQ(program->graph.nodes.size(), 3u) << name;
    EXPECT_EQ(program->parameters[2].name, "convs.conv1.weight");
  }
}

TEST(Formatting, a_name_of_something_unknown_is_refused) {
  for (const std::string name : {"f'a{x_}'", "'a%s' % x_", "'{}'.format(x_)", "f'{1:q}'"}) {
    const auto program = read_program(
        module_text("return x", "torch.rand(2)", "x_ = nn.ReLU()\nself.add_module(" + name + ", nn.ReLU())"), "m.py",
        {});
    ASSERT_FALSE(program.has_value()) << name;
    EXPECT_EQ(program.error().code, errc::program_unsupported);
    EXPECT_EQ(program.error().message, "a name is made of a value that is not known while a file is read");
  }
}

TEST(Formatting, values_that_do_not_fit_are_refused) {
  for (const std::string name : {"'a%d' % 'b'", "'%d%d' % 1", "'%d' % (1, 2)", "'{}{}'.format(1)", "'%(a)s' % 3"}) {
    const auto program = program_with({name});
    ASSERT_FALSE(program.has_value()) << name;
    EXPECT_EQ(program.error().code, errc::program_value) << program.error().to_string();
  }
}

}  // namespace
}  // namespace kw::program_test
