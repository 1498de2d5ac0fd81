#!/usr/bin/env python3
"""Takes each protection of the verifier away in turn, in a copy of the tree, and demands that cheaters then pass.

A cheater that is still caught shows that its protection is not the one that catches it, or that the table is wrong.
usage: protections.py ROOT [--list] [NAME...]     NAME: a part of a protection's name; without any, all of them
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tomllib

TABLE = "tests/protections/protections.toml"
TARGETS = ["kw_system_tests", "kernelwright-worker"]


def read_table(root):
    return tomllib.loads((root / TABLE).read_text())["protection"]


def cheater_file(root, name):
    """The bundle of that name; None when there is none."""
    found = [root / "tests/cheaters" / f"{name}.cl", root / "tests/cheaters_cuda" / f"{name}.cu"]
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


def copy_tree(root, tree):
    """What git knows or would add; files that did not change keep their time, so that little is built again."""
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, listed):
        source, target = root / name, tree / name
        if not source.is_file():
            continue
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def build(tree):
    done = subprocess.run(["cmake", "--build", "build/dev", "--target", *TARGETS], cwd=tree, capture_output=True,
                          text=True)
    return "" if done.returncode == 0 else done.stdout[-4000:] + done.stderr[-2000:]


def verdict_on(tree, cheater):
    """"accepted", or the gate and reason that caught it."""
    suite = "CudaCheaters" if cheater_file(tree, cheater).suffix == ".cu" else "Cheaters"
    run = subprocess.run([tree / "build/dev/bin/kw_system_tests",
                          f"--gtest_filter={suite}/CheatTest.is_caught_by_the_gate_it_names/{cheater}"],
                         cwd=tree, capture_output=True, text=True)
    if run.returncode == 0:
        return "caught by its own gate"
    words = [line.split('"')[1] for line in run.stdout.splitlines() if "Which is:" in line and '"' in line]
    return words[0] if words else "no verdict:\n" + run.stdout[-2000:]


def without(tree, protection):
    """The cheaters that are still caught, with what catches them."""
    originals = {}
    try:
        for edit in protection["edit"]:
            path = tree / edit["file"]
            originals.setdefault(path, path.read_text())
            path.write_text(path.read_text().replace(edit["find"], edit["replace"]))
        failure = build(tree)
        if failure:
            return [f"the tree does not build without it:\n{failure}"]
        verdicts = {cheater: verdict_on(tree, cheater) for cheater in protection["cheaters"]}
        return [f"{cheater}: {verdict}" for cheater, verdict in verdicts.items() if verdict != "accepted"]
    finally:
        for path, text in originals.items():
            path.write_text(text)


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
    tree = root / "build" / "protections"
    copy_tree(root, tree)
    subprocess.run(["cmake", "--preset", "dev"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    print("building a copy of the tree, which takes minutes the first time", flush=True)
    failure = build(tree)
    if failure:
        sys.exit(f"the copy does not build:\n{failure}")
    failed = 0
    for protection in chosen:
        still_caught = without(tree, protection)
        failed += bool(still_caught)
        print(f"{'STILL CAUGHT' if still_caught else 'ok'}  {protection['name']}: without it, "
              f"{', '.join(protection['cheaters'])} should pass", flush=True)
        for line in still_caught:
            print(f"    {line}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} protections are needed by the cheaters that they name")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
