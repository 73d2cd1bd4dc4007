"""Farandole simulates distributed data-parallel training: how well a model will train on a cluster, and why.

    import farandole
    points = farandole.run("scenarios/horovod-512-roce25.json", workload__batch_per_rank=32)
    points = farandole.sweep("scenario.json", {"/platform/ranks": [1, 8, 64]}, fidelity="flow")
    points = farandole.collective("allreduce", topology="ethernet-25g", ranks=16, minbytes="1M")

Results are lists of dicts, one for each point, with the keys of `farandole run --format json`; pandas.DataFrame takes
them, pandas.json_normalize also spreads what is nested. Bad input is an InputError with the program's own line.
"""

import json
import pathlib
import sys
import tempfile

from ._program import InputError, OutOfTolerance, command as _command, version as __version__

__all__ = ["InputError", "OutOfTolerance", "Points", "__version__", "collective", "command", "run", "sweep"]

# Errors in a scenario that is no file name it so.
_OWN_SCENARIO = "scenario"


class Points(list):
    """The points of a result, dicts in the order of the program's, and what stands beside them: the settings that they
    share; the answer of a study that asks a question, the optimum of a search, None elsewhere."""

    def __init__(self, result):
        super().__init__(result["points"])
        self.settings = result["settings"]
        self.answer = result.get("answer")
        self.optimum = result.get("optimum")


def command(*arguments):
    """The output of `farandole ARGUMENTS...` as text; its messages go to standard error."""
    out, messages = _command([str(argument) for argument in arguments])
    if messages:
        sys.stderr.write(messages)
    return out


def run(scenario, *, fidelity=None, launch=None, seed=None, fold=True, explain=False, jobs=None, **values):
    """Simulates a scenario: the path of a file, or its content as a dict.

    `values` replace what the scenario says: `platform__ranks=64` is `--set /platform/ranks=64`; what is no word goes by
    its JSON pointer, `**{"/platform/override/~1node~1nic~1rate": "100 Gbit/s"}`. What the scenario's own sweep would
    replace is an InputError; `sweep` runs other points. The others are the options of `farandole run`.
    """
    options = _options({"fidelity": fidelity, "launch": launch, "seed": seed, "no_fold": not fold, "explain": explain,
                        "jobs": jobs})
    settings = [part for name, value in values.items() for part in ("--set", f"{_pointer(name)}={json.dumps(value)}")]
    return _with_scenario(scenario, lambda path: _points("run", path, "--quiet", *settings, *options))


def sweep(scenario, axes, **options):
    """Simulates a scenario at all points of `axes`: {"/platform/ranks": [1, 8, 64], ...}, or anything else that a
    scenario's "sweep" takes. They replace the scenario's own; `options` are those of `run`."""
    content = dict(scenario) if isinstance(scenario, dict) else json.loads(pathlib.Path(scenario).read_text())
    content["sweep"] = {name if name in ("zip", "variants") else _pointer(name): value for name, value in axes.items()}
    return run(content, **options)


def collective(op="allreduce", *, topology, ranks, **options):
    """Simulates a collective over a range of sizes. `options` are those of `farandole collective`: algorithm="ring",
    minbytes="1M", maxbytes=1 << 27, stepfactor=4, fidelity="message", no_fold=True, contributions=[1, 2, 1], ..."""
    return _points("collective", *_options({"op": op, "topology": topology, "ranks": ranks} | options))


def _points(*arguments):
    return Points(json.loads(command(*arguments, "--format", "json")))


def _pointer(name):
    return name if name.startswith("/") else "/" + name.replace("__", "/")


def _options(values):
    """Options as one types them; what is None or False was not given."""
    words = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(_typed(value))
    return words


def _typed(value):
    if isinstance(value, dict):
        return json.dumps(value)
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _with_scenario(scenario, use):
    """`use` with the path of a file; one that is made for it is not seen in errors."""
    if not isinstance(scenario, dict):
        return use(scenario)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / _OWN_SCENARIO
        path.write_text(json.dumps(scenario, indent=1))
        try:
            return use(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), _OWN_SCENARIO)) from None
