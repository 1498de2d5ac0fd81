#!/usr/bin/env python3
"""Holds src/ to its layers: a folder includes and links only folders of a lower rank (ARCHITECTURE.md).

Within a folder that has rooms, a room includes only the rooms before it. No two types have one name, in src/ and tests/
together: what a program links of them would be one of the two, and which one is chance. No file but a few reads the
calendar. Reads every .hpp and .cpp, the types that they define, and the kw_add_layer calls of ROOT/src/CMakeLists.txt, and
prints one `file:line: what is wrong; what to do` for each breach. Exit status 1 if there is any.
"""

import pathlib
import re
import sys

RANKS = {
    "base": 0,
    "hardware": 1,
    "tensor": 1,
    "python": 1,
    "language": 2,
    "mod": 2,
    "program": 2,
    "problem": 3,
    "record": 4,
    "codegen": 5,
    "measure": 5,
    "predict": 5,
    "protocol": 5,
    "operators": 6,
    "device": 6,
    "sandbox": 6,
    "supervisor": 7,
    "worker": 7,
    "verify": 7,
    "archive": 7,
    "propose": 8,
    "report": 8,
    "loop": 9,
    "suite": 10,
    "catalogue": 11,
    "cli": 11,
    "service": 11,
}

# The rooms of a folder, lowest first; "." is what lies in the folder itself. Every sub-folder has to be here.
ROOMS = {
    "cli": [".", "commands", "app.cpp"],
    "device": [".", "sim", "cuda", "hip", "null", "opencl", "backends.cpp"],
    "mod": ["expression", "analysis", "frontend"],
    "operators": ["attention", "program"],
    "operators/attention": ["attention.hpp", "attention.cpp", "oracle", "kernels", "."],
    "operators/attention/kernels": [".", "opencl", "cuda", "styles.cpp"],
    "operators/program": ["program_detail.hpp", "program_detail.cpp", "oracle", "kernels", "."],
    "operators/program/kernels": [".", "opencl", "cuda", "styles.cpp"],
    "problem": ["captures", ".", "file"],
    "program": [".", "graph", "operators", "reader", "simplify", "stages", "explain"],
    "propose": [".", "search", "llm", "portfolio"],
    "propose/llm": ["client", "knowledge", "replies", "prompts", "."],
    "verify": ["processes", "checking", "state", "timing", "tools", "gates", "."],
}

# Folders whose files no layer holds: texts for other compilers, and data.
NO_ROOMS = {"device/sim/runtime", "propose/llm/client/data"}

# Helpers of tests: above everything in their folder, and for tests and other helpers alone.
TESTING = "testing"

# Why some pairs must stay apart, for messages that teach more than two numbers do.
REASONS = {
    ("oracle", "codegen"): "the oracle shares no code with what it judges",
    ("oracle", "kernels"): "the oracle shares no code with what it judges",
    ("kernels", "oracle"): "the oracle shares no code with what it judges",
}

# Folders that load drivers or run candidates. Their code exists in the worker process and nowhere else.
WORKER_ONLY = {"device": {"worker"}, "worker": set()}

# Folders whose parts are reached through a list that the program links: who may name them.
LISTED = {"operators": ({"catalogue"}, "problem/operator.hpp")}

# Who may ask what day it is. That clock jumps, by years where a machine has just found out the time: a budget or a deadline
# that is measured by it ends at once or never.
CALENDAR = {
    "src/cli/environment.cpp": "the date in a record of a run",
    "src/propose/llm/client/reply_receiver.cpp": "a Retry-After that is a date, where the server names none of its own",
    "src/sandbox/private_directory.cpp": "the age of a folder that a killed run has left",
}

# What may stand in front of an #include without being one: comments and raw strings, such as a kernel's source in a
# test. Replaced by as many newlines as they held, so that line numbers stay right.
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|R"([^()\s\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'"\'', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]*>|"[^"\n]*")', re.MULTILINE)
# Files are formatted: what begins a line stands at the level of a namespace, and each namespace says where it ends.
SCOPE_OR_TYPE = re.compile(r"^namespace(?P<opened>(?: [\w:]+)?) \{|^(?P<closed>\}  // namespace)"
                           r"|^(?:struct|class|enum class|union) (?P<type>\w+)(?: final)?(?: : [^;{]*)? \{", re.MULTILINE)
READS_CALENDAR = re.compile(r"\b(?:system_clock|utc_clock|high_resolution_clock|file_clock|CLOCK_REALTIME\w*|gettimeofday"
                            r"|timespec_get|time ?\((?:nullptr|NULL|0|&))")
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
    if other in WORKER_ONLY and folder not in WORKER_ONLY[other]:
        return (f"{folder} may not use {other}: drivers and candidates live in the worker process alone; "
                "send a message of protocol/ instead")
    if RANKS[other] >= RANKS[folder]:
        return (f"{folder} (rank {RANKS[folder]}) may not use {other} (rank {RANKS[other]}); move the shared type to a "
                "folder below both, or pass a callback down")
    return None


def room_of(parts, depth):
    """The room that a file is in, below its first `depth` folders; "." in that folder itself. A room may be one file, such as a list of
    the rooms before it."""
    rooms = ROOMS.get("/".join(parts[:depth]), [])
    if len(parts) > depth + 1:
        return parts[depth]
    return parts[depth] if parts[depth] in rooms else "."


def room_breach(parts, other):
    """Says why a file may not include another of the same folder. Both are paths as tuples, the file's name last."""
    depth = 1
    while parts[:depth] == other[:depth]:
        folder = "/".join(parts[:depth])
        rooms = ROOMS.get(folder)
        if rooms is None:
            return None
        room, wanted = room_of(parts, depth), room_of(other, depth)
        if room != wanted:
            for name in (room, wanted):
                if name not in rooms:
                    return f"{folder}/{name}/ has no place among the rooms of {folder}/; add it to ROOMS in tools/check_layers.py"
            if (room, wanted) in REASONS:
                return f"{folder}/{room} may not use {folder}/{wanted}: {REASONS[room, wanted]}"
            if rooms.index(wanted) > rooms.index(room):
                shown = folder if room == "." else f"{folder}/{room}"
                return (f"{shown} may not use {folder}/{wanted}, a later room of {folder}/; move the shared type to a room "
                        "before both, or pass a callback down")
            return None
        if room == ".":
            return None
        depth += 1
    return None


def is_test(parts):
    return TESTING in parts[:-1] or parts[-1].endswith("_test.cpp")


def include_breach(parts, other):
    """Says why a file may not include another. Tests may use helpers of lower folders, and all rooms of their own."""
    folder = parts[0]
    if TESTING in other[:-1] and not is_test(parts):
        return f"{'/'.join(other)} is for tests alone; move what the product needs out of {TESTING}/"
    if "oracle" in parts[:-1] and not is_test(parts) and other[0] == "codegen":
        return f"{'/'.join(parts[:-1])} may not use codegen: {REASONS['oracle', 'codegen']}"
    if folder != other[0]:
        users, interface = LISTED.get(other[0], (None, None))
        if users is not None and folder not in users and not is_test(parts):
            return f"{folder} may not name what {other[0]}/ holds: ask through {interface}"
        return breach(folder, other[0])
    return None if is_test(parts) else room_breach(parts, other)


def check_file(path, shown):
    parts = shown.parts[1:]
    for line, written, quoted in includes(path.read_text(encoding="utf-8")):
        if written.startswith("CL/") and parts[0] != "device":
            yield f"{shown}:{line}: only device/ speaks to OpenCL; ask it through a message of protocol/"
        elif quoted and "/" not in written:
            yield f'{shown}:{line}: "{written}" names no folder; write folder/file.hpp, relative to src/'
        elif quoted:
            why = include_breach(parts, pathlib.PurePosixPath(written).parts)
            if why:
                yield f"{shown}:{line}: {why}"


def check_calendar(path, shown):
    if str(shown) in CALENDAR or is_test(shown.parts[1:]):
        return
    code = NOT_CODE.sub(blank, path.read_text(encoding="utf-8"))
    for match in READS_CALENDAR.finditer(code):
        yield (f"{shown}:{code.count(chr(10), 0, match.start()) + 1}: {match.group(0)} is of the calendar, whose clock jumps by "
               "years; measure time with a Clock (base/clock.hpp)")


def has_room(parts):
    """Whether each folder of a file is a room of the one around it."""
    for depth in range(1, len(parts) - 1):
        folder = "/".join(parts[:depth])
        if parts[depth] == TESTING or f"{folder}/{parts[depth]}" in NO_ROOMS:
            return True
        if parts[depth] not in ROOMS.get(folder, []):
            return False
    return True


def check_sources(root):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".hpp", ".cpp"):
            continue
        shown = path.relative_to(root)
        folder = shown.parts[1]
        if folder not in RANKS:
            yield f"{shown}:1: src/{folder}/ has no rank; add it to RANKS in tools/check_layers.py and to ARCHITECTURE.md"
            continue
        if not has_room(shown.parts[1:]):
            yield (f"{shown}:1: {shown.parent}/ has no place among the rooms of src/{folder}/; add it to ROOMS in "
                   "tools/check_layers.py")
            continue
        yield from check_file(path, shown)
        yield from check_calendar(path, shown)


def layers(cmake_text):
    """Yields (line, folder, folders it links) for each kw_add_layer call."""
    code = re.sub(r"#[^\n]*", "", cmake_text)
    for match in ADD_LAYER.finditer(code):
        groups = {}
        key = ""
        for word in match.group(1).split():
            if word.isupper() and re.fullmatch(r"NAME|DEPENDS|LIBRARIES|PRIVATE_LIBRARIES|LISTS", word):
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


def blank_but_ends_of_namespaces(match):
    return match.group(0) if match.group(0).startswith("// namespace") else "\n" * match.group(0).count("\n")


def shared_types(source):
    """Yields (line, qualified name) for each type that other files can name as well."""
    code = NOT_CODE.sub(blank_but_ends_of_namespaces, source)
    scopes = []
    for match in SCOPE_OR_TYPE.finditer(code):
        if match.group("opened") is not None:
            scopes.append(match.group("opened").strip())
        elif match.group("closed"):
            scopes.pop()
        elif "" not in scopes:
            yield code.count("\n", 0, match.start()) + 1, "::".join([*scopes, match.group("type")])


def check_types(root):
    first_places = {}
    files = [path for folder in ("src", "tests") for path in (root / folder).rglob("*") if path.suffix in (".hpp", ".cpp")]
    for path in sorted(files):
        shown = path.relative_to(root)
        if any(str(shown.parent) == f"src/{folder}" for folder in NO_ROOMS):
            continue
        for line, name in shared_types(path.read_text(encoding="utf-8")):
            first = first_places.setdefault(name, f"{shown}:{line}")
            if first != f"{shown}:{line}":
                yield (f"{shown}:{line}: {name} is the name of another type, in {first}; give one of them another name, or "
                       "put what one file alone uses into a namespace without a name")


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    if not (root / "src").is_dir():
        print(f"{root}: no src/ folder here; give the repository's root", file=sys.stderr)
        return 2
    problems = [*check_sources(root), *check_links(root), *check_types(root)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
