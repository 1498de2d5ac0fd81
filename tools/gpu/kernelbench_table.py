"""The table of kernelbench.py: ratios, means, fast_p, as CSV and as a page."""

import collections
import csv
import json
import math
import statistics

RIVALS = ["eager", "compiled", "autotuned"]
SHARES = [0, 0.8, 1, 1.5, 2]
AIMS = {1: 1.8, 2: 2.5}
# Hazards of facts.json with which a kernel may leave work out, or with which an answer without the work would pass.
DEGENERATE = {
    "abs_output_below_1e-2", "abs_output_below_1e-4", "abs_output_mostly_below_1e-2", "constant_zero_output",
    "conv_collapses_under_spatial_mean", "gemm_collapses_to_gemv", "identity_on_given_inputs",
    "ops_over_size1_dim_are_noops", "output_tail_underflows_to_zero", "output_zero_up_to_rounding",
}  # fmt: skip
FIELDS = ["level", "problem", "status", "ours_ms", "eager_ms", "compiled_ms", "autotuned_ms", "rival", "ratio", "correct",
          "degenerate", "gates", "sanitized", "reference", "ours_error", "eager_error", "compiled_error", "ours_worst", "wrong",
          "wrong_to_eager", "repeats", "samples", "ours_q1", "ours_q3", "eager_q1", "eager_q3", "compiled_q1",
          "compiled_q3", "style", "precision", "launches", "note"]  # fmt: skip


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def degenerate_problems(path):
    """(level, name) of those whose hazards are such; nothing without the file."""
    if path is None:
        return set()
    problems = json.loads(path.read_text())["problems"]
    return {(one["level"], one["name"]) for one in problems if DEGENERATE & set(one["hazards"])}


def judged(times, gates, degenerate):
    """Rows of the table, one for each row of times, by level and number."""
    verdicts = {(row["level"], row["problem"]): row for row in gates}
    rows = []
    for time in times:
        row = {field: time.get(field) or "" for field in FIELDS}
        row["degenerate"] = "yes" if (int(row["level"]), row["problem"]) in degenerate else ""
        verdict = verdicts.get((row["level"], row["problem"]))
        row["gates"] = verdict_words(verdict)
        row["sanitized"] = (verdict or {}).get("sanitized") or ""
        if row["status"] == "timed":
            rivals = {name: float(row[f"{name}_ms"]) for name in RIVALS if row[f"{name}_ms"]}
            row["rival"] = min(rivals, key=rivals.get)
            row["ratio"] = f"{rivals[row['rival']] / float(row['ours_ms']):.3f}"
            row["correct"] = "yes" if float(row["wrong"]) == 0 else "no"
        rows.append(row)
    return sorted(rows, key=lambda row: (int(row["level"]), int(row["problem"].split("_")[0])))


def verdict_words(row):
    if row is None:
        return ""
    if row["status"] == "accepted" and "sanitize" not in row["gates_passed"]:
        return "accepted, not sanitized"
    return " ".join(part for part in (row["status"], row["gate"], row["reason"]) if part)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def fast_p(rows, p, count):
    """KernelBench's: the share of all problems that are right and more than p times as fast."""
    return sum(row["correct"] == "yes" and float(row["ratio"]) > p for row in rows) / count if count else math.nan


def figures(rows, count):
    """Of the rows of one level with `count` problems."""
    right = [row for row in rows if row["correct"] == "yes"]
    every = [float(row["ratio"]) for row in right]
    sound = [float(row["ratio"]) for row in right if not row["degenerate"]]
    return {
        "problems": count,
        "timed": sum(row["status"] == "timed" for row in rows),
        "right": len(right),
        "mean": geometric_mean(every),
        "sound": len(sound),
        "sound_mean": geometric_mean(sound),
        "accepted": sum(row["gates"] == "accepted" for row in rows),
        "unsanitized": sum(row["gates"] == "accepted, not sanitized" for row in rows),
        "judged": sum(row["gates"] != "" for row in rows),
        **{f"fast_{p}": fast_p(rows, p, count) for p in SHARES},
    }


def machine_lines(folder):
    lines = []
    machine = folder / "machine.json"
    if machine.exists():
        lines += [f"{key}: {value}" for key, value in json.loads(machine.read_text()).items()]
    clocks = folder / "clocks.csv"
    if clocks.exists():
        seen = [line.split(", ") for line in clocks.read_text().splitlines() if line.count(",") >= 8]
        if seen:
            rates = sorted(int(line[3].split()[0]) for line in seen)
            lines.append(f"driver: {seen[-1][2]}")
            middle = rates[len(rates) // 2]
            lines.append(f"multiprocessor clock: {rates[0]} to {rates[-1]} MHz, median {middle}, in {len(seen)} looks; "
                         f"highest {seen[-1][5]}; memory {seen[-1][4]}; power limit {seen[-1][6]}")  # fmt: skip
    return lines


def summary_lines(rows, counts):
    found = {level: figures([row for row in rows if int(row["level"]) == level], count) for level, count in counts.items()}
    lines = ["| | " + " | ".join(f"level {level}" for level in found) + " |", "| --- |" + " --- |" * len(found)]

    def line(words, cell):
        lines.append(f"| {words} | " + " | ".join(cell(level, one) for level, one in found.items()) + " |")

    line("problems, timed, right", lambda _, one: f"{one['problems']}, {one['timed']}, {one['right']}")
    line("geometric mean, the best of PyTorch over ours", lambda _, one: f"{one['mean']:.2f}")
    line("aim", lambda level, _: str(AIMS.get(level, "")))
    line("without degenerate problems", lambda _, one: f"{one['sound_mean']:.2f} ({one['sound']})")
    for p in SHARES:
        line(f"right and more than {p} times as fast", lambda _, one, p=p: f"{100 * one[f'fast_{p}']:.0f} %")
    line("accepted by all gates, of those judged", lambda _, one: f"{one['accepted']} of {one['judged']}")
    line("accepted, but not sanitized", lambda _, one: str(one["unsanitized"]))
    return lines


def problem_line(row):
    cells = [f"{row['level']}-{row['problem']}", row["ours_ms"], row["eager_ms"], row["compiled_ms"], row["ratio"],
             row["correct"], row["ours_error"], row["eager_error"], row["gates"], row["note"]]  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def page(rows, counts, machine):
    lines = ["# KernelBench on a GPU", "", *[f"* {line}" for line in machine], "", *summary_lines(rows, counts), ""]
    lines += ["| problem | ours ms | eager ms | compiled ms | ratio | right | error | eager's | gates | note |",
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    return "\n".join(lines + [problem_line(row) for row in rows]) + "\n"


def write(folder, counts, facts):
    """Prints the summary; writes table.csv and page.md. `counts`: how many problems each level has."""
    rows = judged(read(folder / "times.csv"), read(folder / "gates.csv"), degenerate_problems(facts))
    with open(folder / "table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    machine = machine_lines(folder)
    (folder / "page.md").write_text(page(rows, counts, machine))
    print("\n".join([*machine, *summary_lines(rows, counts)]))
    slow = sorted((row for row in rows if row["ratio"]), key=lambda row: float(row["ratio"]))[:15]
    print("\n".join(f"{row['ratio']:>7} {row['level']}-{row['problem']}" for row in slow))
    statuses = collections.Counter(row["status"] for row in rows)
    print(", ".join(f"{count} {status}" for status, count in statuses.items()))
