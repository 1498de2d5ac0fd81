"""The table of protections fits the tree: each text that is to be changed is there once, each cheater exists."""
import pathlib
import unittest

import protections

ROOT = pathlib.Path(__file__).resolve().parent.parent


class ProtectionsTest(unittest.TestCase):
    def test_table_fits_the_tree(self):
        self.assertEqual(protections.problems(ROOT), [])

    def test_no_protection_stands_there_twice(self):
        names = [one["name"] for one in protections.read_table(ROOT)]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
