"""How long every layer of a PyTorch module takes, forward and backward, on the device that is here.

Iterations of training are run as they are, and again with a clock at every call of a module and at every node of the
graph of gradients. The former give the times of whole passes, the latter say how these are shared by the layers: looking
costs time, but hardly changes the shares. What is computed between modules counts to the layer before it.
"""

import contextlib
import dataclasses
import statistics
import time

import torch

from exporters import torch_layers
from exporters.workload_file import InputError

WARM_UP = 2


class Clock:
    """Moments of one device: of the host's clock on a CPU, events in the stream on a GPU, which wait for nothing."""

    def __init__(self, device):
        self.is_cuda = device == "cuda"

    def now(self):
        if not self.is_cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, begin, end):
        return begin.elapsed_time(end) / 1000 if self.is_cuda else end - begin

    def wait(self):
        if self.is_cuda:
            torch.cuda.synchronize()


class Shares:
    """One iteration under the clock: adds up what passes between two looks for the layer it belongs to."""

    def __init__(self, model, trace, clock):
        self.layer_of_call, self.clock = trace.layer_of_call, clock
        self.number, self.running, self.layer = 0, [], 0
        self.looks = []  # (layer, moment): the time up to the moment is the layer's
        self.owner = {}  # of every node of the graph of gradients; holds them, so that their identity lasts
        self.handles = []
        for module in model.modules():
            self.handles += [module.register_forward_pre_hook(lambda _, inputs: self.begin(inputs)),
                             module.register_forward_hook(lambda _, inputs, output: self.end(output))]

    def look(self, layer):
        self.looks.append((layer, self.clock.now()))

    def begin(self, inputs):
        self.look(self.layer)
        self.claim(inputs, self.layer)
        own = self.layer_of_call[self.number]
        self.number += 1
        self.running.append((self.layer, own))
        self.layer = self.layer if own is None else own

    def end(self, output):
        self.look(self.layer)
        self.claim(output, self.layer)
        outer, own = self.running.pop()
        within_a_layer = any(layer is not None for _, layer in self.running)
        if own is not None and within_a_layer:
            self.layer = outer

    def claim(self, value, layer):
        """What the gradient of these tensors needs and nobody has claimed was computed for this layer."""
        waiting = [tensor.grad_fn for tensor in torch_layers.tensors_in(value)]
        while waiting:
            node = waiting.pop()
            if node is None or node in self.owner:
                continue
            self.owner[node] = layer
            self.handles.append(node.register_hook(lambda *_, layer=layer: self.look(layer)))
            waiting += [following for following, _ in node.next_functions]

    def spent(self, first, looks, layers):
        """Seconds of each layer between the moment `first` and the last look."""
        seconds, before = [0.0] * layers, first
        for layer, moment in looks:
            seconds[layer] += self.clock.seconds(before, moment)
            before = moment
        return seconds

    def close(self):
        for handle in self.handles:
            handle.remove()
        self.owner.clear()


@dataclasses.dataclass
class Setup:
    model: torch.nn.Module
    inputs: list
    optimizer: torch.optim.Optimizer
    precision: str
    clock: Clock

    def computing(self):
        return torch.autocast("cuda", torch.float16) if self.precision == "fp16" else contextlib.nullcontext()

    def forward(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.computing():
            return torch_layers.loss_of(self.model(*self.inputs))


def undisturbed(setup):
    """Seconds of one forward pass, one backward pass and one update."""
    setup.clock.wait()
    moments = [setup.clock.now()]
    loss = setup.forward()
    moments.append(setup.clock.now())
    loss.backward()
    moments.append(setup.clock.now())
    setup.optimizer.step()
    moments.append(setup.clock.now())
    setup.clock.wait()
    return [setup.clock.seconds(*pair) for pair in zip(moments, moments[1:])]


def watched(setup, trace):
    """Seconds of each layer, forward and backward, of one iteration under the clock."""
    layers = len(trace.layers)
    shares = Shares(setup.model, trace, setup.clock)
    setup.clock.wait()
    begin = setup.clock.now()
    loss = setup.forward()
    shares.claim(loss, layers - 1)
    turn, forward_looks = setup.clock.now(), len(shares.looks)
    loss.backward()
    setup.clock.wait()
    shares.close()
    return (shares.spent(begin, shares.looks[:forward_looks], layers),
            shares.spent(turn, shares.looks[forward_looks:], layers))


def medians(rows):
    return [statistics.median(column) for column in zip(*rows)]


def shared(total, parts):
    """`total` in the proportion of `parts`."""
    return [total * part / sum(parts) for part in parts]


def setup_of(model, inputs, batch, device, precision):
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("--on: expected a device that is here, got cuda")
    if precision == "fp16" and device != "cuda":
        raise InputError("--precision: expected fp32 on a CPU, got fp16")
    model = model.to(device).train()
    trainable = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(trainable, lr=1e-6, momentum=0.9)
    return Setup(model, torch_layers.random_inputs(inputs, batch, device), optimizer, precision, Clock(device))


@dataclasses.dataclass
class Times:
    forward: list  # seconds per layer
    backward: list
    update: float
    looking: float  # a watched iteration over an undisturbed one


def layer_times(setup, trace, iterations):
    for _ in range(WARM_UP):
        undisturbed(setup)
    forward, backward, update = medians([undisturbed(setup) for _ in range(iterations)])
    passes = [watched(setup, trace) for _ in range(iterations)]
    forward_shares, backward_shares = medians([one[0] for one in passes]), medians([one[1] for one in passes])
    looking = (sum(forward_shares) + sum(backward_shares)) / (forward + backward)
    return Times(shared(forward, forward_shares), shared(backward, backward_shares), update, looking)
