"""Farandole simulates distributed data-parallel training: how well a model will train on a cluster, and why.

    import farandole
    points = farandole.run("scenarios/horovod-512-roce25.json", workload__batch_per_rank=32)
    points = farandole.sweep("scenario.json", {"/platform/ranks": [1, 8, 64]}, fidelity="flow")
    points = farandole.collective("allreduce", topology="ethernet-25g", ranks=16, minbytes="1M")

Results are lists of dicts, one for each point, with the keys of `farandole run --format json`; pandas.DataFrame takes
them, their to_frame() also spreads what is nested. Bad input is an InputError with the program's own line.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, Union

from ._program import InputError, OutOfTolerance, command as _command, version as __version__
from ._results import Point, Points

__all__ = ["InputError", "OutOfTolerance", "Point", "Points", "__version__", "collective", "command", "compare", "cost", "diagnose", "network",
           "place", "run", "sweep", "tune"]

# Errors in a scenario that is no file name it so.
_OWN_SCENARIO = "scenario"

# Options that are said once for each of their values; those of others are separated by commas.
_REPEATED = frozenset({"allreduce", "measured", "offer", "rule_out", "target", "trace"})

Scenario = Union[str, "os.PathLike[str]", dict[str, Any]]
Trace = Union[str, "os.PathLike[str]"]
Answer = dict[str, Any]
Result = TypeVar("Result")


def command(*arguments: object) -> str:
    """The output of `farandole ARGUMENTS...` as text; its messages go to standard error."""
    out, messages = _command([str(argument) for argument in arguments])
    if messages:
        sys.stderr.write(messages)
    return out


def run(
    scenario: Scenario,
    *,
    fidelity: str | None = None,
    launch: str | None = None,
    seed: int | None = None,
    fold: bool = True,
    explain: bool = False,
    jobs: int | None = None,
    **values: Any,
) -> Points:
    """Simulates a scenario: the path of a file, or its content as a dict.

    `values` replace what the scenario says: `platform__ranks=64` is `--set /platform/ranks=64`; what is no word goes by
    its JSON pointer, `**{"/platform/override/~1node~1nic~1rate": "100 Gbit/s"}`. What the scenario's own sweep would
    replace is an InputError; `sweep` runs other points. The others are the options of `farandole run`.
    """
    options = _options({"fidelity": fidelity, "launch": launch, "seed": seed, "no_fold": not fold, "explain": explain,
                        "jobs": jobs})
    settings = [part for name, value in values.items() for part in ("--set", f"{_pointer(name)}={_json(value)}")]
    return _with_scenario(scenario, lambda path: _points("run", path, "--quiet", *settings, *options))


def sweep(scenario: Scenario, axes: Mapping[str, Any], **options: Any) -> Points:
    """Simulates a scenario at all points of `axes`: {"/platform/ranks": [1, 8, 64], ...}, a range, or anything else that
    a scenario's "sweep" takes. They replace the scenario's own; `options` are those of `run`."""
    content = dict(scenario) if isinstance(scenario, dict) else json.loads(pathlib.Path(scenario).read_text())
    content["sweep"] = {name if name in ("zip", "variants") else _pointer(name): value for name, value in axes.items()}
    return run(content, **options)


def collective(op: str = "allreduce", *, topology: str, ranks: int, **options: Any) -> Points:
    """Simulates a collective over a range of sizes. `options` are those of `farandole collective`: algorithm="ring",
    minbytes="1M", maxbytes=1 << 27, stepfactor=4, fidelity="message", no_fold=True, contributions=[1, 2, 1], ..."""
    return _points("collective", *_options({"op": op, "topology": topology, "ranks": ranks} | options))


def network(scenario: Scenario, *, set: Mapping[str, Any] | None = None, **options: Any) -> Answer:
    """Which network a job needs, as `farandole network` answers it. `set` replaces values of the scenario as keywords of
    `run` do; the others are the command's options: target="90 %"."""
    return _answer("network", scenario, set, options)


def tune(scenario: Scenario, *, set: Mapping[str, Any] | None = None, **options: Any) -> Answer:
    """Which settings make a job faster or let it take less memory, as `farandole tune` answers it: budget="2 min", ..."""
    return _answer("tune", scenario, set, options)


def place(scenario: Scenario, *, set: Mapping[str, Any] | None = None, **options: Any) -> Answer:
    """What a job's placement is worth, as `farandole place` answers it: nodes_per_switch=16, oversubscription=8,
    others="60 %", topology_conf=FILE, ..."""
    return _answer("place", scenario, set, options)


def diagnose(
    scenario: Scenario, *, measured: str | Iterable[str] = (), allreduce: str | Iterable[str] = (), set: Mapping[str, Any] | None = None, **options: Any
) -> Answer:
    """Why a measured step takes longer than it should, as `farandole diagnose` answers it: measured="1.9 s", or
    ["1.9 s", "1.5 s on 8 ranks"], allreduce=["256 MiB in 1.9 ms"], synthetic="1.5 s", steps=FILE, ..."""
    return _answer("diagnose", scenario, set, {"measured": measured, "allreduce": allreduce} | options)


def cost(scenario: Scenario, *, offer: str | Iterable[str] = (), set: Mapping[str, Any] | None = None, **options: Any) -> Answer:
    """What a job costs, as `farandole cost` answers it: offer="lambda-h100-on-demand", or several, price="20 USD/h", years=3,
    ..."""
    return _answer("cost", scenario, set, {"offer": offer} | options)


def compare(trace: Trace | Sequence[Trace], scenario: Scenario, *, set: Mapping[str, Any] | None = None, **options: Any) -> Answer:
    """A measured trace, or those of several ranks, beside the prediction, as `farandole compare` answers it: steps=3,
    timeline=FILE, ..."""
    traces = [trace] if isinstance(trace, (str, os.PathLike)) else list(trace)
    more = [word for other in traces[1:] for word in ("--trace", other)]
    return _answer("compare", scenario, set, options, [*more, *traces[:1]])


def _answer(
    name: str, scenario: Scenario, set: Mapping[str, Any] | None, options: Mapping[str, Any], before: Sequence[object] = ()
) -> Answer:
    settings = [part for key, value in (set or {}).items() for part in ("--set", f"{_pointer(key)}={_json(value)}")]
    words = _options(options)
    return _with_scenario(scenario, lambda path: json.loads(command(name, *before, path, *settings, *words, "--format", "json")))


def _points(*arguments: object) -> Points:
    return Points(json.loads(command(*arguments, "--format", "json")))


def _pointer(name: str) -> str:
    return name if name.startswith("/") else "/" + name.replace("__", "/").replace(".", "/")


def _options(values: Mapping[str, Any]) -> list[str]:
    """Options as one types them; what is None or False was not given."""
    words = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif name in _REPEATED and not _is_text(value):
            words += [word for one in value for word in (option, str(one))]
        else:
            words += [option, _typed(value)]
    return words


def _typed(value: Any) -> str:
    if isinstance(value, dict):
        return _json(value)
    return str(value) if _is_text(value) else ",".join(map(str, value))


def _is_text(value: Any) -> bool:
    """One value, although one can iterate over a text."""
    return isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable)


def _json(value: Any, indent: int | None = None) -> str:
    """With ranges, arrays and whatever else one can iterate over as lists."""
    return json.dumps(value, default=_listed, indent=indent)


def _listed(value: Any) -> Any:
    if hasattr(value, "tolist"):  # NumPy's, a number too
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"{type(value).__name__} is nothing that a scenario holds")


def _with_scenario(scenario: Scenario, use: Callable[[Any], Result]) -> Result:
    """`use` with the path of a file; one that is made for it is not seen in errors."""
    if not isinstance(scenario, dict):
        return use(scenario)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / _OWN_SCENARIO
        path.write_text(_json(scenario, indent=1))
        try:
            return use(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), _OWN_SCENARIO)) from None
