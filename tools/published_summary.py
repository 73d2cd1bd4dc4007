#!/usr/bin/env python3
"""Prints the summary of `farandole validate --published` as a Markdown table, by family.

With --write FILE it replaces what stands between the lines `<!-- published summary: begin -->` and
`<!-- published summary: end -->` of that file, and says whether anything changed; --check changes nothing and exits with 1
where the file is not up to date. Families without a counted row are left out.
"""

import argparse
import pathlib
import sys

from farandole_process import run_program

BEGIN = "<!-- published summary: begin -->"
END = "<!-- published summary: end -->"


def percent(fraction):
    return "" if fraction is None else f"{100 * fraction:.1f} %"


def quantile(sizes, share):
    """Between neighbours by interpolation, as the program's own summary has it."""
    place = share * (len(sizes) - 1)
    below = int(place)
    above = min(below + 1, len(sizes) - 1)
    return sizes[below] + (place - below) * (sizes[above] - sizes[below])


def row(name, points):
    sizes = sorted(abs(point["error"]) for point in points)
    null = sorted(abs(point["null_model_error"]) for point in points if point["null_model_error"] is not None)
    cells = [name, str(len(sizes)), percent(quantile(sizes, 0.5)), percent(quantile(sizes, 0.9)), percent(sizes[-1]),
             percent(quantile(null, 0.5)) if null else ""]
    return "| " + " | ".join(cells) + " |"


def table(points):
    counted = [point for point in points if point["counted"]]
    lines = ["| family | counted rows | median | 90th percentile | worst | linear-scaling baseline |", "|---|---:|---:|---:|---:|---:|"]
    training = [point for point in counted if point["op"] == "training"]
    if training:
        lines.append(row("**all training**", training))
    for family in sorted({point["family"] for point in counted}):
        lines.append(row(f"`{family}`", [point for point in counted if point["family"] == family]))
    return "\n".join(lines)


def replaced(text, block, name):
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        sys.exit(f"{name}: expected the lines {BEGIN} and {END}")
    return text[: begin + len(BEGIN)] + "\n\n" + block + "\n\n" + text[end:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path, help="put the table into this file")
    parser.add_argument("--check", metavar="FILE", type=pathlib.Path, help="say whether this file has the table")
    arguments = parser.parse_args()
    block = table(run_program(["validate", "--published"])["points"])
    target = arguments.write or arguments.check
    if target is None:
        print(block)
        return
    before = target.read_text()
    after = replaced(before, block, target)
    if arguments.write:
        target.write_text(after)
    print(f"{target}: " + ("up to date" if after == before else "changed" if arguments.write else "not up to date"))
    if arguments.check and after != before:
        sys.exit(1)


if __name__ == "__main__":
    main()
