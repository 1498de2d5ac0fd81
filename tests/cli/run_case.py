#!/usr/bin/env python3
"""Runs one command-line case against the built tool and compares exit status and output.

    run_case.py BIN_FOLDER REPOSITORY CASE_FILE

A case file is a transcript with expectations:

    # why this case is here
    file bad.toml                 writes the indented lines below into a file of the fresh working folder, or of a
                                  folder in it, which is made
      name = 3
    $ kernelwright verify bad.toml missing.txt
    exit 2
    stderr: a part that some line of stderr must contain
    stdout: the same for stdout
    stdout not: a part that must not occur
    stdout empty
    stdout into kernel.cl         keeps stdout as a file of the working folder, for the commands that follow

`$ ` may occur several times; what follows each belongs to it. {repo} stands for the repository's root. Commands are
started without a shell, from a folder that is empty but for the case's files.
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
SHOWN_LINES = 30


class BadCase(Exception):
    """The case file itself is wrong."""


def parse(text):
    """Returns (files, steps): files as {name: text}, steps as [(command, [(line number, expectation)])]."""
    files, steps, open_file = {}, [], None
    for number, line in enumerate(text.splitlines(), 1):
        if open_file and (line.startswith("  ") or not line.strip()):
            files[open_file] += line[2:] + "\n"
            continue
        open_file = None
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("file "):
            open_file = line[5:].strip()
            files[open_file] = ""
        elif line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps:
            steps[-1][1].append((number, line))
        else:
            raise BadCase(f"line {number}: '{line}' stands before the first command")
    if not steps or any(not expectations for _, expectations in steps):
        raise BadCase("every command needs at least one expectation, and a case at least one command")
    return files, steps


def unmet(expectation, status, streams):
    """Says what is wrong, or returns None when the expectation holds."""
    if expectation.startswith("exit "):
        wanted = int(expectation[5:])
        return None if status == wanted else f"exit status is {status}, expected {wanted}"
    for name, text in streams.items():
        if expectation.startswith(f"{name} into "):
            return None  # the files are written before the expectations are checked
        if expectation == f"{name} empty":
            return None if text == "" else f"{name} is not empty"
        if expectation.startswith(f"{name}: "):
            part = expectation.removeprefix(f"{name}: ")
            return None if part in text else f"{name} lacks: {part}"
        if expectation.startswith(f"{name} not: "):
            part = expectation.removeprefix(f"{name} not: ")
            return None if part not in text else f"{name} contains: {part}"
    raise BadCase(f"no such expectation: {expectation}")


def excerpt(text):
    """The first lines: enough to see what came instead, without a whole kernel."""
    lines = text.splitlines(keepends=True)
    left_out = [f"... and {len(lines) - SHOWN_LINES} lines more\n"] if len(lines) > SHOWN_LINES else []
    return "".join(lines[:SHOWN_LINES] + left_out)


def run(command, binaries, repository, folder):
    words = [word.replace("{repo}", str(repository)) for word in shlex.split(command)]
    words[0] = str(binaries / words[0])
    environment = {"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"}
    sanitizer_options = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
    return subprocess.run(words, cwd=folder, env=environment | sanitizer_options, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False)


def check_case(binaries, repository, text):
    """Yields one message for each expectation that does not hold."""
    files, steps = parse(text)
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        for command, expectations in steps:
            done = run(command, binaries, repository, folder)
            streams = {"stdout": done.stdout, "stderr": done.stderr}
            for _, expectation in expectations:
                name, found, file = expectation.partition(" into ")
                if found and name in streams:
                    pathlib.Path(folder, file).write_text(streams[name], encoding="utf-8")
            problems = [f"line {number}: {why}" for number, expectation in expectations
                        if (why := unmet(expectation, done.returncode, streams))]
            if problems:
                yield "\n".join([f"$ {command}", *problems, f"-- stdout\n{excerpt(done.stdout)}",
                                 f"-- stderr\n{excerpt(done.stderr)}"])


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    binaries, repository, case = (pathlib.Path(argument).resolve() for argument in arguments)
    try:
        problems = list(check_case(binaries, repository, case.read_text(encoding="utf-8")))
    except (BadCase, ValueError, OSError, subprocess.TimeoutExpired) as error:
        problems = [f"{case.name}: {error}"]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
