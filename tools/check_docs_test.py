#!/usr/bin/env python3
"""Runs check_docs.py on small trees."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_docs


def report(readme, *existing):
    """Writes README.md and some empty files; returns the exit status and the lines printed."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "README.md").write_text(readme, encoding="utf-8")
        for name in existing:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("# A heading, `quoted`\n", encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = check_docs.main([folder])
        return status, out.getvalue().splitlines()


class CheckDocs(unittest.TestCase):
    def test_what_exists_passes(self):
        text = ("# Top\n[a](docs/a.md) [b](docs/a.md#a-heading-quoted) [c](#top) [d](https://nowhere.example/x)\n"
                "`src/base/hash.hpp` `src/base/` `src/*/hash.hpp` `src/base/{hash,rng}.hpp`\n")
        self.assertEqual(report(text, "docs/a.md", "src/base/hash.hpp", "src/base/rng.hpp"), (0, []))

    def test_placeholders_commands_and_fences_are_not_looked_up(self):
        text = "`src/FOLDER/x.cpp` `src/...` `docs/NAME.md` `./dev run x` `ls src/nosuch`\n```\n`src/nosuch`\n```\n"
        self.assertEqual(report(text), (0, []))

    def test_each_breach_is_named_with_its_line(self):
        for text, expected in [
            ("\n[a](docs/a.md)\n", "README.md:2: the link to docs/a.md leads nowhere"),
            ("# Top\n[c](#bottom)\n", "README.md:2: no heading of README.md gives the anchor #bottom"),
            ("see `src/base/nosuch.hpp`\n", "README.md:1: `src/base/nosuch.hpp` does not exist"),
            ("see `src/*/nosuch.hpp`\n", "README.md:1: `src/*/nosuch.hpp` does not exist"),
            ("```\nx\n```\nsee `tools/{x,y}.py`\n", "README.md:4: `tools/x.py` does not exist"),
        ]:
            self.assertEqual(report(text), (1, [expected]), text)


if __name__ == "__main__":
    unittest.main()
