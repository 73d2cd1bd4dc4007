"""DeepCAM and 3D U-Net, the networks of MLPerf HPC and MLPerf Training that find what each place of an image shows."""

import math

from model_kit.convolutions import Images
from model_kit.network import tensors


class Places(Images):
    """With what both networks are made of; `scale` is by how much a stride makes the places fewer, or more below 1."""

    def filters(self, name, outputs, kernel, scale=1, groups=1, bias=False, transposed=False):
        inputs, *places = self.shape
        shape = [outputs] + [int(extent / scale) for extent in places]
        kernel = [kernel] * len(places)
        weight = [inputs, outputs] + kernel if transposed else [outputs, inputs // groups] + kernel
        at = math.prod(places if transposed else shape[1:])  # a transposed one multiplies every place of its input
        self.step(name, f"conv_transpose{len(places)}d" if transposed else f"conv{len(places)}d", shape,
                  at * math.prod(weight), tensors(name, weight=weight, bias=[outputs] if bias else None))

    def norm(self, name, kind):
        self.step(name, f"{kind}{len(self.shape) - 1}d", self.shape, 0,
                  tensors(name, weight=self.shape[:1], bias=self.shape[:1]))

    def activate(self, name, kind="relu"):
        self.step(name, kind, self.shape)

    def concatenate(self, name, channels):
        self.step(name, "concat", [channels] + self.shape[1:])


def normalised(net, conv, norm, outputs, kernel, activation="", **how):
    net.filters(conv, outputs, kernel, **how)
    net.norm(norm, "batch_norm")
    if activation:
        net.activate(activation)


def separable(net, at, outputs, scale=1):
    net.filters(f"{at}.conv1", net.shape[0], 3, scale, groups=net.shape[0])
    net.filters(f"{at}.pointwise", outputs, 1)


def xception_block(net, at, outputs, repeats, scale=1, grows_first=True, is_last=False, activation=True):
    before = net.shape
    widths = [outputs] * repeats if grows_first else [before[0]] * (repeats - 1) + [outputs]
    for number, width in enumerate(widths):
        separable(net, f"{at}.rep.{3 * number}", width)
        net.norm(f"{at}.rep.{3 * number + 1}.bn", "batch_norm")
        if number + 1 < repeats:
            net.activate(f"{at}.rep.{3 * number + 2}")
    if scale != 1 or is_last:
        separable(net, f"{at}.rep.{3 * repeats - 1}", outputs, scale)
    after, net.shape = net.shape, before
    if outputs != before[0] or scale != 1:
        normalised(net, f"{at}.skip", f"{at}.skipbn.bn", outputs, 1, scale=scale)
    net.shape = after
    net.step(f"{at}.add", "add", after)
    if activation:
        net.activate(f"{at}.relu")


def xception(net):
    at = "xception_features"
    normalised(net, f"{at}.conv1", f"{at}.bn1.bn", 32, 3, f"{at}.relu", scale=2)
    normalised(net, f"{at}.conv2", f"{at}.bn2.bn", 64, 3, f"{at}.relu_2")
    xception_block(net, f"{at}.block1", 128, 2, 2, activation=False)
    low = net.shape
    net.activate(f"{at}.relu_3")
    xception_block(net, f"{at}.block2", 256, 2, 2)
    xception_block(net, f"{at}.block3", 728, 2, 2, is_last=True)
    for number in range(4, 20):
        xception_block(net, f"{at}.block{number}", 728, 3)
    xception_block(net, f"{at}.block20", 1024, 2, grows_first=False, is_last=True, activation=False)
    for number, outputs in ((3, 1536), (4, 1536), (5, 2048)):
        separable(net, f"{at}.conv{number}", outputs)
        net.norm(f"{at}.bn{number}.bn", "batch_norm")
        net.activate(f"{at}.relu_{number + 1}")
    return low


def pyramid(net, width=256):
    found = net.shape
    for number, kernel in ((1, 1), (2, 3), (3, 3), (4, 3)):
        net.shape = found
        at = f"bottleneck.aspp{number}"
        normalised(net, f"{at}.atrous_convolution", f"{at}.bn.bn", width, kernel, f"{at}.relu")
    net.shape = found
    at = "bottleneck.global_avg_pool.global_average_pool"
    net.step(f"{at}.0", "adaptive_avg_pool2d", [found[0], 1, 1])
    net.filters(f"{at}.1", width, 1)
    net.step(f"{at}.2", "trainable_affine", net.shape, 0,
             tensors(f"{at}.2", weights=[width, 1, 1], bias=[width, 1, 1]))
    net.activate(f"{at}.3")
    net.shape = [width] + found[1:]
    net.concatenate("bottleneck.concat", 5 * width)
    normalised(net, "bottleneck.conv", "bottleneck.bn.bn", width, 1, "bottleneck.relu")


def deepcam(channels=16, height=768, width=1152, classes=3):
    net = Places([channels, height, width])
    low = xception(net)
    pyramid(net)
    coarse, net.shape = net.shape, low
    normalised(net, "conv2", "bn2.bn", 48, 1, "relu")
    net.shape = coarse
    for number in (0, 3):
        at = "upsample.deconv1"
        normalised(net, f"{at}.{number}", f"{at}.{number + 1}.bn", 256, 3, f"{at}.{number + 2}", scale=0.5, transposed=True)
    net.concatenate("upsample.concat", 256 + 48)
    for number in (0, 3):
        at = "upsample.conv1"
        normalised(net, f"{at}.{number}", f"{at}.{number + 1}.bn", 256, 3, f"{at}.{number + 2}")
    net.filters("upsample.conv1.6", 256, 1, bias=True)
    normalised(net, "upsample.deconv2.0", "upsample.deconv2.1.bn", 256, 3, "upsample.deconv2.2", scale=0.5, transposed=True)
    net.filters("upsample.last_deconv.0", classes, 3, 0.5, transposed=True)
    return net


def unet_pair(net, at, outputs, scale=1):
    for number, step in ((1, scale), (2, 1)):
        net.filters(f"{at}.conv{number}.0", outputs, 3, step)
        net.norm(f"{at}.conv{number}.1", "instance_norm")
        net.activate(f"{at}.conv{number}.2")


def unet3d(size=128, channels=1, classes=3):
    widths = [32, 64, 128, 256, 320]
    net = Places([channels] + [size] * 3)
    unet_pair(net, "input_block", widths[0])
    for number, width in enumerate(widths[1:]):
        unet_pair(net, f"downsample.{number}", width, 2)
    unet_pair(net, "bottleneck", widths[-1], 2)
    for number, width in enumerate(reversed(widths)):
        at = f"upsample.{number}"
        net.filters(f"{at}.upsample_conv.0", width, 2, 0.5, bias=True, transposed=True)
        net.concatenate(f"{at}.concat", 2 * width)
        unet_pair(net, at, width)
    net.filters("output.conv.0", classes, 1, bias=True)
    return net
