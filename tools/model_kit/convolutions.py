"""Convolutional networks that follow from a few numbers or from another file."""

import copy
import math

from model_kit.network import Network, tensors


def widened(layer, groups=32):
    """A layer of a bottleneck of ResNet-101 as ResNeXt-101 32x4d has it: twice as wide inside, its 3x3 in 32 groups."""
    layer = copy.deepcopy(layer)
    part = layer["name"].split(".")[2] if layer["name"].count(".") == 2 else ""
    if part in ("conv2", "bn1", "bn2", "relu", "relu_2", "conv3"):
        layer["input"][0] *= 2
    if part in ("conv1", "conv2", "bn1", "bn2", "relu", "relu_2"):
        layer["output"][0] *= 2
        for tensor in layer.get("tensors", []):
            tensor["shape"][0] *= 2
    if part == "conv2":
        layer["tensors"][0]["shape"][1] = layer["input"][0] // groups
    if part == "conv3":
        layer["tensors"][0]["shape"][1] *= 2
    if part in ("conv1", "conv2", "conv3"):
        layer["macs"] = math.prod(layer["output"]) * math.prod(layer["tensors"][0]["shape"][1:])
    return layer


def resnext101(resnet101):
    net = Network()
    net.items = [widened(layer) for layer in resnet101["layers"]]
    return net


class Images(Network):
    """Channels first; `shape` is what the last layer gave."""

    def __init__(self, shape):
        super().__init__()
        self.shape = list(shape)

    def step(self, name, kind, shape, macs=0, parameters=()):
        self.add(name, kind, self.shape, shape, macs, parameters)
        self.shape = list(shape)

    def conv(self, name, outputs, kernel, extents=None):
        """To `extents` places, as many as before where they are not said."""
        inputs, *places = self.shape
        kernel = [kernel] * len(places)
        shape = [outputs] + list(extents or places)
        self.step(name, f"conv{len(places)}d", shape, math.prod(shape) * inputs * math.prod(kernel),
                  tensors(name, weight=[outputs, inputs] + kernel, bias=[outputs]))

    def fully_connected(self, name, outputs):
        inputs = math.prod(self.shape)
        self.step(name, "linear", [outputs], inputs * outputs, tensors(name, weight=[outputs, inputs], bias=[outputs]))


def cosmoflow(size=128, redshifts=4, filters=32, convolutions=5, targets=4):
    net = Images([redshifts] + [size] * 3)
    for number in range(convolutions):
        net.conv(f"conv{number + 1}", filters << number, 2)
        net.step(f"conv{number + 1}.activation", "leaky_relu", net.shape)
        net.step(f"pool{number + 1}", "max_pool3d", net.shape[:1] + [extent // 2 for extent in net.shape[1:]])
    net.step("flatten", "flatten", [math.prod(net.shape)])
    for number, outputs in ((1, 128), (2, 64)):
        net.fully_connected(f"fc{number}", outputs)
        net.step(f"fc{number}.activation", "leaky_relu", net.shape)
        net.step(f"fc{number}.dropout", "dropout", net.shape)
    net.fully_connected("output", targets)
    net.step("output.tanh", "tanh", net.shape)
    return net


VGG16 = [(64, 2), (128, 2), (256, 3), (512, 3)]
POOLED = [150, 75, 38]  # the third rounds up
EXTRA = [[(256, 1, 19), (512, 3, 10)], [(128, 1, 10), (256, 3, 5)], [(128, 1, 5), (256, 3, 3)], [(128, 1, 3), (256, 3, 1)]]
ANCHORS = [4, 6, 6, 6, 4, 4]


def ssd300(classes=91):
    """torchvision's names: backbone.features of VGG-16 to conv4_3, backbone.extra behind it, heads on six maps."""
    net = Images([3, 300, 300])
    place, maps = 0, []
    for stage, (channels, repeats) in enumerate(VGG16):
        for _ in range(repeats):
            net.conv(f"backbone.features.{place}", channels, 3)
            net.step(f"backbone.features.{place + 1}", "relu", net.shape)
            place += 2
        if stage < len(POOLED):
            net.step(f"backbone.features.{place}", "max_pool2d", [channels, POOLED[stage], POOLED[stage]])
            place += 1
    net.step("backbone.scale_weight", "multiply", net.shape, 0, [{"name": "backbone.scale_weight", "shape": [512]}])
    maps.append(net.shape)
    net.step("backbone.extra.0.0", "max_pool2d", [512, 19, 19])
    for number in (1, 3, 5):
        net.conv(f"backbone.extra.0.{number}", 512, 3)
        net.step(f"backbone.extra.0.{number + 1}", "relu", net.shape)
    net.step("backbone.extra.0.7.0", "max_pool2d", net.shape)
    for number, kernel in ((1, 3), (3, 1)):
        net.conv(f"backbone.extra.0.7.{number}", 1024, kernel)
        net.step(f"backbone.extra.0.7.{number + 1}", "relu", net.shape)
    maps.append(net.shape)
    for stage, convolutions in enumerate(EXTRA, 1):
        for number, (channels, kernel, extent) in enumerate(convolutions):
            net.conv(f"backbone.extra.{stage}.{2 * number}", channels, kernel, [extent, extent])
            net.step(f"backbone.extra.{stage}.{2 * number + 1}", "relu", net.shape)
        maps.append(net.shape)
    for head, outputs in (("classification", classes), ("regression", 4)):
        for number, (shape, anchors) in enumerate(zip(maps, ANCHORS)):
            net.shape = shape
            net.conv(f"head.{head}_head.module_list.{number}", anchors * outputs, 3)
    return net
