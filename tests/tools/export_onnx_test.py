"""tools/export_onnx.py against models/*.json, and graphs of one's own against sums by hand."""

import json
import unittest

from python_support import InAFolder, require

require("onnx")

import onnx
from onnx import TensorProto, helper


def weights(name, *shape):
    count = 1
    for extent in shape:
        count *= extent
    return helper.make_tensor(name, TensorProto.FLOAT, shape, [0.0] * count)


def model_of(nodes, initializers, inputs, output="out"):
    graph = helper.make_graph(nodes, "graph", inputs, [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
                              initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])


def real_input(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def small_network():
    nodes = [
        helper.make_node("Conv", ["image", "conv.weight"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["a", "bn.weight", "bn.bias", "bn.mean", "bn.var"], ["b", "m", "v"],
                         training_mode=1),
        helper.make_node("Relu", ["b"], ["c"], name="activation"),
        helper.make_node("GlobalAveragePool", ["c"], ["d"]),
        helper.make_node("Flatten", ["d"], ["e"]),
        helper.make_node("Transpose", ["fc.weight"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["e", "turned"], ["f"]),
        helper.make_node("Add", ["f", "fc.bias"], ["g"]),
        helper.make_node("Mul", ["g", "scale"], ["out"])]
    initializers = [weights("conv.weight", 4, 3, 3, 3), *(weights(f"bn.{what}", 4) for what in ("weight", "bias", "mean", "var")),
                    weights("fc.weight", 10, 4), weights("fc.bias", 10), weights("scale")]
    return model_of(nodes, initializers, [real_input("image", "batch", 3, 8, 8)])


class ExportOnnx(InAFolder):
    def export(self, model, *arguments):
        """The variant that the file holds, once farandole has accepted it."""
        onnx.save(model, self.folder / "own.onnx")
        finished = self.tool("export_onnx.py", "own.onnx", "--output", "own.json", *arguments)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("own.json: model, ok", self.farandole("check", "own.json"))
        return json.loads((self.folder / "own.json").read_text())["variants"][0]

    def test_operators_become_layers_with_the_tensors_that_training_changes(self):
        rows = [(layer["name"], layer["type"], layer.get("macs", 0), layer["output"],
                 [tensor["name"] for tensor in layer.get("tensors", [])]) for layer in self.export(small_network())["layers"]]
        self.assertEqual(rows, [
            ("conv", "conv2d", 4 * 8 * 8 * 27, [4, 8, 8], ["conv.weight"]),
            ("bn", "batch_norm2d", 0, [4, 8, 8], ["bn.weight", "bn.bias"]),
            ("activation", "relu", 0, [4, 8, 8], []),
            ("global_average_pool", "adaptive_avg_pool2d", 0, [4, 1, 1], []),
            ("fc", "linear", 40, [10], ["fc.weight"]),
            ("fc_2", "add", 0, [10], ["fc.bias"]),
            ("mul", "mul", 0, [10], [])])

    def test_a_fixed_batch_is_divided_out(self):
        open_batch = self.export(small_network())
        fixed = small_network()
        fixed.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 6
        self.assertEqual(self.export(fixed)["layers"], open_batch["layers"])

    def test_a_recurrent_layer_uses_every_weight_at_every_step(self):
        nodes = [helper.make_node("LSTM", ["x", "W", "R"], ["out"], hidden_size=5)]
        # Steps first, as ONNX has it: the batch is not known from the first extent, so it is one.
        model = model_of(nodes, [weights("W", 1, 20, 3), weights("R", 1, 20, 5)], [real_input("x", 1, 7, 3)])
        self.assertEqual(self.export(model)["macs"], 7 * (20 * 3 + 20 * 5))

    def test_open_extents_are_asked_for_by_name(self):
        model = model_of([helper.make_node("MatMul", ["x", "w"], ["out"])], [weights("w", 4, 8)],
                         [real_input("x", "batch", "sequence", 4)])
        onnx.save(model, self.folder / "own.onnx")
        self.assert_refused(self.tool("export_onnx.py", "own.onnx"), "--dim: expected sequence=EXTENT for input x")
        self.assertEqual(self.export(model, "--dim", "sequence=16")["macs"], 16 * 4 * 8)

    def test_bad_input_is_one_line(self):
        self.write("text.onnx", "this is no model")
        onnx.save(model_of([helper.make_node("Einsum", ["x", "x"], ["out"], equation="ij,ij->i")], [], [real_input("x", 2, 2)]),
                  self.folder / "einsum.onnx")
        for arguments, message in [(["none.onnx"], "none.onnx: No such file or directory"),
                                   (["text.onnx"], "text.onnx: expected an ONNX model"),
                                   (["einsum.onnx"], "multiply-adds are known, got Einsum"),
                                   (["einsum.onnx", "--dim", "x"], "--dim: expected NAME=EXTENT")]:
            with self.subTest(arguments):
                self.assert_refused(self.tool("export_onnx.py", *arguments), message)


if __name__ == "__main__":
    unittest.main()
