#!/usr/bin/env python3
"""Writes the model files that follow from a few numbers: transformers, CosmoFlow, SSD, and ResNeXt-101 from ResNet-101.

    tools/make_models.py        # writes models/{bert,gpt2,mpt,llama,internlm,t5,vit}_*.json and a few more

How they are built stands in tools/model_kit; here stand their numbers and where those are from. Parameters as published
are in tests/workload/published_totals.hpp.
"""

import json

from farandole_process import ROOT
from model_kit import convolutions, network, segmentation, transformers

MODELS = ROOT / "models"

BERT = ("Devlin et al., BERT, NAACL 2019, and google-research/bert modeling.py: {} blocks of {}, {} heads, {} inside, 30522 "
        "words; pre-training with {} predictions a sequence (NVIDIA/DeepLearningExamples, max_predictions_per_seq)")
MPT = "mosaicml/llm-foundry: scripts/train/yamls/pretrain/mpt-{}.yaml; biases, tied embeddings, learned positions, fused loss"
GPT2 = ("Radford et al., Language Models are Unsupervised Multitask Learners, 2019, and openai/gpt-2 hparams of the released "
        "models: {} blocks of {}, {} heads; fused attention and no dropout, as karpathy/nanoGPT trains it")
LLAMA = "{}: {} blocks of {}, {} heads, keys and values of {}, {} inside, {} words"
LLAMA2 = "Touvron et al., Llama 2, arXiv:2307.09288, and config.json of meta-llama/Llama-2-{}-hf"
CODE_LLAMA = ("Roziere et al., Code Llama, arXiv:2308.12950, the size of Llama 2 that was not released, and config.json of "
              "codellama/CodeLlama-34b-hf (32000 words, as Llama 2)")
LLAMA3 = "Grattafiori et al., The Llama 3 Herd of Models, arXiv:2407.21783, table 3, and config.json of meta-llama/Meta-Llama-3-{}"
LLAMA32 = "meta-llama/llama-models, models/llama3_2/MODEL_CARD.md, and config.json of meta-llama/Llama-3.2-{} (tied embeddings)"
MISTRAL = "Jiang et al., Mistral 7B, arXiv:2310.06825, table 1, and config.json of mistralai/Mistral-7B-v0.1 (its window of 4096 not counted)"
QWEN = "Qwen2.5 Technical Report, arXiv:2412.15115, table 1, and config.json of Qwen/Qwen2.5-7B (biases of queries, keys and values)"
INTERNLM = "InternLM/InternLM configs/7B_sft.py and config.json of internlm/internlm-7b (biases in attention)"
T5 = ("Raffel et al., T5, JMLR 2020, and config.json of google-t5/t5-{}: {} blocks each way of {}, {} heads of {}, {} inside, 32128 "
      "words, all tied; pre-training on 512 tokens of input and 114 of targets (section 3.1.4)")
VIT = "Dosovitskiy et al., ViT, ICLR 2021, table 1, with the names of torchvision 0.14.1: {} blocks of {}, {} heads, {} inside"

SIZES_OF_MPT = [("125m", 12, 768, 12), ("350m", 24, 1024, 16), ("760m", 24, 1536, 12), ("1b", 24, 2048, 16),
                ("3b", 32, 2560, 20), ("7b", 32, 4096, 32), ("13b", 40, 5120, 40), ("30b", 48, 7168, 56),
                ("70b", 80, 8192, 64)]
SIZES_OF_GPT2 = [("small", 12, 768, 12), ("medium", 24, 1024, 16), ("large", 36, 1280, 20), ("xl", 48, 1600, 25)]
# blocks, width, heads, of keys and values, inside, words; length of pre-training
SIZES_OF_LLAMA = [("llama2_7b", "Llama 2 7B", LLAMA2.format("7b"), (32, 4096, 32, 32, 11008, 32000), 4096),
                  ("llama2_13b", "Llama 2 13B", LLAMA2.format("13b"), (40, 5120, 40, 40, 13824, 32000), 4096),
                  ("llama2_34b", "Llama 2 34B", CODE_LLAMA, (48, 8192, 64, 8, 22016, 32000), 4096),
                  ("llama2_70b", "Llama 2 70B", LLAMA2.format("70b"), (80, 8192, 64, 8, 28672, 32000), 4096),
                  ("llama3_8b", "Llama 3 8B", LLAMA3.format("8B"), (32, 4096, 32, 8, 14336, 128256), 8192),
                  ("mistral_7b", "Mistral 7B", MISTRAL, (32, 4096, 32, 8, 14336, 32000), 4096),
                  ("llama3_70b", "Llama 3 70B", LLAMA3.format("70B"), (80, 8192, 64, 8, 28672, 128256), 8192)]
SIZES_OF_T5 = [("base", 12, 768, 12, 64, 3072), ("large", 24, 1024, 16, 64, 4096), ("3b", 24, 1024, 32, 128, 16384),
               ("11b", 24, 1024, 128, 128, 65536)]


def write(name, summary, *variants):
    network.write(MODELS, name, summary, list(variants))


def of_length(net, length, source, longest=0, unit="tokens"):
    return net.variant(f"seq{length}", f"Sequences of {length} {unit}.", source, length, longest)


def write_bert():
    for name, sizes in (("base", (12, 768, 12, 3072)), ("large", (24, 1024, 16, 4096))):
        variants = [of_length(transformers.bert(predictions, *sizes), length, BERT.format(*sizes, predictions), 512, "words")
                    for length, predictions in ((128, 20), (512, 80))]
        write(f"bert_{name}", f"BERT-{name} in pre-training: a transformer encoder that predicts masked words.", *variants)


def write_decoders():
    for size, *numbers in SIZES_OF_MPT:
        variants = [of_length(transformers.mpt(*numbers), length, MPT.format(size)) for length in (2048, 512)]
        write(f"mpt_{size}", f"MPT-{size}: a GPT-style decoder with fused causal attention.", *variants)
    for size, *numbers in SIZES_OF_GPT2:
        write(f"gpt2_{size}", f"GPT-2 {size}: a decoder with fused causal attention.",
              of_length(transformers.gpt2(*numbers), 1024, GPT2.format(*numbers), 1024))
    for name, title, source, numbers, length in SIZES_OF_LLAMA:
        write(name, f"{title}: a decoder with rotary positions, gated feed-forward and fused causal attention.",
              of_length(transformers.llama(*numbers), length, LLAMA.format(source, *numbers)))
    for size, numbers in (("1B", (16, 2048, 32, 8, 8192, 128256)), ("3B", (28, 3072, 24, 8, 8192, 128256))):
        write(f"llama3_2_{size.lower()}", f"Llama 3.2 {size}: Llama 3's decoder, small, with tied embeddings.",
              of_length(transformers.llama(*numbers, tied=True), 8192, LLAMA.format(LLAMA32.format(size), *numbers)))
    numbers = (28, 3584, 28, 4, 18944, 152064)
    write("qwen2_5_7b", "Qwen2.5 7B: Llama's decoder with a larger vocabulary and biases of queries, keys and values.",
          of_length(transformers.llama(*numbers, biases="qkv"), 4096, LLAMA.format(QWEN, *numbers)))
    numbers = (32, 4096, 32, 32, 11008, 103168)
    write("internlm_7b", "InternLM 7B: Llama's decoder with a larger vocabulary and biases in attention.",
          of_length(transformers.llama(*numbers, biases="qkvo"), 2048, LLAMA.format(INTERNLM, *numbers)))


def write_other_transformers():
    for size, *numbers in SIZES_OF_T5:
        write(f"t5_{size}", f"T5 {size}: an encoder and a decoder that fills in what was left out of the input.",
              of_length(transformers.t5(*numbers), 512, T5.format(size, *numbers)))
    for name, *numbers in (("vit_b_16", 12, 768, 12, 3072), ("vit_l_16", 24, 1024, 16, 4096)):
        write(name, "Vision Transformer on patches of 16 x 16.", transformers.vit(*numbers).variant(
            "torchvision", "1000 classes; 224 x 224; fused attention, no dropout.", VIT.format(*numbers)))


def write_convolutions():
    base = json.loads((MODELS / "resnet101.json").read_text())["variants"][0]
    write("resnext101_32x4d", "ResNeXt-101 32x4d: ResNet-101 with grouped 3x3 convolutions, twice as wide.",
          convolutions.resnext101(base).variant(
              "torchvision", "1000 classes; 32 groups of 4 channels in the first stage.",
              "Xie et al., Aggregated Residual Transformations, CVPR 2017, table 1; made from resnet101.json"))
    write("ssd300_vgg16", "SSD300: object detection by VGG-16 and heads on six maps.",
          convolutions.ssd300().variant(
              "torchvision", "91 classes of COCO; 300 x 300; without the loss and the search for boxes.",
              "Liu et al., SSD, ECCV 2016, with the names of torchvision 0.14.1's ssd300_vgg16 (num_params 35641826)"))
    write("cosmoflow", "CosmoFlow of MLPerf HPC: parameters of a universe from its matter in three dimensions.",
          convolutions.cosmoflow().variant(
              "mlperf_hpc", "128 x 128 x 128 places at 4 redshifts; 5 convolutions of 2 x 2 x 2.",
              "mlcommons/hpc@7783a765ebaf: cosmoflow/models/cosmoflow.py and configs/cosmo.yaml; Mathuriya et al., SC 2018"))


def write_segmentation():
    write("deepcam", "DeepCAM of MLPerf HPC: which places of a climate simulation are storms.",
          segmentation.deepcam().variant(
              "mlperf_hpc", "DeepLabv3+ with Xception; 16 channels of 768 x 1152, 3 classes.",
              "mlcommons/hpc@c622604875d5: deepcam/src/deepCam/architecture/deeplab_xception.py; Kurth et al., SC 2018"))
    write("unet3d", "3D U-Net of MLPerf Training: kidneys and their tumours in tomographies.",
          segmentation.unet3d().variant(
              "mlperf_training", "128 x 128 x 128 places, 3 classes; instance normalisation.",
              "mlcommons/training@2c05bba037f9: image_segmentation/pytorch/model/unet3d.py; Cicek et al., MICCAI 2016"))


def main():
    write_bert()
    write_decoders()
    write_other_transformers()
    write_convolutions()
    write_segmentation()


if __name__ == "__main__":
    main()
