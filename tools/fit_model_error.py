#!/usr/bin/env python3
"""Learns how far measured training steps lie from predicted ones, from the published runs that nothing was fitted to, and
writes topologies/errors/training.json, on which bands rest (sim/scenario/model_error.hpp says what its numbers mean), and
beside it training_rows.json, the rows that they follow from.

The scale's coefficients are those of the greatest likelihood if errors are Laplace's, none negative; the ends are
conformal quantiles of the errors over the scale. Every family of rows (a source, a machine and a program) weighs the
same: its rows are no independent evidence. What compute times at another batch
than the measured one explain, and numbers of the platform that nothing has settled, is taken off first, in squares. Whether a platform is known is learned with the other
families alone: a row's own says nothing of a reader who has none.

What comparisons err by is learned from the pairs of published runs that `farandole validate --published` lists, each of which
differs in one kind of thing: for each kind within what eight in ten logarithms of measured over predicted ratio lie, the pairs of
two files together weighing the root of their number; of ranks, by the root of the doublings between. Where runs wait for more
than a tenth of a step, it is no less than that of all pairs, of whichever kind, that do. Kinds with few pairs are learned
together. What carrying a step to another device errs by is known from measured devices (tools/kernel_bands.py), and counts where
pairs show less.

It prints, and writes, how the bands do on what they have not seen: each family, and the largest scale of each curve; and
the errors themselves, beside linear scaling's, of hard rows (which linear scaling misses by a tenth) and of the largest
scale of each curve as it follows from the next smaller one.
With --check it writes nothing and exits with 1 where the file is not up to date.
"""

import argparse
import json
import math
import pathlib
import sys

from farandole_process import ROOT, run_program

FILE = ROOT / "topologies" / "errors" / "training.json"
ROWS = FILE.with_name("training_rows.json")
PROBABILITY = 0.8
NAMES = ("floor", "beyond", "doubling", "servers", "other_platform")
WITH_SERVERS = ("parameter_server", "distributed_replicated")
LEAST_SCALE = 1e-4
HARD = 0.1 - 1e-9  # by which linear scaling misses
MUCH = 0.1  # of a step that is not computed
FEW = 8  # pairs, or of one file
KNOWN_OF_DEVICES = {"batch": "bands/batch_doubled", "device": "carried/same_generation", "generation": "carried/other_generation"}
KERNELS = ROOT / "topologies" / "devices" / "kernels" / "fitted.json"


class Row:
    """A published run and its prediction."""

    def __init__(self, point):
        reach = point["reach"]
        self.family = f"{point['family']} on {reach['platform']} by {reach['program']}"  # as error_family() has it
        self.name, self.nodes = point["row"], point["nodes"]
        self.ranks, self.platform, self.program, self.model = point["ranks"], reach["platform"], reach["program"], reach["model"]
        # To as many digits as the file has, so that its numbers follow from its rows.
        self.error = round(math.log(point["measured"] / point["predicted"]), 5)
        self.beyond = round(abs(math.log(point["predicted"] / reach["known_step"])), 5)
        self.doublings = round(max(0.0, math.log2(point["ranks"] / reach["known_ranks"])), 3)
        self.seconds = (point["predicted"], point["measured"])
        self.linear_error = point["null_model_error"]
        self.compute = tuple(round(math.log(end), 5) for end in reach["compute"])

    def features(self, platforms):
        return (1.0, self.beyond, self.doublings, 1.0 if self.program in WITH_SERVERS else 0.0,
                0.0 if self.platform in platforms else 1.0)

    def scaled(self, scale):
        """By how many scales the error exceeds what compute explains of it."""
        end = self.compute[1] if self.error > 0 else self.compute[0]
        rest = math.sqrt(max(0.0, self.error ** 2 - end ** 2))
        return math.copysign(rest / scale, self.error)

    def record(self):
        return {"family": self.family, "row": self.name, "nodes": self.nodes, "platform": self.platform,
                "program": self.program, "model": self.model, "log_measured_over_predicted": self.error,
                "beyond": self.beyond, "doublings": self.doublings, "compute": self.compute, "ranks": self.ranks,
                "predicted_seconds": float(f"{self.seconds[0]:.6g}"), "measured_seconds": float(f"{self.seconds[1]:.6g}"),
                "linear_scaling_error": round(self.linear_error, 5)}


def platforms_of(rows):
    """A network that a scenario changed is like no other."""
    return {row.platform for row in rows if not row.platform.endswith(", changed")}


def weights(rows):
    members = {}
    for row in rows:
        members[row.family] = members.get(row.family, 0) + 1
    return [1 / members[row.family] for row in rows]


def scale_of(coefficients, features):
    return LEAST_SCALE + sum(c * f for c, f in zip(coefficients, features))


def fitted_scale(rows):
    """Coordinate by coordinate, in smaller and smaller steps."""
    features = [row.features(platforms_of(other for other in rows if other.family != row.family)) for row in rows]
    sizes = [abs(row.scaled(1)) for row in rows]
    share = weights(rows)

    def badness(coefficients):
        total = 0.0
        for of_row, size, weight in zip(features, sizes, share):
            scale = scale_of(coefficients, of_row)
            total += weight * (math.log(scale) + size / scale)
        return total

    best, steps = [0.02, 0.1, 0.003, 0.02, 0.02], [1.0] * len(NAMES)
    least = badness(best)
    while max(steps) > 1e-4:
        for place in range(len(NAMES)):
            start = max(best[place], 1e-4)
            for candidate in (start * (1 + steps[place]), start / (1 + steps[place]), 0.0):
                tried = best[:place] + [candidate] + best[place + 1:]
                if badness(tried) < least - 1e-12:
                    best, least = tried, badness(tried)
                    break
            else:
                steps[place] *= 0.7
    return best, [scale_of(best, of_row) for of_row in features]


def conformal_ends(rows, scales):
    """Of scores with weights, as if the next one weighed what these weigh in the mean: the last below the lower tail, and
    the first at which the upper tail begins; zero is between them."""
    scores = sorted(zip((row.scaled(scale) for row, scale in zip(rows, scales)), weights(rows)))
    total = sum(weight for _, weight in scores) * (1 + 1 / len(scores))
    tail, low, high, sum_so_far = (1 - PROBABILITY) / 2, scores[0][0], scores[-1][0], 0.0
    for score, weight in scores:
        sum_so_far += weight
        if sum_so_far <= tail * total + 1e-9:
            low = score
    sum_so_far = 0.0
    for score, weight in scores:
        sum_so_far += weight
        if sum_so_far >= (1 - tail) * total - 1e-9:
            high = score
            break
    return min(low, 0.0), max(high, 0.0)


def learned(rows):
    coefficients, scales = fitted_scale(rows)
    low, high = conformal_ends(rows, scales)
    numbers = dict(zip(NAMES, (round(c, 5) for c in coefficients)))
    return numbers | {"low": math.floor(low * 1000) / 1000, "high": math.ceil(high * 1000) / 1000,
                      "platforms": sorted(platforms_of(rows))}


def band(row, spread):
    scale = LEAST_SCALE + sum(spread[name] * f for name, f in zip(NAMES, row.features(spread["platforms"])))
    return (-math.hypot(row.compute[0], spread["low"] * scale), math.hypot(row.compute[1], spread["high"] * scale))


def groups(rows):
    return {"several_nodes": [row for row in rows if row.nodes > 1], "one_node": [row for row in rows if row.nodes == 1]}


def all_learned(rows):
    return {name: learned(members) for name, members in groups(rows).items()}


def families_out(rows):
    """Each row of several nodes, and its band from the other families."""
    pairs = []
    for family in sorted({row.family for row in rows}):
        spread = learned([row for row in rows if row.family != family])
        pairs += [(row, band(row, spread)) for row in rows if row.family == family]
    return pairs


def curves_of(rows):
    """Rows that differ in the number of ranks alone."""
    curves = {}
    for row in rows:
        curves.setdefault((row.family, row.platform, row.program, *row.name.split(", ")[0::2]), []).append(row)
    return list(curves.values())


def scales_out(rows):
    """The largest scale of each curve, from all other rows, the smaller scales of the curve among them."""
    pairs = []
    for curve in curves_of(rows):
        most = max(row.ranks for row in curve)
        largest = [row for row in curve if row.ranks == most]
        if len(largest) == len(curve):
            continue
        spread = learned([row for row in rows if row not in largest])
        pairs += [(row, band(row, spread)) for row in largest]
    return pairs


def median(values):
    ordered = sorted(values)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def how_well(pairs):
    inside = sum(low <= row.error <= high for row, (low, high) in pairs)
    width = median(math.exp(high) - math.exp(low) for _, (low, high) in pairs)
    error = median(abs(math.exp(-row.error) - 1) for row, _ in pairs)
    return {"rows": len(pairs), "inside": round(inside / len(pairs), 3), "median_width": round(width, 4),
            "median_error": round(error, 4), "width_over_error": round(width / error, 2)}


def summary(errors, linear):
    """Of signed errors, beside those of linear scaling."""
    sizes = sorted(map(abs, errors))
    skill = median(sizes) / median(list(map(abs, linear)))
    return {"rows": len(sizes), "median_error": round(median(sizes), 4), "ninth_decile": round(sizes[math.ceil(0.9 * len(sizes)) - 1], 4),
            "bias": round(median(errors), 4), "linear_scaling": round(median(list(map(abs, linear))), 4), "skill": round(skill, 3)}


def errors_from_smaller_scales(rows):
    """The largest scale of each curve as the next smaller one says it: linear scaling from there, and the simulator's ratio
    of the two steps, so that what it misses at the smaller scale is taken off."""
    errors, linear = [], []
    for curve in curves_of(rows):
        curve.sort(key=lambda row: row.ranks)
        large = curve[-1]
        smaller = [row for row in curve if row.ranks < large.ranks]
        if not smaller or large.nodes == 1:
            continue
        small = smaller[-1]
        errors.append(math.expm1(small.error - large.error))
        linear.append(small.seconds[1] / large.seconds[1] - 1)
    return summary(errors, linear)


class Pair:
    """Two published runs that differ in one kind of thing."""

    def __init__(self, pair):
        self.kind, self.much, self.ranks = pair["kind"], pair["waiting"] > MUCH, pair["ranks"]
        self.families = frozenset(pair[end].split(":")[0] for end in ("from", "to"))
        doublings = abs(math.log2(pair["devices"]))
        self.apart = abs(math.log(pair["measured_ratio"] / pair["predicted_ratio"])) / math.sqrt(max(1.0, doublings))


def is_enough(pairs):
    return len(pairs) >= FEW and len({pair.families for pair in pairs}) > 1


def apart(pairs):
    """Within what PROBABILITY of the errors lie. Pairs of two files are neither independent nor one: together they weigh the root
    of their number."""
    members = {}
    for pair in pairs:
        members[pair.families] = members.get(pair.families, 0) + 1
    total, so_far = sum(math.sqrt(count) for count in members.values()), 0.0
    for pair in sorted(pairs, key=lambda pair: pair.apart):
        so_far += 1 / math.sqrt(members[pair.families]) / total
        if so_far >= PROBABILITY - 1e-9:
            return pair.apart
    raise AssertionError("some pair is the last one")


def kind_errors(pairs):
    kinds = {}
    for pair in pairs:
        kinds.setdefault(pair.kind, []).append(pair)
    few = [pair for members in kinds.values() if not is_enough(members) for pair in members]
    waiting = [pair for pair in pairs if pair.much]  # so few that they count for all kinds
    much = apart(waiting) if waiting else 0.0
    kernels = json.loads(KERNELS.read_text())
    found = {}
    for kind, members in sorted((kinds | {"other": few or pairs}).items()):
        if kind != "other" and not is_enough(members):
            continue
        little = apart([pair for pair in members if not pair.much] or members)
        found[kind] = {"little": little, "much": max(little, much),
                       "pairs": len(members), "files": len(frozenset().union(*(pair.families for pair in members))),
                       "fitted": "pairs of scenarios/published" if kind != "other" else
                       "pairs of scenarios/published of all kinds with few: " + ", ".join(sorted({pair.kind for pair in members}))}
    for kind, name in KNOWN_OF_DEVICES.items():
        part, number = name.split("/")
        known = math.log(kernels[part][number])
        if found.get(kind, {"little": 0})["little"] < known:
            found[kind] = {"little": known, "much": max(known, much), "pairs": 0, "files": 0,
                           "fitted": f"measured devices: /{name} of topologies/devices/kernels/fitted.json"}
    return {kind: {key: round(value, 4) if isinstance(value, float) else value for key, value in spread.items()}
            for kind, spread in found.items()}


def differences(pairs):
    families = sorted(frozenset().union(*(pair.families for pair in pairs)))
    others = {family: kind_errors([pair for pair in pairs if family not in pair.families]) for family in families}
    return {"much": MUCH, "largest_ranks": max(pair.ranks for pair in pairs), "kinds": kind_errors(pairs),
            "without": {family: {kind: {end: spread[end] for end in ("little", "much")} for kind, spread in kinds.items()}
                        for family, kinds in others.items()}}


def errors_of(rows):
    return summary([math.expm1(-row.error) for row in rows], [row.linear_error for row in rows])


def contents(rows, pairs):
    several = groups(rows)["several_nodes"]
    families = sorted({row.family for row in rows})
    return {
        "comment": "Written by tools/fit_model_error.py from training_rows.json; sim/scenario/model_error.hpp says what the numbers mean.",
        "probability": PROBABILITY,
        "differences": differences(pairs),
        "all": all_learned(rows),
        "without": {family: all_learned([row for row in rows if row.family != family]) for family in families},
        "held_out": {"one_family": how_well(families_out(several)), "largest_scale": how_well(scales_out(several))},
        "errors": {"several_nodes": errors_of(several), "hard_rows": errors_of([row for row in several if abs(row.linear_error) >= HARD]),
                   "largest_from_smaller_scale": errors_from_smaller_scales(rows)},
        "rows": [row.record() for row in rows],
    }


def as_texts(found):
    """Of both files; one line for each family and each row."""
    def lines(items):
        return ",\n  ".join(items)

    of_families = lines(f"{json.dumps(family)}: {json.dumps(spread)}" for family, spread in found["without"].items())
    parts = [f'"{name}": {json.dumps(found[name])}' for name in ("comment", "probability", "all", "held_out", "errors")]
    found_apart = found["differences"]
    kinds, others = (lines(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in found_apart[part].items()) for part in ("kinds", "without"))
    numbers = ", ".join(f'"{name}": {found_apart[name]}' for name in ("much", "largest_ranks"))
    parts.append(f'"differences": {{ {numbers},\n  "kinds": {{\n  {kinds}\n  }},\n  "without": {{\n  {others}\n  }}\n }}')
    parts.append(f'"without": {{\n  {of_families}\n }}')
    rows = f'"comment": "What training.json is from; pages of platforms without published runs show it.",\n "rows": [\n  {lines(map(json.dumps, found["rows"]))}\n ]'
    return {FILE: "{\n " + ",\n ".join(parts) + "\n}\n", ROWS: "{\n " + rows + "\n}\n"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="say whether the file is up to date")
    arguments = parser.parse_args()
    printed = run_program(["validate", "--published"])
    points = printed["points"]
    rows = [Row(point) for point in points if point["op"] == "training" and point["counted"]]
    found = contents(rows, [Pair(pair) for pair in printed["ratios"]["pairs"]])
    texts = as_texts(found)
    stale = [file for file, text in texts.items() if not file.exists() or file.read_text() != text]
    for name, figures in found["held_out"].items():
        print(f"{name}: {100 * figures['inside']:.0f} % of {figures['rows']} rows are inside; width {100 * figures['median_width']:.1f} %, "
              f"{figures['width_over_error']} times the median error")
    for name, figures in found["errors"].items():
        print(f"{name}: {figures}")
    print(f"{FILE}: " + ("up to date" if not stale else "not up to date" if arguments.check else "changed"))
    if arguments.check and stale:
        sys.exit(1)
    for file in stale:
        file.parent.mkdir(exist_ok=True)
        file.write_text(texts[file])


if __name__ == "__main__":
    main()
