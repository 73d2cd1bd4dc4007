"""tools/export_chakra.py on traces made here, node by node."""

import json
import sys
import unittest

from python_support import ROOT, InAFolder, require

require("google.protobuf")

sys.path.insert(0, str(ROOT / "tools"))
from exporters.chakra_trace import COLLECTIVE, COMPUTE, SEND, Node

ALL_REDUCE, ALL_TO_ALL = 0, 6


def compute(number, micros, *after):
    return Node(id=number, name=f"compute{number}", type=COMPUTE, duration_micros=micros, data_deps=after)


def collective(number, name, size, *after, kind=ALL_REDUCE):
    node = Node(id=number, name=name, type=COLLECTIVE, ctrl_deps=after)
    node.attr.add(name="comm_type", int64_val=kind)
    node.attr.add(name="comm_size", uint64_val=size)
    return node


# Forward 1 and 2 (3 ms), backward of the last layer 3 (2 ms) and of the first 5 (4 ms); the update 7 (1 ms) waits for both sums.
TRAINING = [compute(1, 1000), compute(2, 2000, 1), compute(3, 2000, 2), collective(4, "last", 400_000, 3),
            compute(5, 4000, 3), collective(6, "first", 80_000, 5), compute(7, 1000, 4, 6)]

SCENARIO = """{
  "name": "traced",
  "workload": { "model": "own.json", "batch_per_rank": 32, "host_dispatch": "ready" },
  "platform": { "topology": "ethernet-10g", "ranks": 4 },
  "strategy": { "kind": "ddp", "first_bucket": "1 B", "bucket_cap": "1 B" },
  "measure": { "iterations": 1, "fidelity": "analytic" }
}"""


def delimited(message):
    length, prefix = len(message), b""
    while length >= 0x80:
        prefix, length = prefix + bytes([length & 0x7F | 0x80]), length >> 7
    return prefix + bytes([length]) + message


class ExportChakra(InAFolder):
    def trace(self, nodes):
        metadata = b"\x0a\x050.0.4"
        data = b"".join(map(delimited, [metadata, *(node.SerializeToString() for node in nodes)]))
        (self.folder / "rank.et").write_bytes(data)

    def export(self, nodes):
        self.trace(nodes)
        return self.tool("export_chakra.py", "rank.et", "--batch", "32", "--output", "own.json")

    def test_each_all_reduce_is_a_layer_with_the_computation_it_waited_for(self):
        finished = self.export(TRAINING)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        self.assertIn("own.json: model, ok", self.farandole("check", "own.json"))
        variant = json.loads((self.folder / "own.json").read_text())["variants"][0]
        self.assertEqual([(layer["name"], layer["tensors"][0]["shape"]) for layer in variant["layers"]],
                         [("first", [20_000]), ("last", [100_000])])
        profile = variant["profiles"][0]
        self.assertEqual(profile["layers"], {"last": ["5.0000 ms", "0.0000 ms"], "first": ["0.0000 ms", "4.0000 ms"]})
        self.assertEqual(profile["update"], "1.0000 ms")

    def test_it_runs_as_the_trace_did_and_sums_on_the_way(self):
        self.assertEqual(self.export(TRAINING).returncode, 0)
        self.write("scenario.json", SCENARIO)
        point = json.loads(self.farandole("run", "scenario.json", "--format", "json"))["points"][0]
        # And the copies of 480 kB into DDP's buckets.
        self.assertAlmostEqual(point["breakdown"]["compute"], 0.010, delta=2e-5)
        self.assertEqual(point["gradient_bytes"], 480_000)
        # The 400 kB are summed while 5 computes; of the 80 kB, 2 (4 - 1) / 4 of them over 10 Gbit/s stay to be waited for.
        wire = 2 * 3 / 4 * 80_000 / 1.25e9
        self.assertGreaterEqual(point["breakdown"]["exposed_communication"], wire)
        self.assertLess(point["breakdown"]["exposed_communication"], wire + 1e-4)

    def test_bad_input_is_one_line_and_leaves_no_file(self):
        circle = [compute(1, 1, 2), compute(2, 1, 1), collective(3, "sum", 4, 2)]
        send = Node(id=9, name="send", type=SEND)
        for nodes, message in [([*TRAINING, send], "expected a data-parallel trace, got point-to-point node 9 (send)"),
                               ([*TRAINING, collective(8, "tokens", 8, kind=ALL_TO_ALL)], "got ALL_TO_ALL in node 8 (tokens)"),
                               ([*TRAINING, compute(8, 9, 7), collective(9, "again", 4, 8)], "expected one iteration"),
                               ([compute(1, 5)], "expected a trace with all-reduces"),
                               ([compute(1, 0), collective(2, "sum", 4, 1)], "expected compute nodes with durations"),
                               ([compute(1, 5), collective(2, "sum", 6, 1)], "expected whole numbers of 4 bytes to sum, got 6"),
                               ([compute(1, 5, 77)], "depends on 77, which is not there"),
                               (circle, "without a circle"),
                               ([], "expected a Chakra trace with nodes")]:
            with self.subTest(message):
                self.assert_refused(self.export(nodes), message)
                self.assertFalse((self.folder / "own.json").exists())

    def test_what_is_no_trace_is_refused(self):
        (self.folder / "text.et").write_text("this is no trace")
        self.assert_refused(self.tool("export_chakra.py", "text.et", "--batch", "1"), "text.et: expected a Chakra trace")
        self.assert_refused(self.tool("export_chakra.py", "none.et", "--batch", "1"), "none.et: No such file")
        self.assert_refused(self.tool("export_chakra.py", "text.et", "--batch", "0"), "--batch: expected a whole number")


if __name__ == "__main__":
    unittest.main()
