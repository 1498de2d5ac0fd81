#!/usr/bin/env python3
"""Checks that what the documents point at exists.

In every Markdown file of the repository: relative links and their #anchors, and every path in backticks that starts
with a folder of this repository, such as `src/base/hash.hpp` or `problems/*/*.toml` (a pattern must match something).
Words in capitals are placeholders: `src/FOLDER/` is not looked up. Fenced blocks are not read.
"""

import pathlib
import re
import sys

SKIPPED = {".git", "build", "runs", "kw-runs", ".cache"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
REPO_PATH = re.compile(r"(?:\./)?(?:src|tests|docs|tools|problems|fuzz|bench|cmake|\.ci)/[\w.*/{},-]*$")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])[A-Z][A-Z_]+(?![a-z])|\.\.\.")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)


def documents(root):
    for path in sorted(root.rglob("*.md")):
        if not SKIPPED.intersection(path.relative_to(root).parts):
            yield path


def without_fences(text):
    return FENCE.sub(lambda match: "\n" * match.group(0).count("\n"), text)


def anchors(text):
    """The anchors that headings get on the usual viewers: lower case, dashes for blanks, punctuation dropped."""
    headings = re.findall(r"^#+[ \t]+(.+?)[ \t]*$", without_fences(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def check_link(path, target):
    if re.match(r"[a-z]+:", target):  # https:, mailto:
        return None
    name, _, anchor = target.partition("#")
    linked = (path.parent / name) if name else path
    if not linked.exists():
        return f"the link to {target} leads nowhere"
    if anchor and linked.suffix == ".md" and anchor not in anchors(linked.read_text(encoding="utf-8")):
        return f"no heading of {linked.name} gives the anchor #{anchor}"
    return None


def alternatives(pattern):
    """a/{b,c}.hpp -> a/b.hpp, a/c.hpp"""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    return [name for part in match.group(1).split(",")
            for name in alternatives(pattern[:match.start()] + part + pattern[match.end():])]


def check_path(root, written):
    if not REPO_PATH.match(written) or PLACEHOLDER.search(pathlib.PurePath(written).as_posix()):
        return None
    for pattern in alternatives(written.removeprefix("./")):
        found = any(root.glob(pattern.rstrip("/"))) if "*" in pattern else (root / pattern).exists()
        if not found:
            return f"`{pattern}` does not exist"
    return None


def check(root, path):
    text = without_fences(path.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), 1):
        prose = CODE.sub("``", line)
        problems = [check_link(path, target) for target in LINK.findall(prose)]
        problems += [check_path(root, written) for written in CODE.findall(line)]
        for problem in filter(None, problems):
            yield f"{path.relative_to(root)}:{number}: {problem}"


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
    problems = [problem for path in documents(root) for problem in check(root, path)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
