#!/usr/bin/env python3
"""Holds src/ to its layers: a folder includes and links only folders of a lower rank (ARCHITECTURE.md).

Reads the #include lines of every .hpp and .cpp below ROOT/src and the kw_add_layer calls of ROOT/src/CMakeLists.txt,
and prints one `file:line: what is wrong; what to do` for each breach. Exit status 1 if there is any.
"""

import pathlib
import re
import sys

RANKS = {
    "base": 0,
    "spec": 1,
    "target": 1,
    "record": 2,
    "oracle": 3,
    "codegen": 3,
    "measure": 3,
    "protocol": 3,
    "device": 4,
    "sandbox": 4,
    "worker": 5,
    "verify": 5,
    "archive": 5,
    "propose": 6,
    "report": 6,
    "loop": 7,
    "cli": 8,
    "service": 8,
}

# Why some pairs must stay apart, for messages that teach more than two numbers do.
REASONS = {
    ("oracle", "codegen"): "the oracle shares no code with what it judges",
    ("codegen", "oracle"): "the oracle shares no code with what it judges",
}

# Folders that load drivers or run candidates. Their code exists in the worker process and nowhere else.
WORKER_ONLY = {"device": {"worker"}, "worker": set()}

# What may stand in front of an #include without being one: comments and raw strings, such as a kernel's source in a
# test. Replaced by as many newlines as they held, so that line numbers stay right.
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|R"([^()\s\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'"\'', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]*>|"[^"\n]*")', re.MULTILINE)
ADD_LAYER = re.compile(r"kw_add_layer\(([^)]*)\)")


def blank(match):
    text = match.group(0)
    is_plain_string = text.startswith('"')  # kept: it may be the path of an #include
    return text if is_plain_string else "\n" * text.count("\n")


def includes(source):
    """Yields (line, path, quoted) for each #include of a source text."""
    code = NOT_CODE.sub(blank, source)
    for match in INCLUDE.finditer(code):
        written = match.group(1)
        line = code.count("\n", 0, match.start(1)) + 1
        yield line, written[1:-1], written.startswith('"')


def breach(folder, other):
    """Says why `folder` may not use `other`, or returns None where it may."""
    if folder == other:
        return None
    if other not in RANKS:
        return f"'{other}/' is no folder of src/; write the path as folder/file.hpp, relative to src/"
    if (folder, other) in REASONS:
        return f"{folder} may not use {other}: {REASONS[folder, other]}"
    if other in WORKER_ONLY and folder not in WORKER_ONLY[other]:
        return (f"{folder} may not use {other}: drivers and candidates live in the worker process alone; "
                "send a message of protocol/ instead")
    if RANKS[other] >= RANKS[folder]:
        return (f"{folder} (rank {RANKS[folder]}) may not use {other} (rank {RANKS[other]}); move the shared type to a "
                "folder below both, or pass a callback down")
    return None


def check_file(path, shown, folder):
    for line, written, quoted in includes(path.read_text(encoding="utf-8")):
        if written.startswith("CL/") and folder != "device":
            yield f"{shown}:{line}: only device/ speaks to OpenCL; ask it through a message of protocol/"
        elif quoted and "/" not in written:
            yield f'{shown}:{line}: "{written}" names no folder; write folder/file.hpp, relative to src/'
        elif quoted:
            why = breach(folder, written.split("/", 1)[0])
            if why:
                yield f"{shown}:{line}: {why}"


def check_sources(root):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".hpp", ".cpp"):
            continue
        shown = path.relative_to(root)
        folder = shown.parts[1]
        if folder not in RANKS:
            yield f"{shown}:1: src/{folder}/ has no rank; add it to RANKS in tools/check_layers.py and to ARCHITECTURE.md"
            continue
        yield from check_file(path, shown, folder)


def layers(cmake_text):
    """Yields (line, folder, folders it links) for each kw_add_layer call."""
    code = re.sub(r"#[^\n]*", "", cmake_text)
    for match in ADD_LAYER.finditer(code):
        groups = {}
        key = ""
        for word in match.group(1).split():
            if word.isupper() and re.fullmatch(r"NAME|DEPENDS|LIBRARIES|PRIVATE_LIBRARIES", word):
                key = word
            else:
                groups.setdefault(key, []).append(word)
        linked = [name.removeprefix("kw_") for name in groups.get("LIBRARIES", []) + groups.get("PRIVATE_LIBRARIES", [])
                  if name.startswith("kw_")]
        line = code.count("\n", 0, match.start()) + 1
        yield line, groups.get("NAME", ["?"])[0], groups.get("DEPENDS", []) + linked


def check_links(root):
    path = root / "src" / "CMakeLists.txt"
    if not path.exists():
        return
    for line, folder, linked in layers(path.read_text(encoding="utf-8")):
        for other in linked:
            why = breach(folder, other) if folder in RANKS else f"{folder} has no rank in tools/check_layers.py"
            if why:
                yield f"src/CMakeLists.txt:{line}: {why}"


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    if not (root / "src").is_dir():
        print(f"{root}: no src/ folder here; give the repository's root", file=sys.stderr)
        return 2
    problems = [*check_sources(root), *check_links(root)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
