#!/usr/bin/env python3
"""Writes the model files that follow from a few numbers: transformers, and ResNeXt-101 from ResNet-101.

    tools/make_models.py        # writes models/bert_large.json, mpt_*.json, resnext101_32x4d.json

A transformer's layers are written as its kernels are: products of weights ("linear"), of activations ("matmul", or
"attention" where one kernel does both and skips what a causal mask hides), and what stands between them. Norms and
biases are tensors of their own layers, a tied output matrix is the embedding's and has none. One variant for each length
of sequence, since every count is of one sample, a sequence.
"""

import copy
import json
import math

from farandole_process import ROOT

MODELS = ROOT / "models"


def tensors(name, **shapes):
    return [{"name": f"{name}.{key}", "shape": list(shape)} for key, shape in shapes.items()]


class Network:
    def __init__(self):
        self.layers = []

    def add(self, name, kind, source, target, macs=0, parameters=()):
        layer = {"name": name, "type": kind}
        if macs:
            layer["macs"] = macs
        layer |= {"input": list(source), "output": list(target)}
        if parameters:
            layer["tensors"] = list(parameters)
        self.layers.append(layer)

    def linear(self, name, rows, inputs, outputs):
        self.add(name, "linear", [rows, inputs], [rows, outputs], rows * inputs * outputs,
                 tensors(name, weight=[outputs, inputs], bias=[outputs]))

    def layer_norm(self, name, shape):
        self.add(name, "layer_norm", shape, shape, 0, tensors(name, weight=shape[-1:], bias=shape[-1:]))

    def pointwise(self, name, kind, shape):
        self.add(name, kind, shape, shape)

    def variant(self, name, summary, source):
        shapes = [tensor["shape"] for layer in self.layers for tensor in layer.get("tensors", [])]
        return {"name": name, "summary": summary, "source": source, "input": self.layers[0]["input"],
                "parameters": sum(map(math.prod, shapes)), "tensors": len(shapes),
                "macs": sum(layer.get("macs", 0) for layer in self.layers), "layers": self.layers}


def bert_block(net, at, length, width, heads, inner):
    rows = [length, width]
    for part in ("query", "key", "value"):
        net.linear(f"{at}.attention.self.{part}", length, width, width)
    scores = [heads, length, length]
    net.add(f"{at}.attention.scores", "matmul", [2] + rows, scores, length * length * width)
    net.pointwise(f"{at}.attention.softmax", "softmax", scores)
    net.pointwise(f"{at}.attention.dropout", "dropout", scores)
    net.add(f"{at}.attention.context", "matmul", scores, [heads, length, width // heads], length * length * width)
    net.linear(f"{at}.attention.output.dense", length, width, width)
    for part, last in (("attention.output", inner), ("output", None)):
        if last is None:
            net.linear(f"{at}.intermediate.dense", length, width, inner)
            net.pointwise(f"{at}.intermediate.gelu", "gelu", [length, inner])
            net.linear(f"{at}.output.dense", length, inner, width)
        net.pointwise(f"{at}.{part}.dropout", "dropout", rows)
        net.pointwise(f"{at}.{part}.add", "add", rows)
        net.layer_norm(f"{at}.{part}.LayerNorm", rows)


def bert(length, predictions, blocks=24, width=1024, heads=16, inner=4096, words=30522, positions=512):
    net = Network()
    rows = [length, width]
    for part, size in (("word", words), ("position", positions), ("token_type", 2)):
        name = f"bert.embeddings.{part}_embeddings"
        net.add(name, "embedding", [length], rows, 0, tensors(name, weight=[size, width]))
    net.layer_norm("bert.embeddings.LayerNorm", rows)
    net.pointwise("bert.embeddings.dropout", "dropout", rows)
    for block in range(blocks):
        bert_block(net, f"bert.encoder.layer.{block}", length, width, heads, inner)
    net.linear("bert.pooler.dense", 1, width, width)
    net.linear("cls.predictions.transform.dense", predictions, width, width)
    net.pointwise("cls.predictions.transform.gelu", "gelu", [predictions, width])
    net.layer_norm("cls.predictions.transform.LayerNorm", [predictions, width])
    net.add("cls.predictions.decoder", "linear", [predictions, width], [predictions, words], predictions * width * words,
            tensors("cls.predictions", bias=[words]))
    net.linear("cls.seq_relationship", 1, width, 2)
    return net


def mpt(length, blocks, width, heads, words=50368):
    net = Network()
    rows = [length, width]
    net.add("transformer.wte", "embedding", [length], rows, 0, tensors("transformer.wte", weight=[words, width]))
    net.add("transformer.wpe", "embedding", [length], rows, 0, tensors("transformer.wpe", weight=[length, width]))
    for block in range(blocks):
        at = f"transformer.blocks.{block}"
        net.layer_norm(f"{at}.norm_1", rows)
        net.linear(f"{at}.attn.Wqkv", length, width, 3 * width)
        net.add(f"{at}.attn.flash", "attention", [heads, length, 3 * width // heads], [heads, length, width // heads],
                length * length * width)  # two products, half of each behind the mask
        net.linear(f"{at}.attn.out_proj", length, width, width)
        net.pointwise(f"{at}.add_1", "add", rows)
        net.layer_norm(f"{at}.norm_2", rows)
        net.linear(f"{at}.ffn.up_proj", length, width, 4 * width)
        net.pointwise(f"{at}.ffn.gelu", "gelu", [length, 4 * width])
        net.linear(f"{at}.ffn.down_proj", length, 4 * width, width)
        net.pointwise(f"{at}.add_2", "add", rows)
    net.layer_norm("transformer.norm_f", rows)
    net.add("lm_head", "linear", rows, [length, words], length * width * words)
    net.pointwise("loss.softmax", "softmax", [length, words])
    return net


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


def resnext101():
    net = Network()
    base = json.loads((MODELS / "resnet101.json").read_text())["variants"][0]
    net.layers = [widened(layer) for layer in base["layers"]]
    return net


def write(name, summary, variants):
    lines = ["{", '  "$schema": "../sim/config/schemas/model.schema.json",', f'  "name": {json.dumps(name)},',
             f'  "summary": {json.dumps(summary)},', '  "variants": [']
    for variant in variants:
        lines.append("    {")
        lines += [f"      {json.dumps(key)}: {json.dumps(value)}," for key, value in variant.items() if key != "layers"]
        lines.append('      "layers": [')
        lines.append(",\n".join(f"        {json.dumps(layer)}" for layer in variant["layers"]))
        lines += ["      ]", "    }" + ("" if variant is variants[-1] else ",")]
    (MODELS / f"{name}.json").write_text("\n".join(lines + ["  ]", "}", ""]))


BERT_SOURCE = ("Devlin et al., BERT, NAACL 2019, and google-research/bert modeling.py: 24 layers of 1024, 16 heads, 4096 inside, "
               "30522 words; pre-training with {} predictions a sequence (NVIDIA/DeepLearningExamples, "
               "max_predictions_per_seq)")
MPT_SOURCE = "mosaicml/llm-foundry: scripts/train/yamls/pretrain/mpt-{}.yaml; biases, tied embeddings, learned positions"


def main():
    write("bert_large", "BERT-large in pre-training: a transformer encoder that predicts masked words.",
          [bert(128, 20).variant("seq128", "Sequences of 128 words, phase 1 of pre-training.", BERT_SOURCE.format(20)),
           bert(512, 80).variant("seq512", "Sequences of 512 words, phase 2 of pre-training.", BERT_SOURCE.format(80))])
    for size, blocks, width, heads in (("125m", 12, 768, 12), ("1b", 24, 2048, 16), ("3b", 32, 2560, 20), ("7b", 32, 4096, 32)):
        variants = [mpt(length, blocks, width, heads).variant(
            f"seq{length}", f"Sequences of {length} tokens.", MPT_SOURCE.format(size)) for length in (2048, 512)]
        write(f"mpt_{size}", f"MPT-{size}: a GPT-style decoder with fused causal attention.", variants)
    write("resnext101_32x4d", "ResNeXt-101 32x4d: ResNet-101 with grouped 3x3 convolutions, twice as wide.",
          [resnext101().variant("torchvision", "1000 classes; 32 groups of 4 channels in the first stage.",
                                "Xie et al., Aggregated Residual Transformations, CVPR 2017, table 1; made from resnet101.json")])


if __name__ == "__main__":
    main()
