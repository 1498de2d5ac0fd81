#!/usr/bin/env python3
"""Tests facts.py: what counts as a function, and what fails."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import facts

SOURCE = '''namespace kw {
struct Point {
  int x = 0;
  int norm() const {
    return x;
  }
};
const char* k_text = R"(
void f() {
)";
Point make(int a,
           int b) {
  auto inner = [&](int c) {
    return c;
  };
  if (a) {
    return {inner(b)};
  }
  return {};
}
Point::Point(int a) : x_{a}, y_(a) {
  use(a);
}
}  // namespace kw
'''


def report(lines):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "src", "base", "a.cpp")
        path.parent.mkdir(parents=True)
        path.write_text("int x;\n" * lines, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = facts.main([folder])
        return status, out.getvalue()


class Facts(unittest.TestCase):
    def test_functions_are_found_by_their_braces(self):
        self.assertEqual([(line, lines) for line, lines in facts.cpp_functions(SOURCE) if lines > 1],
                         [(4, 3), (12, 9), (21, 3)])

    def test_a_file_over_the_aim_is_a_remark(self):
        status, text = report(401)
        self.assertEqual(status, 0)
        self.assertIn("over the aim: src/base/a.cpp: 401 lines, over the aim of 400", text)

    def test_a_file_over_the_limit_fails(self):
        status, text = report(601)
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.cpp:1: 601 lines, over the limit of 600; split it by idea", text)


if __name__ == "__main__":
    unittest.main()
