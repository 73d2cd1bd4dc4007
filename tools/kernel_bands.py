"""How far measured steps lie from estimates that have not seen them: the bands that tools/fit_kernels.py writes.

A band is what a step takes over what it was estimated to take, from the 10th to the 90th percentile of the errors that
were left out, with the ranks of conformal prediction (Vovk, Gammerman, Shafer, 2005): of n errors the floor(0.1 (n + 1))th
and the ceil(0.9 (n + 1))th. It holds the estimate itself, and an estimate with less to go on has no narrower one.
"""

import collections
import itertools
import json
import math
import re

PROBABILITY = 0.8
KINDS = ("model", "family", "precision", "device", "generation")  # each knows less than the one before


def band_of(errors):
    ratios = sorted(math.exp(-error) for error in errors)
    tail = (1 - PROBABILITY) / 2
    low = max(1, math.floor(tail * (len(ratios) + 1)))
    high = min(len(ratios), math.ceil((1 - tail) * (len(ratios) + 1)))
    return [min(1.0, ratios[low - 1]), max(1.0, ratios[high - 1])]


def bands_of(errors, batches):
    bands, before = {"probability": PROBABILITY}, [1.0, 1.0]
    for kind in KINDS:
        own = band_of(errors[kind].values())
        before = [min(before[0], own[0]), max(before[1], own[1])]
        bands[kind] = before
    bands["constant_share"] = band_of(errors["constant_share"].values())
    bands = {name: band if name == "probability" else [float(f"{end:.3g}") for end in band] for name, band in bands.items()}
    sizes = sorted(map(abs, batches))
    rank = min(len(sizes), math.ceil(PROBABILITY * (len(sizes) + 1)))
    outward = math.ceil(1000 * math.exp(sizes[rank - 1])) / 1000  # the row at the rank is inside
    return bands | {"batch_doubled": outward, "families": list(FAMILIES)}


def constant_share_errors(rows, roofline):
    """Of a share of the roofline that is the same for all other models of the device in that precision."""
    errors = {}
    for row in rows:
        others = [math.log(other.seconds / roofline(other)) for other in rows
                  if (other.device, other.precision) == (row.device, row.precision) and other.model != row.model]
        if others:
            errors[row] = sum(others) / len(others) + math.log(roofline(row) / row.seconds)
    return errors


def other_batch_errors(folder, estimate):
    """Of a measured step scaled to another batch of the same program by the estimate, for each doubling between them."""
    errors = []
    for file in sorted(folder.glob("*.json")):
        device = json.loads(file.read_text())
        if "generation" in device:
            errors += errors_of_pairs(device, estimate)
    return errors


def errors_of_pairs(device, estimate):
    rows = [row for row in device["measurements"] if "batch" in row and "outside_fit" not in row]
    alike = lambda a, b: all(a[key] == b[key] for key in ("set", "model", "variant", "precision"))
    step = lambda row: row["batch"] / row["samples_per_second"]
    errors = []
    for i, row in enumerate(rows):
        for other in rows[:i] + rows[i + 1:]:
            if alike(row, other) and row["batch"] != other["batch"]:
                expected = step(other) * estimate(as_row(device, row)) / estimate(as_row(device, other))
                errors.append(math.log(expected / step(row)) / abs(math.log2(row["batch"] / other["batch"])))
    return errors


FAMILIES = ("bert", "gpt", "inception", "llama", "mpt", "resne", "vgg")
MACHINES = re.compile(r"-(dgx|aws|gce|piz-daint).*|-v[0-9.]+(?=-node)")  # what a set is called by, behind its program


def family_of(model):
    return next((family for family in FAMILIES if family in model), model)


def carried_errors(folder, estimate):
    """{kind: [(which two, error)]} of steps of one program on two devices in one precision, or in two precisions on one
    device, a sample at a batch up to twice the other's: measured ratio over the estimates' ratio, as a logarithm."""
    rows = []
    for file in sorted(folder.glob("*.json")):
        device = json.loads(file.read_text())
        if "generation" in device:
            rows += [(device, row) for row in device["measurements"] if "batch" in row and "outside_fit" not in row]
    errors = {"same_generation": [], "other_generation": [], "precision": []}
    for (one, row), (two, other) in itertools.combinations(rows, 2):
        if any(row.get(key) != other.get(key) for key in ("model", "variant", "normalisation")):
            continue
        moved, converted = one["name"] != two["name"], row["precision"] != other["precision"]
        is_pair = row["set"] == other["set"] if converted else MACHINES.sub("", row["set"]) == MACHINES.sub("", other["set"])
        if not is_pair or moved == converted or abs(math.log2(row["batch"] / other["batch"])) > 1:
            continue
        kind = "precision" if converted else "same_generation" if one["generation"] == two["generation"] else "other_generation"
        sample = lambda device, row: 1 / (row["samples_per_second"] * estimate(as_row(device, row)) / row["batch"])
        which = frozenset((device["generation"] if kind == "other_generation" else device["name"], row["precision"])
                          for device, row in ((one, row), (two, other)))
        errors[kind].append((which, math.log(sample(one, row) / sample(two, other))))
    return errors


def carried_factors(errors):
    """Within which factor, either way, eight of ten lie, where all pairs of two devices together count as much as others'."""
    factors = {}
    for kind, pairs in errors.items():
        count = collections.Counter(which for which, _ in pairs)
        seen = 0
        for size, which in sorted(((abs(error), which) for which, error in pairs), key=lambda pair: pair[0]):
            seen += 1 / count[which] / len(count)
            if seen >= PROBABILITY:
                factors[kind] = math.ceil(1000 * math.exp(size)) / 1000
                break
    return factors


class as_row:
    """A measured row as the fit reads it."""

    def __init__(self, device, row):
        self.device, self.model, self.variant = device["name"], row["model"], row["variant"]
        self.precision, self.batch = row["precision"], row["batch"]
        self.normalisation = row.get("normalisation", "separate")
