"""Reads MLCommons Chakra execution traces, and tells what they say of data-parallel training.

A trace (.et) is a sequence of protobuf messages, each behind its length: GlobalMetadata, then nodes. The fields below are
those of schema/protobuf/et_def.proto of github.com/mlcommons/chakra that matter here; protobuf passes over all others.
"""

import dataclasses

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from exporters.workload_file import InputError, Layer, unique

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7  # NodeType
COLLECTIVES = ["ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL", "REDUCE_SCATTER",
               "REDUCE_SCATTER_BLOCK", "BARRIER"]  # CollectiveCommType
IGNORED = {"BROADCAST", "BARRIER"}  # of parameters at the start, and of ranks: no gradients
FIELD = descriptor_pb2.FieldDescriptorProto
ATTRIBUTE = [("name", 1, FIELD.TYPE_STRING), ("int32_val", 7, FIELD.TYPE_INT32), ("int64_val", 9, FIELD.TYPE_INT64),
             ("uint32_val", 11, FIELD.TYPE_UINT32), ("uint64_val", 13, FIELD.TYPE_UINT64)]
NODE = [("id", 1, FIELD.TYPE_UINT64), ("name", 2, FIELD.TYPE_STRING), ("type", 3, FIELD.TYPE_INT32),
        ("ctrl_deps", 4, FIELD.TYPE_UINT64), ("data_deps", 5, FIELD.TYPE_UINT64), ("duration_micros", 7, FIELD.TYPE_UINT64),
        ("attr", 10, ".farandole.Attribute")]
REPEATED = {"ctrl_deps", "data_deps", "attr"}


def declare(file, name, fields):
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
        label = FIELD.LABEL_REPEATED if field in REPEATED else FIELD.LABEL_OPTIONAL
        row = message.field.add(name=field, number=number, label=label)
        if isinstance(kind, str):
            row.type, row.type_name = FIELD.TYPE_MESSAGE, kind
        else:
            row.type = kind


def node_class():
    file = descriptor_pb2.FileDescriptorProto(name="farandole_chakra.proto", package="farandole", syntax="proto3")
    declare(file, "Attribute", ATTRIBUTE)
    declare(file, "Node", NODE)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("farandole.Node")
    newer = getattr(message_factory, "GetMessageClass", None)
    return newer(descriptor) if newer else message_factory.MessageFactory(pool).GetPrototype(descriptor)


Node = node_class()


def messages(data):
    """The bytes of each message."""
    position = 0
    while position < len(data):
        length = shift = 0
        while True:
            if position >= len(data) or shift > 28:
                raise InputError("expected a Chakra trace, got a file that is none or cut short")
            byte = data[position]
            position, length, shift = position + 1, length | (byte & 0x7F) << shift, shift + 7
            if byte < 0x80:
                break
        if position + length > len(data):
            raise InputError("expected a Chakra trace, got a file that is none or cut short")
        yield data[position:position + length]
        position += length


def read_nodes(data):
    """By number."""
    rows = list(messages(data))[1:]
    try:
        nodes = [Node.FromString(row) for row in rows]
    except DecodeError as error:
        raise InputError("expected a Chakra trace, got messages of another kind") from error
    if not nodes:
        raise InputError("expected a Chakra trace with nodes, got none")
    by_number = {node.id: node for node in nodes}
    if len(by_number) < len(nodes):
        raise InputError("expected nodes with numbers of their own, got two with the same")
    return by_number


def attribute(node, name):
    """Its number; None where the node has no such attribute."""
    for one in node.attr:
        if one.name == name:
            return one.int64_val or one.uint64_val or one.int32_val or one.uint32_val
    return None


def ordered(nodes):
    """Every node after those it depends on, otherwise by number."""
    order, state = [], {}
    for start in sorted(nodes):
        waiting = [start]
        while waiting:
            number = waiting[-1]
            node = nodes.get(number)
            if node is None:
                raise InputError(f"expected nodes that depend on nodes, got one that depends on {number}, which is not there")
            if state.get(number) == "done":
                waiting.pop()
                continue
            pending = [one for one in sorted({*node.ctrl_deps, *node.data_deps}, reverse=True) if state.get(one) != "done"]
            if state.get(number) == "open" and pending:
                raise InputError(f"expected nodes without a circle, got node {number} in one")
            state[number] = "open"
            waiting += pending
            if not pending:
                state[number] = "done"
                order.append(node)
                waiting.pop()
    return order


def gradient_collectives(order):
    """The all-reduces, in order; refuses what data-parallel training does not do."""
    found = []
    for node in order:
        if node.type in (SEND, RECEIVE):
            raise InputError(f"expected a data-parallel trace, got point-to-point node {node.id} ({node.name})")
        if node.type != COLLECTIVE:
            continue
        kind = attribute(node, "comm_type")
        name = COLLECTIVES[kind] if kind is not None and kind < len(COLLECTIVES) else f"collective {kind}"
        if name not in IGNORED | {"ALL_REDUCE"}:
            raise InputError(f"expected a data-parallel trace with all-reduces, got {name} in node {node.id} ({node.name})")
        if name == "ALL_REDUCE":
            found.append(node)
    if not found:
        raise InputError("expected a trace with all-reduces, got one without")
    return found


@dataclasses.dataclass
class Traced:
    layers: list    # forward order: the last gradient that is summed is the first layer's
    seconds: dict   # by name of the layer: (forward, backward)
    update: float


def claim(nodes, last, claimed, summed):
    """Seconds of computation that `last` waits for and nobody has claimed; none of it may wait for what is `summed`."""
    waiting, micros = [last.id], 0
    while waiting:
        number = waiting.pop()
        if number in claimed:
            continue
        claimed.add(number)
        node = nodes[number]
        before = [*node.ctrl_deps, *node.data_deps]
        waiting += before
        if node.type == COMPUTE:
            micros += node.duration_micros
            if summed & set(before):
                raise InputError(f"expected one iteration of data-parallel training, got node {number} ({node.name}) that waits for "
                                 f"one all-reduce and comes before another, {last.id} ({last.name})")
    return micros / 1e6


def training_of(data, element):
    """One layer for each all-reduce, with the computation that it waits for and no all-reduce before it did.

    The trace does not say where the pass forward ends. All that the first all-reduce waits for is taken as the pass forward of
    the last layer: its gradient is ready at the same moment, and the iteration as long. What comes after the last all-reduce is
    the update. Computation is one stream, as on one device.
    """
    nodes = read_nodes(data)
    order = ordered(nodes)
    if not any(node.type == COMPUTE and node.duration_micros for node in order):
        raise InputError("expected compute nodes with durations, got none")
    collectives = gradient_collectives(order)
    summed = {one.id for one in collectives}
    claimed, layers, seconds, names = set(), [], {}, set()
    for collective in collectives:
        own = claim(nodes, collective, claimed, summed)
        size = attribute(collective, "comm_size")
        if not size or size % element:
            raise InputError(f"expected whole numbers of {element} bytes to sum, got {size} in node {collective.id}")
        name = unique(collective.name or f"all_reduce_{collective.id}", names)
        layers.append(Layer(name, "gradient", [1], [1], 0, [(name, [size // element])]))
        seconds[name] = (0.0, own) if len(layers) > 1 else (own, 0.0)
    rest = sum(node.duration_micros for node in order if node.type == COMPUTE and node.id not in claimed) / 1e6
    return Traced(layers[::-1], seconds, rest)
