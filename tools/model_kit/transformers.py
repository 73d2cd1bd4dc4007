"""Transformers, as kernels: products of weights ("linear"), of activations ("matmul", or "attention" where one kernel
does both and skips what a causal mask hides), and what stands between them.

Norms and biases are tensors of their own layers, a tied output matrix is the embedding's and has none.
"""

from model_kit.network import SEQUENCE, Network, tensors


def self_attention(net, at, rows, width, heads, inner=None):
    """Scores, softmax, dropout and context one after the other, as before fused attention."""
    inner = inner or width
    macs = net.scores(at, rows, rows, heads, inner // heads)
    softmax_and_context(net, at, rows, rows, heads, inner, macs)


def softmax_and_context(net, at, queries, keys, heads, inner, macs):
    scores = [heads, queries, keys]
    net.pointwise(f"{at}.softmax", "softmax", scores)
    net.pointwise(f"{at}.dropout", "dropout", scores)
    net.add(f"{at}.context", "matmul", scores, [heads, queries, inner // heads], macs)


def bert(predictions, blocks, width, heads, inner, words=30522, positions=512):
    net = Network()
    rows = [SEQUENCE, width]
    for part, number in (("word", words), ("position", positions), ("token_type", 2)):
        net.embedding(f"bert.embeddings.{part}_embeddings", number, SEQUENCE, width)
    net.layer_norm("bert.embeddings.LayerNorm", rows)
    net.pointwise("bert.embeddings.dropout", "dropout", rows)
    with net.block("bert.encoder.layer.{}", blocks):
        for part in ("query", "key", "value"):
            net.linear(f"attention.self.{part}", SEQUENCE, width, width)
        self_attention(net, "attention", SEQUENCE, width, heads)
        net.linear("attention.output.dense", SEQUENCE, width, width)
        for part in ("attention.output", "output"):
            if part == "output":
                net.linear("intermediate.dense", SEQUENCE, width, inner)
                net.pointwise("intermediate.gelu", "gelu", [SEQUENCE, inner])
                net.linear("output.dense", SEQUENCE, inner, width)
            net.pointwise(f"{part}.dropout", "dropout", rows)
            net.pointwise(f"{part}.add", "add", rows)
            net.layer_norm(f"{part}.LayerNorm", rows)
    net.linear("bert.pooler.dense", 1, width, width)
    net.linear("cls.predictions.transform.dense", predictions, width, width)
    net.pointwise("cls.predictions.transform.gelu", "gelu", [predictions, width])
    net.layer_norm("cls.predictions.transform.LayerNorm", [predictions, width])
    net.add("cls.predictions.decoder", "linear", [predictions, width], [predictions, words], predictions * width * words,
            tensors("cls.predictions", bias=[words]))
    net.linear("cls.seq_relationship", 1, width, 2)
    return net


def head(net, name, width, words, tied, loss="cross_entropy"):
    """The output matrix over the vocabulary, and the loss; a fused one makes gradients of logits in their place."""
    own = () if tied else tensors(name, weight=[words, width])
    net.add(name, "linear", [SEQUENCE, width], [SEQUENCE, words], {SEQUENCE: width * words}, own)
    net.pointwise("loss.softmax", loss, [SEQUENCE, words])


def decoder(blocks, width, heads, words, positions, names, loss="cross_entropy"):
    """GPT-style: learned positions, norms before attention and feed-forward, biases, tied embeddings."""
    net = Network()
    rows = [SEQUENCE, width]
    net.embedding("transformer.wte", words, SEQUENCE, width)
    net.embedding("transformer.wpe", positions, SEQUENCE, width)
    with net.block(names["block"], blocks):
        net.layer_norm(names["norms"][0], rows)
        net.linear(names["qkv"], SEQUENCE, width, 3 * width)
        net.attention(names["attention"], SEQUENCE, heads, width // heads)
        net.linear(names["projection"], SEQUENCE, width, width)
        net.pointwise("add_1", "add", rows)
        net.layer_norm(names["norms"][1], rows)
        net.linear(names["up"], SEQUENCE, width, 4 * width)
        net.pointwise(names["gelu"], "gelu", [SEQUENCE, 4 * width])
        net.linear(names["down"], SEQUENCE, 4 * width, width)
        net.pointwise("add_2", "add", rows)
    net.layer_norm(names["last"], rows)
    head(net, "lm_head", width, words, True, loss)
    return net


def mpt(blocks, width, heads, words=50368):
    """Its table of positions is as long as its sequences, its loss fused (loss_fn: fused_crossentropy)."""
    return decoder(blocks, width, heads, words, SEQUENCE, {
        "block": "transformer.blocks.{}", "norms": ("norm_1", "norm_2"), "qkv": "attn.Wqkv", "attention": "attn.flash",
        "projection": "attn.out_proj", "up": "ffn.up_proj", "gelu": "ffn.gelu", "down": "ffn.down_proj",
        "last": "transformer.norm_f"}, "fused_cross_entropy")


def gpt2(blocks, width, heads, words=50257, positions=1024):
    return decoder(blocks, width, heads, words, positions, {
        "block": "transformer.h.{}", "norms": ("ln_1", "ln_2"), "qkv": "attn.c_attn", "attention": "attn.flash",
        "projection": "attn.c_proj", "up": "mlp.c_fc", "gelu": "mlp.gelu", "down": "mlp.c_proj",
        "last": "transformer.ln_f"})


def llama(blocks, width, heads, groups, inner, words, biases="", tied=False):
    """Rotary positions, keys and values of `groups` heads, gated feed-forward, RMS norms; biases of "q", "k", "v" and "o"."""
    net = Network()
    rows, head_width = [SEQUENCE, width], width // heads
    net.embedding("model.embed_tokens", words, SEQUENCE, width)
    with net.block("model.layers.{}", blocks):
        net.rms_norm("input_layernorm", rows)
        for part, number in (("q", heads), ("k", groups), ("v", groups)):
            net.linear(f"self_attn.{part}_proj", SEQUENCE, width, number * head_width, part in biases)
            if part != "v":
                net.pointwise(f"self_attn.{part}_rotary", "rotary", [number, SEQUENCE, head_width])
        net.attention("self_attn.flash", SEQUENCE, heads, head_width, groups)
        net.linear("self_attn.o_proj", SEQUENCE, width, width, "o" in biases)
        net.pointwise("add_1", "add", rows)
        net.rms_norm("post_attention_layernorm", rows)
        net.linear("mlp.gate_proj", SEQUENCE, width, inner, False)
        net.pointwise("mlp.silu", "silu", [SEQUENCE, inner])
        net.linear("mlp.up_proj", SEQUENCE, width, inner, False)
        net.pointwise("mlp.multiply", "multiply", [SEQUENCE, inner])
        net.linear("mlp.down_proj", SEQUENCE, inner, width, False)
        net.pointwise("add_2", "add", rows)
    net.rms_norm("model.norm", rows)
    head(net, "lm_head", width, words, tied)
    return net


def t5_attention(net, at, queries, keys, width, heads, inner, biased):
    rows = [queries, width]
    net.rms_norm(f"{at}.layer_norm", rows)
    for part, length in (("q", queries), ("k", keys), ("v", keys)):
        net.linear(f"{at}.{part}", length, width, inner, False)
    macs = net.scores(at, queries, keys, heads, inner // heads)
    scores = [heads, queries, keys]
    if "EncDec" not in at:  # what distance adds to every score: its table is the first block's
        net.add(f"{at}.position_bias", "add", scores, scores, 0,
                tensors(f"{at}.relative_attention_bias", weight=[32, heads]) if biased else ())
    softmax_and_context(net, at, queries, keys, heads, inner, macs)
    net.linear(f"{at}.o", queries, inner, width, False)
    net.pointwise(f"{at}.output_dropout", "dropout", rows)
    net.pointwise(f"{at}.add", "add", rows)


def t5_block(net, rows, width, heads, key_width, inner, biased, encoded=None):
    t5_attention(net, "SelfAttention", rows, rows, width, heads, heads * key_width, biased)
    if encoded:
        t5_attention(net, "EncDecAttention", rows, encoded, width, heads, heads * key_width, False)
    at = "DenseReluDense"
    net.rms_norm(f"{at}.layer_norm", [rows, width])
    net.linear(f"{at}.wi", rows, width, inner, False)
    net.pointwise(f"{at}.relu", "relu", [rows, inner])
    net.pointwise(f"{at}.dropout", "dropout", [rows, inner])
    net.linear(f"{at}.wo", rows, inner, width, False)
    net.pointwise(f"{at}.output_dropout", "dropout", [rows, width])
    net.pointwise(f"{at}.add", "add", [rows, width])


def t5(blocks, width, heads, key_width, inner, words=32128, targets=114):
    """`targets` tokens are predicted, however long the input is."""
    net = Network()
    for part, rows, encoded in (("encoder", SEQUENCE, None), ("decoder", targets, SEQUENCE)):
        own = tensors("shared", weight=[words, width]) if part == "encoder" else ()
        net.add(f"{part}.embed_tokens", "embedding", [rows], [rows, width], 0, own)
        net.pointwise(f"{part}.dropout", "dropout", [rows, width])
        for name, times, first in (("0", 1, 0), ("{}", blocks - 1, 1)):
            with net.block(f"{part}.block.{name}", times, first if name == "{}" else 0):
                t5_block(net, rows, width, heads, key_width, inner, name == "0", encoded)
        net.rms_norm(f"{part}.final_layer_norm", [rows, width])
    net.add("lm_head", "linear", [targets, width], [targets, words], targets * width * words)
    net.pointwise("loss.softmax", "cross_entropy", [targets, words])
    return net


def vit(blocks, width, heads, inner, patch=16, image=224, classes=1000):
    net = Network()
    side = image // patch
    rows = side * side + 1
    net.add("conv_proj", "conv2d", [3, image, image], [width, side, side], 3 * patch * patch * width * side * side,
            tensors("conv_proj", weight=[width, 3, patch, patch], bias=[width]))
    net.add("class_token", "concat", [rows - 1, width], [rows, width], 0, [{"name": "class_token", "shape": [1, 1, width]}])
    net.add("encoder.pos_embedding", "add", [rows, width], [rows, width], 0,
            [{"name": "encoder.pos_embedding", "shape": [1, rows, width]}])
    with net.block("encoder.layers.encoder_layer_{}", blocks):
        net.layer_norm("ln_1", [rows, width])
        net.add("self_attention.in_proj", "linear", [rows, width], [rows, 3 * width], rows * width * 3 * width,
                [{"name": "self_attention.in_proj_weight", "shape": [3 * width, width]},
                 {"name": "self_attention.in_proj_bias", "shape": [3 * width]}])
        net.attention("self_attention.attention", rows, heads, width // heads, causal=False)
        net.linear("self_attention.out_proj", rows, width, width)
        net.pointwise("add_1", "add", [rows, width])
        net.layer_norm("ln_2", [rows, width])
        net.linear("mlp.0", rows, width, inner)
        net.pointwise("mlp.1", "gelu", [rows, inner])
        net.linear("mlp.3", rows, inner, width)
        net.pointwise("add_2", "add", [rows, width])
    net.layer_norm("encoder.ln", [rows, width])
    net.linear("heads.head", 1, width, classes)
    return net
