"""The layers of an ONNX graph: its operators, in their order, which is one of execution.

A layer is an operator that makes real numbers from the graph's inputs. What only shapes a tensor anew, or computes a
shape, is none. Its tensors are the real initializers that it reads, also through an operator that hands them on; not
those that training does not change with a gradient, such as the statistics of batch normalisation, and no single
numbers, which are constants. ONNX does not say what is frozen.
"""

import math

import onnx

from exporters.workload_file import InputError, Layer, sample_shape, snake_case, unique

REAL = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16, onnx.TensorProto.DOUBLE}
HANDS_ON = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"}
REARRANGES = HANDS_ON | {"Transpose", "Cast", "Slice", "Concat", "Split"}
NO_GRADIENT = {"BatchNormalization": (3, 4), "Clip": (1, 2), "Resize": (1, 2), "Pad": (2,), "Pow": (1,), "Dropout": (1,)}
NOT_KNOWN = {"Einsum", "If", "Loop", "Scan", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"}
TYPES = {"Gemm": "linear", "MatMul": "linear", "Conv": "conv{}d", "ConvTranspose": "conv_transpose{}d",
         "BatchNormalization": "batch_norm{}d", "MaxPool": "max_pool{}d", "AveragePool": "avg_pool{}d",
         "GlobalAveragePool": "adaptive_avg_pool{}d", "Gather": "embedding"}


def extents_of(tensor_type):
    """Of a shape: numbers, names of what is left open, or None; of an unknown shape a single None."""
    if not tensor_type.HasField("shape"):
        return [None]
    return [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None for dim in tensor_type.shape.dim]


def close(model, dims):
    """Gives every input whole shapes: `dims` where it leaves extents open, one sample where that is the batch."""
    weights = {initializer.name for initializer in model.graph.initializer}
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value") or value.name in weights:
                continue
            if dim.dim_param not in dims and axis > 0:
                raise InputError(f"--dim: expected {dim.dim_param or 'every extent'}=EXTENT for input {value.name}, "
                                 f"whose shape is {extents_of(value.type.tensor_type)}, got none")
            dim.dim_value = dims.get(dim.dim_param, 1)


class Graph:
    """What is known of every value of a graph by its name."""

    def __init__(self, model, dims):
        close(model, dims)
        try:
            model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        except (RuntimeError, onnx.shape_inference.InferenceError) as error:
            raise InputError(f"the shapes of the model contradict each other: {str(error).splitlines()[0]}") from error
        self.nodes = list(model.graph.node)
        self.tensors = {one.name: one for one in model.graph.initializer}
        inputs = [one for one in model.graph.input if one.name not in self.tensors]
        if not inputs:
            raise InputError("expected a model with an input, got one without")
        self.values = {one.name: one.type.tensor_type
                       for one in [*model.graph.value_info, *model.graph.input, *model.graph.output]}
        self.batch = extents_of(inputs[0].type.tensor_type)[0]
        self.data = {one.name for one in inputs}  # what is computed from the inputs, by more than their shapes
        self.behind = {name: [name] for name in self.tensors}  # the initializers that a value is a part or the whole of

    def is_known(self, name):
        extents = self.tensors[name].dims if name in self.tensors else \
            extents_of(self.values[name]) if name in self.values else [None]
        return all(isinstance(extent, int) and extent > 0 for extent in extents)

    def shape(self, name):
        if name in self.tensors:
            return list(self.tensors[name].dims)
        if not self.is_known(name):
            raise InputError(f"expected a whole shape of {name!r}, got none; --dim closes what inputs leave open")
        return extents_of(self.values[name])

    def is_real(self, name):
        kind = self.tensors[name].data_type if name in self.tensors else \
            self.values[name].elem_type if name in self.values else None
        return kind in REAL

    def elements(self, name):
        return math.prod(self.shape(name))


def follow(graph, node):
    """Notes what becomes of data and of initializers here."""
    if node.op_type == "Shape":
        return
    if any(name in graph.data for name in node.input):
        graph.data.update(node.output)
    elif node.op_type in REARRANGES:
        initializers = [one for name in node.input for one in graph.behind.get(name, [])]
        graph.behind.update({output: initializers for output in node.output})


def multiply_adds(graph, node):
    first, second = node.input[0], node.input[1] if len(node.input) > 1 else ""
    if node.op_type == "Conv":
        return graph.elements(node.output[0]) * math.prod(graph.shape(second)[1:])
    if node.op_type == "ConvTranspose":
        return graph.elements(first) * math.prod(graph.shape(second)[1:])
    if node.op_type == "MatMul":
        return graph.elements(node.output[0]) * graph.shape(first)[-1]
    if node.op_type == "Gemm":
        turned = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
        return graph.elements(node.output[0]) * graph.shape(first)[0 if turned else -1]
    if node.op_type in ("LSTM", "GRU", "RNN"):  # every weight once for each sample at each step
        steps_and_samples = math.prod(graph.shape(first)[:2])
        return steps_and_samples * (graph.elements(second) + graph.elements(node.input[2]))
    return 0


def kind_of(graph, node):
    dimensions = max(1, len(graph.shape(node.output[0])) - 2)
    is_product_of_data = node.op_type == "MatMul" and all(name in graph.data for name in node.input)
    name = "mat_mul" if is_product_of_data else TYPES.get(node.op_type, snake_case(node.op_type))
    return name.format(dimensions)


def tensors_of(graph, node, taken):
    """Those that no layer before has."""
    trained = [name for place, name in enumerate(node.input) if place not in NO_GRADIENT.get(node.op_type, ())]
    own = []
    for tensor in (tensor for name in trained for tensor in graph.behind.get(name, [])):
        if tensor not in taken and graph.is_real(tensor) and graph.tensors[tensor].dims:
            taken.add(tensor)
            own.append((tensor, graph.shape(tensor)))
    return own


def name_of(node, tensors):
    """What its tensors have before the last dot, as frameworks name modules; else its own."""
    module = tensors[0][0].rpartition(".")[0] if tensors else ""
    return module or node.name.strip("/") or snake_case(node.op_type)


def is_layer(graph, node):
    return node.output[0] in graph.data and node.op_type not in HANDS_ON and graph.is_real(node.output[0])


def refuse_unknown(node):
    if node.op_type in NOT_KNOWN or node.domain not in ("", "ai.onnx"):
        raise InputError(f"expected operators of training whose multiply-adds are known, got {node.op_type}")


def layers_of(model, dims):
    """The layers, and the names of operators without multiply-adds or tensors whose shape nobody knows."""
    graph = Graph(model, dims)
    layers, left_out, names, taken = [], [], set(), set()
    for node in graph.nodes:
        refuse_unknown(node)
        follow(graph, node)
        if not is_layer(graph, node):
            continue
        tensors, macs = tensors_of(graph, node, taken), multiply_adds(graph, node)
        ins = list(dict.fromkeys(name for name in node.input if name in graph.data))
        if not (macs or tensors) and not all(map(graph.is_known, [*ins, node.output[0]])):
            left_out.append(node.name or node.op_type)
            continue
        layers.append(Layer(unique(name_of(node, tensors), names), kind_of(graph, node),
                            sample_shape([graph.shape(name) for name in ins], graph.batch),
                            sample_shape([graph.shape(node.output[0])], graph.batch), -(-macs // graph.batch), tensors))
    return layers, left_out
