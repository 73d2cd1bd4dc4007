#!/usr/bin/env python3
"""Prints what is predicted for MPI over Cray's Aries beside what was measured on Theta and Piz Daint, with the errors.

Point to point: one message between two nodes is a broadcast to one rank. Collectives: what the topology's library chooses;
on Theta one number, the processor's time for a message, is fitted to these rows. Without its own operation each is predicted by

    farandole validate scenarios/published/collectives/theta-48nodes.json --topology theta --hold-out operations
"""

import json
import subprocess
import sys

from farandole_process import PROGRAM, ROOT

PUBLISHED = ROOT / "scenarios" / "published"


def seconds(topology, operation, algorithm, ranks, size, fidelity="message"):
    command = [str(PROGRAM), "collective", "--topology", topology, "--ranks", str(ranks), "--op", operation]
    command += ["--algorithm", algorithm, "-b", str(size), "-e", str(size), "--fidelity", fidelity, "--format", "json"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{finished.stderr.strip()}")
    return json.loads(finished.stdout)["points"][0]["seconds"]


def message(topology, size):
    return seconds(topology, "broadcast", "binomial", 2, max(size, 1))


def within(errors):
    return sum(abs(error) <= 0.15 for error in errors)


def injection_rate(topology):
    """GB/s that all streams of a node together can reach."""
    nic = json.loads((ROOT / "topologies" / f"{topology}.json").read_text())["node"]["nic"]
    return float(nic["rate"].split(" ")[0])


def compare_bandwidth(table):
    most = injection_rate(table["topology"])
    print(f"{table['topology']}: bandwidth between two nodes, GB/s\n")
    print("     bytes   1 pair: published predicted   error   64 pairs: published predicted   error")
    errors = {1: [], 64: []}
    for size, one, many in zip(table["bytes"], table["one_pair"], table["sixty_four_pairs"]):
        predicted = size / message(table["topology"], size) / 1e9
        together = min(64 * predicted, most)
        errors[1].append(predicted / one - 1)
        errors[64].append(together / many - 1)
        print(f"{size:10d}   {one:17.2f} {predicted:9.2f} {errors[1][-1]:+7.1%}"
              f"   {many:19.2f} {together:9.2f} {errors[64][-1]:+7.1%}")
    for pairs, list_of in errors.items():
        print(f"{pairs} pairs: {within(list_of)} of {len(list_of)} rows within 15 %")


def compare_latency(table):
    print(f"\n{table['topology']}: time of one message, us\n")
    print("     bytes   published predicted   error")
    errors = []
    for size, published in zip(table["bytes"], table["microseconds"]):
        predicted = message(table["topology"], size) * 1e6
        errors.append(predicted / published - 1)
        print(f"{size:10d}   {published:9.2f} {predicted:9.2f} {errors[-1]:+7.1%}")
    print(f"{within(errors)} of {len(errors)} rows within 15 %")


def compare_collectives(table):
    print(f"\n{table['topology']}: collectives, one process a node, us\n")
    print("operation      bytes   nodes   measured predicted   error")
    errors = []
    for row in table["points"]:
        size = max(row["bytes"], 4)
        predicted = seconds(table["topology"], row["op"], row["algorithm"], row["ranks"], size)
        errors.append(abs(predicted / row["seconds"] - 1))
        print(f"{row['op']:10s} {row['bytes']:9d} {row['nodes']:7d} {row['seconds'] * 1e6:10.1f} {predicted * 1e6:9.1f}"
              f" {predicted / row['seconds'] - 1:+7.1%}")
    print(f"median error {sorted(errors)[len(errors) // 2]:.1%}")


def compare_alltoall(table):
    """Blocks are those from one rank to one other; the library is the topology's."""
    print(f"\n{table['topology']}: alltoall, us\n")
    print("     block   nodes   published predicted   error")
    errors = []
    for row in table["rows"]:
        size = row["bytes"] * row["nodes"]
        predicted = seconds(table["topology"], "alltoall", "library", row["nodes"], size, "flow") * 1e6
        errors.append(abs(predicted / row["microseconds"] - 1))
        print(f"{row['bytes']:10d} {row['nodes']:7d} {row['microseconds']:11.2f} {predicted:9.2f}"
              f" {predicted / row['microseconds'] - 1:+7.1%}")
    print(f"median error {sorted(errors)[len(errors) // 2]:.1%}")


def main():
    point_to_point = json.loads((PUBLISHED / "aries-point-to-point.json").read_text())
    compare_bandwidth(point_to_point["theta_bandwidth"])
    compare_latency(point_to_point["piz_daint_latency"])
    compare_collectives(json.loads((PUBLISHED / "collectives" / "theta-48nodes.json").read_text()))
    compare_alltoall(json.loads((PUBLISHED / "piz-daint-alltoall.json").read_text()))


if __name__ == "__main__":
    main()
