#!/usr/bin/env python3
"""Tests run_case.py with a shell script in the place of the tool."""

import pathlib
import tempfile
import unittest

import run_case

TOOL = """#!/bin/sh
echo "says $1"
cat "$2" 2>/dev/null
echo "complains" >&2
exit 3
"""


def problems(case):
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(folder, "tool")
        tool.write_text(TOOL, encoding="utf-8")
        tool.chmod(0o755)
        return list(run_case.check_case(pathlib.Path(folder), pathlib.Path("/repository"), case))


class RunCase(unittest.TestCase):
    def test_met_expectations_are_silent(self):
        self.assertEqual(problems("file in.txt\n  from a file\n\n$ tool 'two words' in.txt\nexit 3\n"
                                  "stdout: says two words\nstdout: from a file\nstdout not: complains\n"
                                  "stderr: complains\n"), [])

    def test_every_unmet_expectation_is_named_with_its_line(self):
        (message,) = problems("# why\n$ tool x\nexit 0\nstdout: hello\nstdout not: says\nstderr empty\n")
        for part in ("$ tool x", "line 3: exit status is 3, expected 0", "line 4: stdout lacks: hello",
                     "line 5: stdout contains: says", "line 6: stderr is not empty", "-- stderr\ncomplains"):
            self.assertIn(part, message)

    def test_each_command_has_its_own_expectations(self):
        (message,) = problems("$ tool a\nexit 3\nstdout: says a\n$ tool b\nstdout: says a\n")
        self.assertIn("$ tool b\nline 5: stdout lacks: says a", message)

    def test_the_repository_is_filled_in(self):
        self.assertEqual(problems("$ tool {repo}/problems\nstdout: says /repository/problems\n"), [])

    def test_output_is_kept_for_the_commands_that_follow(self):
        self.assertEqual(problems("$ tool first\nstdout into kept.txt\n$ tool b kept.txt\nstdout: says first\n"), [])
        (message,) = problems("$ tool first\nstderr into kept.txt\n$ tool b kept.txt\nstdout: says first\n")
        self.assertIn("lacks: says first", message)

    def test_a_case_that_checks_nothing_is_refused(self):
        for case in ("$ tool x\n", "", "exit 0\n$ tool x\nexit 0\n", "$ tool x\nstdou: says\n"):
            with self.assertRaises(run_case.BadCase, msg=case):
                problems(case)


if __name__ == "__main__":
    unittest.main()
