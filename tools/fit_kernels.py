#!/usr/bin/env python3
"""Fits how fast generations of GPUs run the kernels of training, to every throughput in topologies/devices/.

    tools/fit_kernels.py            # prints the fit and its errors, leaving out models and devices in turn
    tools/fit_kernels.py --write    # and writes topologies/devices/kernels/{fitted,held_out}.json, in a minute

The step time of a model is the sum of its kernels' (sim/workload/kernels.hpp has the same formulas; a test compares).
What is fitted are logarithms of a few shares and constants, common to all models, and by which factor a generation
differs from them; never a number of one model. Rows of the same device, model, precision and batch, from different
programs, are one row, their geometric mean. The sum of squares of log(predicted / measured), in units of SIGMA and
Huber's beyond 1.5 of them (old programs are up to twice as slow as others), is least with priors that keep what
the rows do not say where it was:
"""

import argparse
import collections
import functools
import json
import math

from kernel_bands import bands_of, carried_errors, carried_factors, constant_share_errors, family_of, other_batch_errors
from kernel_rows import DEVICES, load_model, load_rows, TILE

SIGMA, OUTLIER = 0.15, 1.5
GENERATION_SPREAD = 0.3
# name: (value expected before any row is seen, standard deviation of its logarithm)
PRIORS = {
    "tail": (0.5, 0.5),  # waves of tiles: the last one is half full in the mean (wave quantisation, the same guide)
    "launch": (4.0, 0.2),  # us; a short kernel and the gap before the next, NVIDIA, Getting started with CUDA Graphs, 2019
    "memory": (0.8, 0.5), "pointwise": (1.0, 0.5), "fast_filters": (2.25, 0.2),  # F(2x2, 3x3): Lavin and Gray, CVPR 2016
    "vector_convolution": (0.7, 0.5), "vector_matmul": (0.7, 0.5),
    "vector_convolution_half": (10.0, 0.7), "vector_matmul_half": (20.0, 0.7),
    "tensor16_convolution": (0.7, 0.5), "tensor16_matmul": (0.7, 0.5),
    "tensor_convolution_half": (40.0, 0.7), "tensor_matmul_half": (100.0, 0.7),
    "tensor32_convolution": (0.6, 0.3), "tensor32_matmul": (0.6, 0.3),
}
BY_GENERATION = ("memory", "vector_convolution", "vector_matmul", "tensor_convolution", "tensor_matmul")
WITHOUT_TENSOR_UNITS = ("kepler", "pascal")



def unit_of(device, precision):
    if precision == "fp32" or device["generation"] in WITHOUT_TENSOR_UNITS:
        return "vector"
    return "tensor32" if precision == "tf32" else "tensor16"


Work = collections.namedtuple("Work", "launches update moved products tiles")


def tile_flops(k, batch):
    """Of one tile of the pass forward, and of one of the gradient by the inputs."""
    return sum(2 * min(TILE, places * batch) * min(TILE, columns) * products for places, columns, products in k.tiles)


@functools.lru_cache(maxsize=None)
def work_of(model, variant, normalisation, precision, batch):
    """What a step has to do, whatever the rates: what is alike is summed up, as a fit asks for it thousands of times."""
    kernels, parameters, tensors = load_model(model, variant, normalisation)
    size = 4 if precision in ("fp32", "tf32") else 2
    launches, moved, tiles = tensors, collections.Counter(), collections.Counter()
    products = collections.Counter()
    for k, count in kernels:
        launches += count * k.passes
        if k.kind in ("convolution", "matmul"):
            data = (k.forward * batch + k.weights) * size
            products[k.kind, k.fast, k.intensity, 2 * k.macs * batch, data] += count * k.passes
            tiles[k.kind, k.fast] += count * tile_flops(k, batch)
        else:
            moved[k.kind] += count * (k.forward + (k.backward if k.passes > 1 else 0)) * batch * size
    return Work(launches, 20.0 * parameters, moved, list(products.items()), tiles)


def terms(row, device, logs):
    """The parts of a step's time, each with what it changes by as the logarithms of constants do."""
    work = work_of(row.model, row.variant, row.normalisation, row.precision, row.batch)
    unit = unit_of(device, row.precision)
    family = "vector" if unit == "vector" else "tensor"
    generation = device["generation"]
    names = {kind: (f"{unit}_{kind}", f"{generation}:{family}_{kind}") for kind in ("convolution", "matmul")}
    names["memory"] = ("memory", f"{generation}:memory")
    value = {kind: math.exp(sum(logs.get(name, 0.0) for name in both)) for kind, both in names.items()}
    slower = {kind: dict.fromkeys(both, -1.0) for kind, both in names.items()}
    memory, peak = device["bandwidth"] * value["memory"], device["peak"][row.precision]
    found = [(work.launches * math.exp(logs["launch"]) * 1e-6, {"launch": 1.0}),
             ((work.update + work.moved["memory"]) / memory, slower["memory"]),
             (work.moved["pointwise"] / (memory * math.exp(logs["pointwise"])), slower["memory"] | {"pointwise": -1.0})]
    quick = {False: (1.0, {}), True: (math.exp(logs["fast_filters"]), {"fast_filters": -1.0}) if unit == "vector" else (1.0, {})}
    half = {kind: math.exp(logs[f"{family}_{kind}_half"]) for kind in ("convolution", "matmul")}
    for (kind, fast, intensity, flops, data), passes in work.products:
        unused = half[kind] / (intensity + half[kind])
        arithmetic, moving = flops / (peak * value[kind] * (1 - unused) * quick[fast][0]), data / memory
        found.append((passes * moving, slower["memory"]) if moving > arithmetic else
                     (passes * arithmetic, slower[kind] | quick[fast][1] | {f"{family}_{kind}_half": unused}))
    for (kind, fast), flops in work.tiles.items():
        full = peak * value[kind] * quick[fast][0] / device["multiprocessors"]
        found.append((math.exp(logs["tail"]) * flops / full, slower[kind] | quick[fast][1] | {"tail": 1.0}))
    return found


def step_time(row, device, logs):
    return sum(time for time, _ in terms(row, device, logs))


def solve(matrix, right):
    size = len(right)
    rows = [matrix[i] + [right[i]] for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, size):
            factor = rows[r][i] / rows[i][i]
            if factor:
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    result = [0.0] * size
    for i in reversed(range(size)):
        result[i] = (rows[i][size] - sum(rows[i][c] * result[c] for c in range(i + 1, size))) / rows[i][i]
    return result


def fit(rows, devices, start=None):
    generations = sorted({device["generation"] for device in devices.values()} & {devices[r.device]["generation"] for r in rows})
    names = list(PRIORS) + [f"{g}:{p}" for g in generations for p in BY_GENERATION
                            if not (p.startswith("tensor") and g in WITHOUT_TENSOR_UNITS)]
    prior = [(math.log(PRIORS[n][0]), PRIORS[n][1]) if n in PRIORS else (0.0, GENERATION_SPREAD) for n in names]
    logs = {name: (start or {}).get(name, mean) for name, (mean, _) in zip(names, prior)}
    place = {name: i for i, name in enumerate(names)}
    for _ in range(30):
        matrix = [[0.0] * len(names) for _ in names]
        right = [0.0] * len(names)
        for row in rows:
            parts = terms(row, devices[row.device], logs)
            total = sum(time for time, _ in parts)
            error = math.log(total / row.seconds)
            weight = 1 / SIGMA**2 * min(1.0, OUTLIER * SIGMA / max(abs(error), 1e-12))
            share = collections.Counter()
            for time, slopes in parts:
                for name, slope in slopes.items():
                    share[name] += slope * time / total
            slope = [(place[name], a) for name, a in share.items() if name in place]
            for i, a in slope:
                right[i] -= weight * a * error
                for j, b in slope:
                    matrix[i][j] += weight * a * b
        for i, (mean, spread) in enumerate(prior):
            matrix[i][i] += 1 / spread**2
            right[i] -= (logs[names[i]] - mean) / spread**2
        change = solve(matrix, right)
        largest = max(map(abs, change))
        for name, value in zip(names, change):
            logs[name] += value * min(1.0, 0.5 / largest)
        if largest < 1e-4:
            break
    return logs, generations


def as_file(logs, generations, bands, count):
    value = lambda name: float(f"{math.exp(logs.get(name, 0.0)):.4g}")

    def math_rates(unit):
        family = "vector" if unit == "vector" else "tensor"
        return {"convolution": value(f"{unit}_convolution"), "convolution_half": value(f"{family}_convolution_half"),
                "matmul": value(f"{unit}_matmul"), "matmul_half": value(f"{family}_matmul_half")}

    return {
        "$schema": "../../../sim/config/schemas/kernels.schema.json",
        "summary": "How fast generations of GPUs run the kernels of training, as shares of the devices' peaks.",
        "source": f"A fit to the {count} measured steps of topologies/devices/*.json whose device has a generation.",
        "command": "tools/fit_kernels.py --write",
        "launch": f"{value('launch')} us", "tail": value("tail"), "memory": value("memory"), "pointwise": value("pointwise"),
        "fast_filters": value("fast_filters"), "vector": math_rates("vector"), "tensor16": math_rates("tensor16"),
        "tensor32": math_rates("tensor32"), "bands": bands,
        "generations": {g: {"tensor_units": g not in WITHOUT_TENSOR_UNITS} | {p: value(f"{g}:{p}") for p in BY_GENERATION}
                        for g in generations}}


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else float("nan")


def describe(title, errors):
    sizes = [math.exp(abs(e)) - 1 for e in errors]
    print(f"{title:<44} {len(sizes):>4} steps, median {100 * quantile(sizes, 0.5):5.1f} %, four of five within "
          f"{100 * quantile(sizes, 0.8):5.1f} %, worst {100 * max(sizes):6.1f} %, mean {100 * (math.exp(sum(errors) / len(errors)) - 1):+.1f} %")
    return sizes


def leave_out(rows, devices, key, title, start):
    """Errors of every row, and the fit without its model or device."""
    errors, fits = {}, {}
    for left in sorted({key(row) for row in rows}):
        logs, generations = fit([row for row in rows if key(row) != left], devices, start)
        fits[left] = (logs, generations)
        own = {row: math.log(step_time(row, devices[row.device], logs) / row.seconds) for row in rows if key(row) == left}
        describe(f"  without {left}", list(own.values()))
        errors |= own
    return describe(title, list(errors.values())), errors, fits


def leave_out_each(rows, devices, start, title, same):
    """Errors of every row, by fits without its model and without the rows for which same(row, other) holds."""
    fits, errors = {}, {}
    for row in rows:
        kept = tuple(other for other in rows if other.model != row.model and not same(row, other))
        if kept not in fits:
            fits[kept] = fit(kept, devices, start)[0]
        errors[row] = math.log(step_time(row, devices[row.device], fits[kept]) / row.seconds)
    describe(title, list(errors.values()))
    return errors


def errors_without(model, rows, devices, start):
    """Errors of all other models' rows, each by a fit that has seen neither its own model nor `model`."""
    kept = [row for row in rows if row.model != model]
    errors = {}
    for left in sorted({row.model for row in kept}):
        logs, _ = fit([row for row in kept if row.model != left], devices, start)
        errors |= {row: math.log(step_time(row, devices[row.device], logs) / row.seconds) for row in kept if row.model == left}
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write fitted.json and held_out.json")
    arguments = parser.parse_args()
    devices, rows = load_rows()
    logs, generations = fit(rows, devices)
    print(f"{'device':<15}{'model':<18}{'variant':<19}{'prec':<6}{'batch':>5}{'measured ms':>13}{'fitted':>10}{'error':>9}  rows, spread")
    errors = [math.log(step_time(row, devices[row.device], logs) / row.seconds) for row in rows]
    for row, error in zip(rows, errors):
        print(f"{row.device:<15}{row.model:<18}{row.variant:<19}{row.precision:<6}{row.batch:>5}{1e3 * row.seconds:>13.2f}"
              f"{1e3 * row.seconds * math.exp(error):>10.2f}{100 * (math.exp(error) - 1):>+8.1f}%  {row.programs}, {row.spread:.2f}")
    describe("all in the fit", errors)
    _, without, fits = leave_out(rows, devices, lambda row: row.model, "each model left out", logs)
    leave_out(rows, devices, lambda row: row.device, "each device left out", logs)
    _, without_kin, _ = leave_out(rows, devices, lambda row: family_of(row.model), "each family left out", logs)
    unseen = {"model": without, "family": without_kin,
              "precision": leave_out_each(rows, devices, logs, "model, and its precision on that device",
                                          lambda a, b: (a.device, a.precision) == (b.device, b.precision)),
              "device": leave_out_each(rows, devices, logs, "model, and that device", lambda a, b: a.device == b.device),
              "generation": leave_out_each(
                  rows, devices, logs, "model, and that device's generation",
                  lambda a, b: devices[a.device]["generation"] == devices[b.device]["generation"]),
              "constant_share": constant_share_errors(rows, lambda row: roofline(row, devices[row.device]))}
    batches = other_batch_errors(DEVICES, lambda row: step_time(row, devices[row.device], logs))
    describe("constant share of the roofline", list(unseen["constant_share"].values()))
    describe("other batch, by doubling", batches)
    carried = carried_to_others(rows, devices, logs)
    bands = bands_of(unseen, batches)
    print(json.dumps(bands))
    if arguments.write:
        write(rows, devices, logs, generations, bands, carried, unseen, batches, fits)


def carried_to_others(rows, devices, start):
    """What a measured step carried to another device or precision errs by, with fits that leave out families of models."""
    fits = {family: fit([row for row in rows if family_of(row.model) != family], devices, start)[0]
            for family in sorted({family_of(row.model) for row in rows})}
    errors = carried_errors(DEVICES, lambda row: step_time(row, devices[row.device], fits[family_of(row.model)]))
    for kind, pairs in errors.items():
        describe(f"measured, carried: {kind}", [error for _, error in pairs])
    return carried_factors(errors)


def roofline(row, device):
    """At full rates (at_roofline of sim/workload/compute_time.cpp)."""
    kernels, parameters, _ = load_model(row.model, row.variant, row.normalisation)
    size = 4 if row.precision in ("fp32", "tf32") else 2
    one = lambda k: max(2 * k.macs * row.batch / device["peak"][row.precision],
                        (k.both * row.batch + k.weights) * size / device["bandwidth"])
    return sum(count * k.passes_of_layer * one(k) for k, count in kernels) + 20.0 * parameters / device["bandwidth"]


def write(rows, devices, logs, generations, bands, carried, unseen, batches, fits):
    folder = DEVICES / "kernels"
    fitted = as_file(logs, generations, bands, len(rows)) | {"carried": carried}
    (folder / "fitted.json").write_text(json.dumps(fitted, indent=2) + "\n")
    count = lambda model: sum(row.model != model for row in rows)

    def held_out_bands(model):
        others = {kind: {row: e for row, e in errors.items() if row.model != model} for kind, errors in unseen.items()}
        return bands_of(others | {"model": errors_without(model, rows, devices, logs)}, batches)

    held = {"summary": "The fit without each model in turn, and what it says of that model's measured steps. Its bands "
                       "are formed without that model too: \"model\" by fits that each leave out a second one.",
            "command": fitted["command"],
            "rows": [{"device": row.device, "model": row.model, "variant": row.variant, "precision": row.precision,
                      "normalisation": row.normalisation, "batch": row.batch, "measured_ms": float(f"{1e3 * row.seconds:.6g}"),
                      "left_out_ms": float(f"{1e3 * row.seconds * math.exp(unseen['model'][row]):.6g}")} for row in rows],
            "fits": {model: as_file(*fits[model], held_out_bands(model), count(model)) for model in fits}}
    body = json.dumps(held, indent=1)
    (folder / "held_out.json").write_text(body + "\n")


if __name__ == "__main__":
    main()
