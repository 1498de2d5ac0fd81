#!/usr/bin/env python3
"""Takes each protection of the verifier away in turn and demands that cheaters then pass.

The tree stays as it is: of the preset dev, which has to be built, only the objects that hold changed text are compiled
anew, into a folder of their own, and linked with the others.
A cheater that is still caught shows that its protection is not the one that catches it, or that the table is wrong.
usage: protections.py ROOT [--list] [NAME...]     NAME: a part of a protection's name; without any, all of them
"""
import argparse
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib

TABLE = "tests/protections/protections.toml"
BUILD = "build/dev"
PROGRAMS = ["bin/kw_system_tests", "bin/kernelwright-supervisor", "bin/kernelwright-worker"]


def read_table(root):
    return tomllib.loads((root / TABLE).read_text())["protection"]


def cheater_file(root, name):
    """The bundle of that name; None when there is none."""
    found = [root / f"tests/cheaters{end}" for end in (f"/{name}.cl", f"_cuda/{name}.cu", f"_final/{name}.cl")]
    return next((path for path in found if path.exists()), None)


def problems(root):
    """What of the table does not fit the tree, as sentences."""
    found = []
    for protection in read_table(root):
        name = protection["name"]
        if not protection["cheaters"]:
            found.append(f"{name}: it names no cheater")
        found += [f"{name}: there is no cheater {one}" for one in protection["cheaters"]
                  if cheater_file(root, one) is None]
        for edit in protection["edit"]:
            count = (root / edit["file"]).read_text().count(edit["find"])
            if count != 1:
                found.append(f"{name}: {edit['file']} has its text {count} times: {edit['find']}")
    return found


def option(words, name):
    """The word behind `name`; None where it is not there."""
    return words[words.index(name) + 1] if name in words else None


class Build:
    """What the preset dev compiles and links for the programs that are needed, as ninja knows it."""

    def __init__(self, root):
        self.root, self.folder = root, root / BUILD
        lines = self.ninja("-t", "commands", *PROGRAMS).splitlines()
        self.compiles = {}  # by object: the words of its command
        self.links = {}     # by program
        for line in lines:
            words = shlex.split(line)
            if "-c" in words:
                self.compiles[option(words, "-o")] = words
            elif option(words, "-o") in PROGRAMS:
                self.links[option(words, "-o")] = [word for word in words if word not in (":", "&&")]
        self.dependencies = {name: set(self.ninja("-t", "deps", name).split()) for name in self.compiles}

    def ninja(self, *arguments):
        return subprocess.run(["ninja", *arguments], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def embedding(self, text):
        """Generated sources that hold `text`, which stands in a file that no compiler reads."""
        generated = {path for read in self.dependencies.values() for path in read
                     if path.startswith(str(self.folder)) and path.endswith(".cpp")}
        return sorted(path for path in generated if text in pathlib.Path(path).read_text())

    def users(self, files):
        """Objects that are compiled from one of the files, or include it."""
        return [name for name, read in self.dependencies.items() if read & files]


class Changed:
    """The programs without a protection, in a folder of their own."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "bin").mkdir(parents=True)
        self.copies = {}  # by path: the changed copy

    def copy_of(self, path):
        if path not in self.copies:
            copy = self.folder / path.relative_to(self.build.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
            self.copies[path] = copy
        return self.copies[path]

    def edit(self, edit):
        paths = [self.build.root / edit["file"]]
        if not self.build.users({str(paths[0])}):
            paths = [pathlib.Path(one) for one in self.build.embedding(edit["find"])]
            if not paths:
                raise RuntimeError(f"nothing is compiled of {edit['file']}")
        for path in paths:
            copy = self.copy_of(path)
            copy.write_text(copy.read_text().replace(edit["find"], edit["replace"]))

    def compile(self, name):
        """One object. Headers that changed are found before those of the tree, sources by their place."""
        words = list(self.build.compiles[name])
        source = pathlib.Path(words[-1])
        if source not in self.copies:
            text = source.read_text()
            named = [path for path in self.copies if f'#include "{path}"' in text]
            if named:
                copy = self.copy_of(source)
                for path in named:
                    text = text.replace(f'#include "{path}"', f'#include "{self.copies[path]}"')
                copy.write_text(text)
        words[-1] = str(self.copies.get(source, source))
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        words[words.index("-o") + 1] = str(target)
        for written in ("-MF", "-MT"):
            at = words.index(written)
            del words[at:at + 2]
        words.remove("-MD")
        words.insert(1, f"-I{self.folder / 'src'}")
        run = subprocess.run(words, cwd=self.build.folder, capture_output=True, text=True)
        return run.stderr[-4000:] if run.returncode != 0 else ""

    def programs(self):
        """Compiles and links; "" when it went well."""
        objects = self.build.users({str(path) for path in self.copies})
        for name in objects:
            failure = self.compile(name)
            if failure:
                return failure
        for program, command in self.build.links.items():
            # In front of the libraries, so that the linker does not look for the old ones there.
            words = [str(self.folder / word) if word in objects else word for word in command]
            archived = [name for name in objects if name not in command and self.belongs(name, command)]
            words[1:1] = [str(self.folder / name) for name in archived]
            words[words.index("-o") + 1] = str(self.folder / program)
            run = subprocess.run(words, cwd=self.build.folder, capture_output=True, text=True)
            if run.returncode != 0:
                return run.stderr[-4000:]
        return ""

    @staticmethod
    def belongs(name, command):
        """Whether the program links the library that the object is of."""
        library = re.search(r"CMakeFiles/(\w+)\.dir/", name).group(1)
        return any(word.endswith(f"/lib{library}.a") for word in command)

    def verdict_on(self, cheater):
        """"accepted", or the gate and reason that caught it; of the final measurement, its error."""
        root = self.build.root
        path = cheater_file(root, cheater)
        test = "Cheaters/CheatTest.is_caught_by_the_gate_it_names"
        if path.parent.name == "cheaters_final":
            test = "Cheaters/FinalLiarTest.is_caught_as_it_says"
        elif path.suffix == ".cu":
            test = "Cuda" + test
        run = subprocess.run([self.folder / "bin/kw_system_tests", f"--gtest_filter={test}/{cheater}"],
                             cwd=root, capture_output=True, text=True)
        if run.returncode == 0:
            return "caught by its own gate" if "[  PASSED  ] 1 test" in run.stdout else "no such test"
        if "ns was believed" in run.stdout:
            return "accepted"
        words = [line.split('"')[1] for line in run.stdout.splitlines() if "Which is:" in line and '"' in line]
        return words[0] if words else "no verdict:\n" + run.stdout[-2000:]


def without(build, protection):
    """The cheaters that are still caught, with what catches them."""
    changed = Changed(build, build.root / "build" / "protections")
    for edit in protection["edit"]:
        changed.edit(edit)
    failure = changed.programs()
    if failure:
        return [f"the programs do not build without it:\n{failure}"]
    verdicts = {cheater: changed.verdict_on(cheater) for cheater in protection["cheaters"]}
    return [f"{cheater}: {verdict}" for cheater, verdict in verdicts.items() if verdict != "accepted"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true", help="name the protections, and change nothing")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    wrong = problems(root)
    if wrong:
        sys.exit("\n".join(wrong))
    chosen = [one for one in read_table(root)
              if not arguments.names or any(name in one["name"] for name in arguments.names)]
    if arguments.list:
        print("\n".join(one["name"] for one in chosen))
        return
    build = Build(root)
    failed = 0
    for protection in chosen:
        begin = time.monotonic()
        still_caught = without(build, protection)
        failed += bool(still_caught)
        print(f"{'STILL CAUGHT' if still_caught else 'ok'}  {protection['name']}: without it, "
              f"{', '.join(protection['cheaters'])} should pass ({time.monotonic() - begin:.0f} s)", flush=True)
        for line in still_caught:
            print(f"    {line}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} protections are needed by the cheaters that they name")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
