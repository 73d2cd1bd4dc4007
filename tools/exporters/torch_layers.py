"""The layers of a PyTorch module, as passes forward in training mode show them.

A layer is a module that is called and has no modules within, or that has parameters or multiplies matrices itself, as
attention does. Multiply-adds are counted where PyTorch's operators are dispatched, so it does not matter who calls
them. A tensor belongs to the first call of its module; the gradients of both are ready at the same moment. What the
output does not depend on is not trained and left out.

Passes run on meta tensors, which have shapes and no data, so that the size of a model does not matter; on the CPU where
a model does what these cannot. There are two, with batches of different sizes: an extent that differs is the batch's, and
what has none, such as positions, keeps its shape.
"""

import collections
import contextlib
import dataclasses
import math

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from exporters.workload_file import InputError, Layer, snake_case, unique

BATCHES = (2, 3)  # batch normalisation does not train on one sample
FACTORIES = {torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn, torch.randint, torch.randperm,
             torch.arange, torch.linspace, torch.eye, torch.tensor, torch.as_tensor}
MOVES_NOTHING = (torch.nn.Identity, torch.nn.Flatten, torch.nn.Unflatten)
FUSED = ("_cudnn_rnn", "mkldnn_rnn_layer", "miopen_rnn", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell")


def convolution_macs(out, arguments):
    image, weight, transposed = arguments[0], arguments[1], arguments[6]
    return (image if transposed else out).numel() * weight[0].numel()


def attention_macs(_, arguments):
    query, key, value = arguments[:3]
    return query.numel() * key.shape[-2] + query[..., 0].numel() * value[0, 0].numel()


def product_macs(out, matrix):
    return out.numel() * matrix.shape[-1]


MACS = {  # operator: multiply-adds from its result and arguments
    "convolution": convolution_macs,
    "mm": lambda out, arguments: product_macs(out, arguments[0]),
    "bmm": lambda out, arguments: product_macs(out, arguments[0]),
    "mv": lambda out, arguments: product_macs(out, arguments[0]),
    "addmm": lambda out, arguments: product_macs(out, arguments[1]),
    "baddbmm": lambda out, arguments: product_macs(out, arguments[1]),
    "addmv": lambda out, arguments: product_macs(out, arguments[1]),
    "_scaled_dot_product_flash_attention": attention_macs,
    "_scaled_dot_product_efficient_attention": attention_macs,
    "_scaled_dot_product_flash_attention_for_cpu": attention_macs,
}


def tensors_in(value):
    """All tensors of arguments or results, however they are packed; each once."""
    found, waiting = {}, [value]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, torch.Tensor):
            found[id(one)] = one
        elif isinstance(one, collections.abc.Mapping):
            waiting += one.values()
        elif isinstance(one, (list, tuple)):
            waiting += one
    return list(found.values())


@dataclasses.dataclass
class Call:
    """One call of a module; its shapes are of the whole batch."""
    module: str
    began: int
    input: list
    output: list = dataclasses.field(default_factory=list)
    macs: int = 0


class Recorder(TorchDispatchMode):
    """While it is entered: records every call of every module of a model, and how much each multiplies itself."""

    def __init__(self, model):
        super().__init__()
        self.model, self.calls, self.running, self.handles, self.moment = model, [], [], [], 0

    def __enter__(self):
        for name, module in self.model.named_modules():
            self.handles += [module.register_forward_pre_hook(lambda _, inputs, name=name: self.begin(name, inputs)),
                             module.register_forward_hook(lambda _, inputs, output: self.end(output))]
        return super().__enter__()

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
        return super().__exit__(*error)

    def tick(self):
        self.moment += 1
        return self.moment

    def begin(self, name, inputs):
        self.running.append(Call(name, self.tick(), shapes_of(inputs)))
        self.calls.append(self.running[-1])

    def end(self, output):
        call = self.running.pop()
        call.output = shapes_of(output)
        call.input = call.input or call.output  # it was called with named arguments, which hooks are not shown

    def count(self, operator, out, arguments):
        if operator in FUSED:
            raise InputError(f"expected operators whose multiply-adds are known, got {operator}; export on a CPU")
        macs = MACS[operator](out[0] if isinstance(out, tuple) else out, arguments) if operator in MACS else 0
        if macs and self.running:
            call = self.running[-1]
            call.began = call.began if call.macs else self.tick()
            call.macs += macs

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        self.count(func.overloadpacket.__name__, out, args)
        return out


class Limit(TorchDispatchMode):
    """While it is entered: no more bytes of real tensors than `most` are made; `refusal` is the error's text."""

    def __init__(self, most, refusal):
        super().__init__()
        self.most, self.refusal, self.made, self.seen = most, refusal, 0, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tensors_in(out):
            if not tensor.is_meta and tensor.data_ptr() not in self.seen:
                self.seen.add(tensor.data_ptr())
                self.made += tensor.numel() * tensor.element_size()
        if self.made > self.most:
            raise InputError(self.refusal)
        return out


class FailedOperator(TorchDispatchMode):
    """While it is entered: `name` becomes that of the operator that fails."""
    name = ""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        try:
            return func(*args, **(kwargs or {}))
        except Exception:
            self.name = self.name or str(func)
            raise


def shapes_of(value):
    return [list(tensor.shape) for tensor in tensors_in(value)]


class MetaFactories(TorchFunctionMode):
    """While it is entered, tensors are made without data; before PyTorch 2.0, where a device can be entered itself."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in FACTORIES and kwargs.get("device") is None:
            kwargs["device"] = "meta"
        return function(*args, **kwargs)


def on_meta():
    device = torch.device("meta")
    return device if hasattr(device, "__enter__") else MetaFactories()


def random_inputs(inputs, batch, device="cpu"):
    """`inputs` are pairs (shape of one sample, type); whole numbers are all zero, which every vocabulary has."""
    def one(extents, kind):
        if device == "meta" or not kind.is_floating_point:
            return torch.zeros(extents, dtype=kind, device=device)
        return torch.randn(extents, generator=generator, dtype=kind).to(device)

    generator = torch.Generator().manual_seed(1)
    return [one((batch, *shape), kind) for shape, kind in inputs]


def loss_of(output):
    """Something to differentiate: only that every output takes part matters."""
    parts = [tensor.sum() for tensor in tensors_in(output) if tensor.requires_grad]
    if not parts:
        raise InputError("expected a model whose output depends on its parameters, got one that has nothing to train")
    return sum(parts)


def owner(tensor, called):
    """The module a tensor belongs to: its own, or the nearest one around it that is called."""
    module = tensor.rpartition(".")[0]
    while module and module not in called:
        module = module.rpartition(".")[0]
    return module


def differentiated(output):
    """All leaves that the backward pass from these tensors comes to, by identity."""
    waiting, seen, leaves = [tensor.grad_fn for tensor in tensors_in(output) if tensor.grad_fn is not None], set(), set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.add(id(node.variable))
        waiting += [following for following, _ in node.next_functions if following is not None]
    if not leaves:
        raise InputError("expected a model whose output depends on its parameters, got one that has nothing to train")
    return leaves


def trained_tensors(model, leaves, called):
    """Of each module the tensors that get a gradient, as pairs (name, shape); and the names of all others."""
    trained, left_out = collections.defaultdict(list), []
    for name, parameter in model.named_parameters():
        if id(parameter) in leaves:
            trained[owner(name, called)].append((name, list(parameter.shape) or [1]))
        else:
            left_out.append(name)
    return trained, left_out


@dataclasses.dataclass
class Trace:
    layers: list
    layer_of_call: list  # by number of the call: the number of its layer, or None
    left_out: list       # names of parameters that are not trained


def record(model, inputs, batch):
    """All calls of one pass forward, and what its output is differentiated by."""
    model.train()
    device = "meta" if any(parameter.is_meta for parameter in model.parameters()) else "cpu"
    with on_meta() if device == "meta" else contextlib.nullcontext(), Recorder(model) as recorder:
        output = model(*random_inputs(inputs, batch, device))
    return recorder.calls, differentiated(output)


def sample_of(smaller, larger):
    """A shape of one sample, from those of two batches: of an extent that grows with the batch what a sample adds."""
    shape = []
    for one, other in zip(smaller, larger):
        added = other - one
        if not added:
            shape.append(one)
        elif one != BATCHES[0] * added:
            raise InputError(f"expected extents in proportion to the batch, got {one} and {other} for {BATCHES[0]} and {BATCHES[1]}")
        elif added > 1:
            shape.append(added)
    return shape or [1]


def samples_of(smaller, larger):
    """Of one tensor its shape; of several only the elements of all can be told."""
    if [len(shape) for shape in smaller] != [len(shape) for shape in larger]:
        raise InputError("expected the same tensors whatever the batch, got others")
    samples = [sample_of(*pair) for pair in zip(smaller, larger)]
    return samples[0] if len(samples) == 1 else [max(1, sum(map(math.prod, samples)))]


def macs_of(smaller, larger):
    """Of one sample; work that does not grow with the batch is in full."""
    return larger.macs - smaller.macs or larger.macs


def trace(model, inputs):
    calls, leaves = record(model, inputs, BATCHES[0])
    others, _ = record(model, inputs, BATCHES[1])
    if [call.module for call in calls] != [call.module for call in others]:
        raise InputError("expected a model that calls the same modules whatever the batch, got one that calls others")
    tensors, left_out = trained_tensors(model, leaves, {call.module for call in calls})
    modules, taken = dict(model.named_modules()), set()
    found = Trace([], [None] * len(calls), left_out)
    for number, call in sorted(enumerate(calls), key=lambda one: one[1].began):
        module, other = modules[call.module], others[number]
        own_tensors = tensors.pop(call.module, [])
        is_layer = call.macs > 0 or bool(own_tensors) or not any(module.children())
        if not is_layer or isinstance(module, MOVES_NOTHING):
            continue
        kind = snake_case(type(module).__name__)
        found.layer_of_call[number] = len(found.layers)
        found.layers.append(Layer(unique(call.module or kind, taken), kind, samples_of(call.input, other.input),
                                  samples_of(call.output, other.output), macs_of(call, other), own_tensors))
    return found
