#!/usr/bin/env python3
"""Turns a PyTorch model into a workload file that farandole reads: its layers in order, their tensors with true sizes,
multiply-adds, and the shapes that go in and come out.

MODEL is the name of a torchvision model, or FILE.py:CALLABLE or MODULE:CALLABLE for anything that returns a
torch.nn.Module when it is called without arguments. It is built and run without data or weights (on meta tensors), so
that a model of any size takes seconds; where it does what only real tensors can, it says what, and runs on the CPU, with
more than 1 GB of weights only where --real says so.

Examples:
  tools/export_torch.py resnet50 --output my_resnet50.json
  tools/export_torch.py net.py:build --input 3x32x32 --output my_net.json
  tools/export_torch.py bert.py:build --input 128:int64 --output my_bert.json
  tools/export_torch.py resnet50 --profile 32 --device v100 --output my_resnet50.json
"""

import argparse
import contextlib
import importlib
import importlib.util
import pathlib
import platform
import sys

from exporters import workload_file
from exporters.workload_file import InputError, Variant

try:
    import torch
    from exporters import torch_layers, torch_times
except ImportError as error:
    sys.exit(f"export_torch.py: PyTorch is not here ({error}); on Debian: apt-get install python3-torch python3-torchvision")


MOST_BYTES = 1e9  # of a model that is built with data though nobody asked for that


def torchvision_model(name):
    try:
        import torchvision
    except ImportError as error:
        raise InputError(f"{name}: torchvision is not here ({error}); FILE.py:CALLABLE needs none") from error
    known = torchvision.models.list_models()
    if name not in known:
        raise InputError(f"{name}: expected a torchvision model, FILE.py:CALLABLE or MODULE:CALLABLE"
                         f"{workload_file.suggestion(name, known)}")
    source = f"torchvision {torchvision.__version__} on PyTorch {torch.__version__}"
    return lambda: torchvision.models.get_model(name), f"{name} as torchvision builds it.", source


def image_of(name):
    """The shape of the images that torchvision's weights of that name were trained with."""
    import torchvision
    transforms = torchvision.models.get_model_weights(name).DEFAULT.transforms()
    crop = getattr(transforms, "crop_size", None)
    if not crop:
        raise InputError(f"--input: expected the shape of one sample, such as 3x224x224, which {name} does not say")
    return [((3, crop[0], crop[-1]), torch.float32)]


def module_of(place):
    """A file or the name of a module, imported."""
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = pathlib.Path(place)
    if not path.is_file():
        raise InputError(f"{place}: expected a file, got none")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def own_model(text):
    place, _, name = text.rpartition(":")
    try:
        build = getattr(module_of(place), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{text}: {error}") from error

    def built():
        model = build()
        if not isinstance(model, torch.nn.Module):
            raise InputError(f"{text}: expected a torch.nn.Module, got {type(model).__name__}")
        return model

    return built, f"{name} of {pathlib.Path(place).name}.", f"{text} on PyTorch {torch.__version__}"


def parsed_input(text):
    """(shape of one sample, type) of 3x224x224 or 128:int64."""
    shape, _, kind = text.partition(":")
    dtype = getattr(torch, kind or "float32", None)
    extents = shape.lower().split("x")
    if not isinstance(dtype, torch.dtype) or not all(extent.isdigit() and int(extent) > 0 for extent in extents):
        raise InputError(f"--input: expected the shape of one sample such as 3x224x224 or 128:int64, got {text!r}")
    return tuple(map(int, extents)), dtype


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("--output", metavar="FILE.json", type=pathlib.Path, help="else to standard output")
    parser.add_argument("--name", help="of the workload; else of the model")
    parser.add_argument("--input", metavar="SHAPE[:TYPE]", action="append",
                        help="of one sample, once for each input; torchvision's classifiers need none")
    parser.add_argument("--real", action="store_true",
                        help="build a model that meta tensors cannot run with its weights, however large they are")
    profile = parser.add_argument_group("layer times, measured on the device that is here")
    profile.add_argument("--profile", metavar="BATCH", type=int, help="measure them with so many samples")
    profile.add_argument("--device", metavar="NAME",
                         help="of which device they are: its name in topologies/devices; else what it calls itself")
    profile.add_argument("--on", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu")
    profile.add_argument("--precision", choices=("fp32", "fp16"), default="fp32", help="fp16: autocast, on cuda")
    profile.add_argument("--iterations", metavar="N", type=int, default=10, help="of which the medians are taken")
    return parser.parse_args()


def limited(given, reason):
    """While it is entered, no large model is built, unless --real says so."""
    if given.real:
        return contextlib.nullcontext()
    return torch_layers.Limit(MOST_BYTES, f"expected a model that meta tensors can build and run, got one of more than 1 GB "
                              f"for which {reason}; --real builds it with its weights all the same")


def traced_without_data(build, inputs, given):
    """The model and its layers, or why there are none: what meta tensors cannot do, or what is wrong anyway."""
    operator = torch_layers.FailedOperator()
    try:
        with limited(given, "tensors are made with data"), torch_layers.on_meta(), operator:
            model = build()
        if not all(parameter.is_meta for parameter in model.parameters()):
            return None, "parameters have data whatever they are asked to be made on"
        with operator:
            return (model, torch_layers.trace(model, inputs)), ""
    except InputError:
        raise
    except Exception as error:  # whatever the model's own code raises when its tensors have no data
        what = (str(error).splitlines() or [""])[0]
        return None, f"{operator.name or type(error).__name__} fails on meta tensors ({what:.200})"


def traced(build, inputs, given):
    """The model and its layers. One that cannot be called with such inputs is the user's affair: his error in one line."""
    found, reason = traced_without_data(build, inputs, given)
    if found:
        return found
    with limited(given, reason):
        model = build()
    try:
        found = model, torch_layers.trace(model, inputs)
        print(f"built and run with data: {reason}", file=sys.stderr)
        return found
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"the model fails in a pass with a batch of {torch_layers.BATCHES[0]}: "
                         f"{type(error).__name__}: {str(error).splitlines()[0]}") from error


def hardware(device):
    return torch.cuda.get_device_name() if device == "cuda" else f"{platform.machine()}, {torch.get_num_threads()} threads"


def profile_of(model, inputs, trace, given):
    if given.profile < 1 or given.iterations < 1:
        raise InputError("--profile, --iterations: expected whole numbers of at least 1")
    setup = torch_times.setup_of(model, inputs, given.profile, given.on, given.precision)
    times = torch_times.layer_times(setup, trace, given.iterations)
    total = sum(times.forward) + sum(times.backward) + times.update
    print(f"profiled: {1000 * total:.4g} ms for {given.profile} samples; an iteration under the clock, "
          f"which gives the shares of the layers, takes {times.looking:.2f} times as long", file=sys.stderr)
    pairs = zip(times.forward, times.backward)
    return {"device": given.device or hardware(given.on), "precision": given.precision, "batch": given.profile,
            "source": f"PyTorch {torch.__version__} on {hardware(given.on)}, medians of {given.iterations} iterations",
            "update": workload_file.milliseconds(times.update),
            "layers": {layer.name: list(map(workload_file.milliseconds, pair)) for layer, pair in zip(trace.layers, pairs)}}


def main():
    given = arguments()
    torch.manual_seed(1)
    is_own = ":" in given.model
    if is_own and not given.input:
        raise InputError("--input: expected the shape of one sample, such as 3x224x224, got none")
    build, summary, origin = own_model(given.model) if is_own else torchvision_model(given.model)
    inputs = [parsed_input(text) for text in given.input] if given.input else image_of(given.model)
    model, trace = traced(build, inputs, given)
    if trace.left_out:
        print(f"left out, not trained: {', '.join(trace.left_out)}", file=sys.stderr)
    variant = Variant("pytorch" if is_own else "torchvision", f"{type(model).__name__}, in training mode.",
                      f"{origin}: named_parameters() and the modules called in one pass in training mode", trace.layers)
    if given.profile is not None:
        variant.profiles.append(profile_of(build(), inputs, trace, given))
    name = given.name or workload_file.snake_case(given.model.rpartition(":")[2])
    workload_file.write_model(name, summary, variant, given.output)


if __name__ == "__main__":
    workload_file.run(main)
