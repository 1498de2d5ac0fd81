#!/usr/bin/env python3
"""Prints the size of things: lines per folder, test share, the longest files and functions.

Over an aim (header 150, source 400, function 60 lines) is a remark, for the next change there to split it; a file over
600 lines fails. Function lengths come from matching braces, which macros can fool; clang-tidy has the last word.
"""

import ast
import dataclasses
import pathlib
import re
import sys

FOLDERS = ("src", "tests", "fuzz", "bench", "tools")
SUFFIXES = (".hpp", ".cpp", ".py", ".sh")
AIMS = {".hpp": 150, ".cpp": 400, ".py": 400, ".sh": 400}
FUNCTION_AIM = 60
EXEMPT = "NOLINT(readability-function-size)"  # on the line that opens the function; for tables
FILE_LIMIT = 600
SHOWN = 5

NOT_CODE = re.compile(r'R"([^()\s\\]{0,16})\(.*?\)\1"|/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                      re.DOTALL)
NO_FUNCTION = re.compile(r"^\s*(namespace|struct|class|enum|union|extern|if|for|while|switch|do|else|try|catch)\b")


@dataclasses.dataclass
class Item:
    lines: int
    place: str
    is_test: bool = False
    exempt: bool = False


def is_test(path):
    return path.stem.endswith("_test") or path.parts[0] == "tests"


def cpp_functions(text):
    """Yields (first line, lines) of each outermost function: a brace opened by a statement that has a parameter list."""
    code = NOT_CODE.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match.group(0).count("\n"), code,
                  flags=re.MULTILINE)
    depth, function_depth, started, statement, line = 0, None, 0, "", 1
    for character in code:
        if character == "\n":
            line += 1
        if character == "{":
            opens = "(" in statement and not NO_FUNCTION.match(statement) and "=" not in statement.split("(")[0]
            if function_depth is None and opens:
                function_depth, started = depth, line
            depth += 1
            statement = ""
        elif character == "}":
            depth -= 1
            if function_depth == depth:
                yield started, line - started + 1
                function_depth = None
            statement = ""
        elif character == ";":
            statement = ""
        else:
            statement += character


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            yield node.lineno, node.end_lineno - node.lineno + 1


def is_input(shown):
    """Files that tests and fuzzers read: hostile on purpose, and nobody's code."""
    return shown.as_posix().startswith(("fuzz/corpus/", "tests/golden/"))


def functions(path, text):
    if path.suffix in (".hpp", ".cpp"):
        return cpp_functions(text)
    return python_functions(text) if path.suffix == ".py" else ()


def gather(root):
    files, all_functions = [], []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            shown = path.relative_to(root)
            if path.suffix not in SUFFIXES or "__pycache__" in path.parts or is_input(shown):
                continue
            text = path.read_text(encoding="utf-8")
            files.append(Item(text.count("\n"), str(shown), is_test(shown)))
            text_lines = text.split("\n")
            all_functions += [Item(lines, f"{shown}:{line}", is_test(shown), EXEMPT in text_lines[line - 1])
                              for line, lines in functions(path, text)]
    return files, all_functions


def by_folder(files):
    totals = {}
    for item in files:
        parts = pathlib.PurePath(item.place).parts
        total = totals.setdefault("/".join(parts[:2]) if parts[0] == "src" else parts[0], [0, 0, 0])
        total[0] += 1
        total[2 if item.is_test else 1] += item.lines
    return totals


def print_longest(title, items):
    print(f"\nlongest {title}")
    for item in sorted(items, key=lambda item: -item.lines)[:SHOWN]:
        print(f"  {item.lines:5}  {item.place}")


def over_aims(files, all_functions):
    for item in files:
        if not item.is_test and item.lines > AIMS[pathlib.PurePath(item.place).suffix]:
            yield f"{item.place}: {item.lines} lines, over the aim of {AIMS[pathlib.PurePath(item.place).suffix]}"
    for item in all_functions:
        if not item.is_test and not item.exempt and item.lines > FUNCTION_AIM:
            yield f"{item.place}: a function of {item.lines} lines, over the aim of {FUNCTION_AIM}"


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    files, all_functions = gather(root)
    print(f"{'folder':18} {'files':>5} {'code':>6} {'tests':>6}")
    for folder, (count, code, tests) in by_folder(files).items():
        print(f"{folder:18} {count:5} {code:6} {tests:6}")
    tests = sum(item.lines for item in files if item.is_test)
    print(f"{'all':18} {len(files):5} {sum(item.lines for item in files) - tests:6} {tests:6}")
    print_longest("headers", [item for item in files if item.place.endswith(".hpp")])
    print_longest("sources", [item for item in files if not item.place.endswith(".hpp")])
    print_longest("functions", all_functions)
    for remark in over_aims(files, all_functions):
        print(f"over the aim: {remark}")
    too_long = [item for item in files if item.lines > FILE_LIMIT]
    for item in too_long:
        print(f"{item.place}:1: {item.lines} lines, over the limit of {FILE_LIMIT}; split it by idea")
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
