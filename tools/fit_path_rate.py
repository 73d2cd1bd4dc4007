#!/usr/bin/env python3
"""Fits the one number of the Horovod clusters that may be fitted: the host rate C of the path between nodes.

    1/B = 1/NIC + 1/C

C is what makes the predicted step times of the published 16-GPU rows (scenarios/published/horovod-2017-16gpu.json)
differ least from the published ones, in relative squares, one C per transport. Nothing else is touched. Step times are
means over ten seeds, so that the luck of when Horovod's passes fall does not move the minimum. The curve around it is
printed too: it shows how well, or how badly, the rows identify the rate.
"""

import json
import math

from farandole_process import ROOT, run_points

SCENARIO = ROOT / "scenarios" / "horovod-512-roce25.json"
PUBLISHED = ROOT / "scenarios" / "published" / "horovod-2017-16gpu.json"
NIC = 25e9 / 8
RATES = [0.5e9 * 1.1**k for k in range(40)]  # bytes per second of the host, 0.5 to 20 GB/s


SEEDS = list(range(1, 11))


def step_errors(rows, host_rate):
    """Relative error of the predicted step time of each row."""
    points = run_points(
        SCENARIO,
        {
            "/sweep": {"/workload/model": [row["model"] for row in rows], "/measure/seed": SEEDS},
            "/platform/topology": rows[0]["topology"],
            "/platform/ranks": 16,
            "/platform/override": {"/node/nic/host_rate": f"{host_rate / 1e9:.6f} GB/s"},
        },
        fidelity="analytic",
    )
    seconds = [point["iteration_seconds"] / point["ranks"] / point["batch_per_rank"] for point in points]
    means = [sum(seconds[i : i + len(SEEDS)]) / len(SEEDS) for i in range(0, len(seconds), len(SEEDS))]
    return [row["images_per_second"] * mean - 1 for row, mean in zip(rows, means)]


def loss(rows, host_rate):
    return sum(error**2 for error in step_errors(rows, host_rate))


def golden_section(function, low, high, rounds=30):
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(rounds):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if function(left) < function(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def fit(transport, rows):
    losses = [loss(rows, rate) for rate in RATES]
    best = min(range(len(RATES)), key=losses.__getitem__)
    low, high = RATES[max(best - 1, 0)], RATES[min(best + 1, len(RATES) - 1)]
    host_rate = math.exp(golden_section(lambda x: loss(rows, math.exp(x)), math.log(low), math.log(high)))
    path = 1 / (1 / NIC + 1 / host_rate)
    print(f"{transport}: host rate C = {host_rate / 1e9:.2f} GB/s, path rate B = {path / 1e9:.2f} GB/s"
          + (" (at the end of the range: not identified)" if best in (0, len(RATES) - 1) else ""))
    for row, error in zip(rows, step_errors(rows, host_rate)):
        print(f"  {row['model']:<14} published {row['images_per_second']:>7.1f} images/s, step time {100 * error:+.1f} %")
    print("  root mean square error of step time against C:")
    for rate, value in list(zip(RATES, losses))[::4]:
        print(f"    C {rate / 1e9:>6.2f} GB/s   B {1e-9 / (1 / NIC + 1 / rate):.2f} GB/s   {100 * math.sqrt(value / len(rows)):.1f} %")


def main():
    rows = json.loads(PUBLISHED.read_text())["rows"]
    for transport in dict.fromkeys(row["transport"] for row in rows):
        fit(transport, [row for row in rows if row["transport"] == transport])


if __name__ == "__main__":
    main()
