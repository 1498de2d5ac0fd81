#include "suite/problem_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProblemList : public testing::Test {
 protected:
  std::string file(const std::string& name) const {
    const auto path = scratch_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "text\n";
    return path.string();
  }
  static std::vector<std::string> names(const std::vector<SuiteItem>& items) {
    std::vector<std::string> all;
    for (const auto& item : items) all.push_back(item.name);
    return all;
  }
  [[nodiscard]] std::string folder(const std::string& name) const { return (scratch_.path() / name).string(); }

  ScratchDirectory scratch_;
};

TEST_F(ProblemList, folders_are_listed_by_number_then_name) {
  for (const char* name : {"kb/level1/10_b.py", "kb/level1/9_z.py", "kb/level2/1_a.py", "kb/level1/x.toml",
                           "kb/level1/__init__.py", "kb/level1/notes.txt", "kb/.hidden/3_c.py"}) {
    (void)file(name);
  }
  const auto items = list_suite_problems({folder("kb")});
  ASSERT_TRUE(items) << items.error().to_string();
  EXPECT_THAT(names(*items), ElementsAre("level1/x", "level1/9_z", "level1/10_b", "level2/1_a"));
  EXPECT_EQ(items->at(2).level, 1);
  EXPECT_EQ(items->at(2).id, 10);
  EXPECT_FALSE(items->at(0).id);
}

TEST_F(ProblemList, a_file_counts_once_and_a_class_is_named) {
  const auto path = file("nets/block.py");
  const auto items = list_suite_problems({path, folder("nets"), path + ":Inner"});
  ASSERT_TRUE(items) << items.error().to_string();
  EXPECT_THAT(names(*items), ElementsAre("nets/block", "nets/block.Inner"));
  EXPECT_EQ(items->at(1).input, path + ":Inner");
}

TEST_F(ProblemList, says_what_is_wrong_with_a_path) {
  const auto missing = list_suite_problems({folder("none.py")});
  EXPECT_EQ(missing.error().code, errc::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("there is no file or folder"));
  const auto text = list_suite_problems({file("a/notes.txt")});
  EXPECT_EQ(text.error().code, errc::suite_problem);
  EXPECT_THAT(text.error().message, HasSubstr("notes.txt is neither a module nor a problem file"));
  const auto empty = list_suite_problems({folder("a")});
  EXPECT_EQ(empty.error().code, errc::suite_empty);
  EXPECT_THAT(empty.error().message, HasSubstr("holds no problem"));
  EXPECT_EQ(list_suite_problems({}).error().code, errc::suite_empty);
  const auto twice = list_suite_problems({file("x/l/1_a.py"), file("y/l/1_a.py")});
  EXPECT_EQ(twice.error().code, errc::suite_problem);
  EXPECT_THAT(twice.error().message, HasSubstr("are both named l/1_a"));
}

}  // namespace
}  // namespace kw
