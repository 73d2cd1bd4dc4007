"""Good files of every kind, small enough to run at once; the bad ones are made from them."""

import json
import pathlib

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def shipped(path):
    return json.loads((PROJECT / path).read_text())


def scenario(**others):
    base = {"$schema": "scenario.schema.json", "name": "s", "workload": {"model": "mnist_mlp", "batch_per_rank": 32}, "platform": {"topology": "ethernet-25g", "ranks": 4},
            "strategy": {"kind": "ddp"}, "measure": {"iterations": 2, "warmup": 1, "seed": 1, "seeds": 1, "explain": False, "fidelity": "flow"}}
    base.update(others)
    return base


EFFECTS = {
    "device_spread": "1 %", "step_jitter": {"distribution": "gamma", "deviation": "2 %"}, "straggler": [{"ranks": [1], "slowdown": "10 %"}],
    "other_devices": [{"ranks": [2], "speed": "80 %"}, {"nodes": [0], "device": "p100"}],
    "slow_links": [{"nodes": [1], "rate": "50 %", "added_latency": "5 us"}],
    "os_noise": {"period": "10 ms", "duration": {"distribution": "normal", "mean": "20 us", "deviation": "2 us"}}, "communication_compute_share": "5 %",
    "input": {"sample_size": "100 kB", "storage_bandwidth": "1 GB/s", "storage_samples_per_second": 90000, "node_bandwidth": "500 MB/s", "request_latency": "1 ms",
              "decode_workers": 4, "decode_rate": 500, "cache": "1 GiB", "dataset": "140 GB", "prefetch": 2, "variation": "10 %"},
    "checkpoint": {"every_steps": 10, "size": "100 MB", "rate": "1 GB/s", "latency": "1 s"}}

RUN = {"samples": 60000, "epochs": 3, "evaluation_samples": 10000, "evaluate_every": 1, "startup": "10 s", "initial_broadcast": True, "metrics": 2,
       "failures": {"node_mtbf": "1000 h", "recovery": "elastic", "restart": "1 min", "repair": "1 h", "commit_every_steps": 10, "least_nodes": 2, "simulations": 10},
       "learning_rate": {"base": 0.1, "base_batch": 256, "scaling": "linear", "warmup_epochs": 1, "largest_known_batch": 8192}}

SCENARIOS = {
    "ddp": scenario(strategy={"kind": "ddp", "bucket_cap": "1 MiB", "first_bucket": "64 KiB", "gradient_as_bucket_view": True, "broadcast_buffers": False,
                              "find_unused_parameters": True, "static_graph": False, "streams": 2, "accumulation": 2, "overlap": True,
                              "compression": {"kind": "top_k", "keep": "5 %", "selection": "sampled", "error_feedback": True}},
                    collectives={"allreduce": "ring", "broadcast": "binomial"}),
    "horovod": scenario(strategy={"kind": "horovod", "version": "0.21.0", "settings": {"HOROVOD_CYCLE_TIME": "5", "HOROVOD_FUSION_THRESHOLD": "1048576"},
                                  "coordinator_per_message": "1 us", "coordinator_receives": "1 us", "coordinator_sends": "1 us", "groups": 2, "op": "average"},
                        effects=EFFECTS),
    "servers": scenario(strategy={"kind": "parameter_server", "mode": "stale_synchronous", "bound": 2, "servers": 2, "colocated": True, "server_placement": "split",
                                  "server_rate": "5 GB/s", "aggregate_on_node": True}),
    "power_sgd": scenario(strategy={"kind": "ddp", "compression": {"kind": "power_sgd", "rank": 2, "orthogonal": "qr", "error_feedback": False}}),
    "local_sgd": scenario(strategy={"kind": "local_sgd", "period": 2}),
    "allgather": scenario(strategy={"kind": "allgather", "density": "10 %"}),
    "single": scenario(platform={"topology": "ethernet-25g", "ranks": 1}, strategy={"kind": "single"}),
    "fsdp": scenario(workload={"model": "gpt2_small", "batch_per_rank": 1, "precision": "bf16", "optimizer": "adam", "recompute": "selective", "sequence_length": 128},
                     platform={"topology": "dgx-a100", "ranks": 8},
                     strategy={"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 4, "reshard_after_forward": True, "limit_all_gathers": True,
                               "backward_prefetch": "BACKWARD_PRE", "param_dtype": "bf16", "reduce_dtype": "fp32", "no_sync": True}),
    "zero": scenario(strategy={"kind": "zero", "stage": 2, "shard_group": 2, "overlap_comm": True, "overlap_params": False, "reduce_scatter": True, "reduce_bucket_size": 1000000,
                               "communication_data_type": "fp32"}),
    "whole": scenario(run=RUN, economics={"offer": "dgx-a100-bought", "years": 3, "throughput_uncertainty": "5 %", "override": {"/date": "2026"},
                                          "compare_with": {"offer": "aws-p4d-on-demand", "topology": "aws-p4d", "ranks": 8}},
                      platform={"topology": "dgx-a100", "ranks": 8, "placement": {"nodes": "contiguous", "order": "by_slot", "ranks_per_node": 4, "first_node": 0, "seed": 1}}),
    "learning": scenario(workload={"model": "linear_regression", "batch_per_rank": 10}, strategy={"kind": "single"}, platform={"topology": "ethernet-25g", "ranks": 1},
                         learning={"problem": "linear_regression", "learning_rate": 0.01, "epochs": 2, "samples": 100, "seed": 42, "coefficients": [5, 3], "noise": 0.1}),
    "softmax": scenario(workload={"model": "softmax_regression", "batch_per_rank": 16}, collectives={"allreduce": "ring"}, platform={"topology": "ethernet-25g", "ranks": 2},
                        learning={"problem": "softmax_regression", "samples": 256, "features": 16, "classes": 10, "separation": 1.0, "epochs": 1}),
    "traffic": scenario(platform={"topology": "roce25-4xp100", "ranks": 8, "scale": {"rate": 2.0, "latency": 0.5}, "override": {"/node/nic/rate": "50 Gbit/s"},
                                  "condition": {"degraded": {"node1/nic0": "50 %"}, "background": {"node0/nic0": "1 Gbit/s"},
                                                "congestion": {"node0/nic0": [{"flows": 2, "left": "90 %"}]}},
                                  "traffic": [{"kind": "constant", "links": "node0/nic0", "rate": "1 GB/s"},
                                              {"kind": "on_off", "links": "node1/nic0", "rate": "1 GB/s", "on": "1 ms", "off": {"distribution": "gamma", "mean": "1 ms", "deviation": "50 %"}},
                                              {"kind": "job", "ranks": 4, "placement": {"first_node": 4}, "workload": {"model": "mnist_mlp", "batch_per_rank": 8}, "strategy": {"kind": "ddp"}}]}),
    "measured": scenario(workload={"model": "resnet18", "batch_per_rank": 32, "precision": "fp32", "measured": [{"ranks": 1, "batch_per_rank": 32, "samples_per_second": 200}],
                                   "host_dispatch": "10 us", "gradient_type": "fp32"}),
    "steps": scenario(workload={"model": "resnet18", "global_batch": 64, "device_steps": [{"batch": 16, "time": "100 ms"}, {"batch": 32, "time": "190 ms"}]}),
    "sweep": scenario(sweep={"/platform/ranks": [1, 2], "/workload/batch_per_rank": {"from": 8, "to": 32, "factor": 2},
                             "zip": [{"/measure/seed": [1, 2], "/measure/warmup": [0, 1]}], "variants": {"a": {"/workload/precision": "fp32"}, "b": {}}},
                      question={"ask": "what if?", "from": {"/platform/ranks": 1}, "to": {"/platform/ranks": 2}}),
    "optimise": scenario(optimise={"minimise": "iteration_seconds", "subject_to": {"samples_per_second": {"at_least": 1}}, "over": {"/platform/ranks": [1, 2, 4]}, "method": "grid"}),
    "search": scenario(optimise={"maximise": "samples_per_second", "over": {"/strategy/bucket_cap": {"from": "1 MiB", "to": "64 MiB"}}, "evaluations": 5, "method": "golden_section"}),
}

LINK = {"rate": "25 Gbit/s", "latency": "2 us", "protocol": {"name": "tcp", "mtu": "9000 B"}}


def topology(kind, network, nodes=8):
    return {"$schema": "topology.schema.json", "name": "t", "summary": "of a test", "kind": kind, "nodes": nodes, "node": {"device": "p100", "devices": 2, "nic": LINK, "nics_at": ["socket0"],
            "fabric": {"pcie": {"link": {"rate": "12 GB/s"}, "devices_per_switch": 1, "sockets": 2, "interconnect": {"rate": "20 GB/s"}, "staging": {"memory": {"rate": "30 GB/s"}}}}},
            "network": network, "transport": {"name": "mpi", "intra_node_latency": "1 us", "inter_node_latency": "5 us", "launch": "1 us", "control_latency": "5 us", "eager_sends": True,
                                              "send_window": "1 MiB", "eager_rate": "8 GB/s", "reduce_rate": "10 GB/s", "occupancy": {"send": "1 us", "receive": "1 us"}, "rendezvous": {"from": "64 KiB", "latency": "20 us"}},
            "variability": {"device_spread": "1 %", "step_jitter": "1 %"},
            "condition": {"degraded": {"node0/nic0": "50 %"}, "background": {"node1/nic0": "1 Gbit/s"}, "congestion": {"node0/nic0": [{"flows": 2, "left": "90 %"}]}, "failed": []}}


WIRE = {"rate": "100 Gbit/s"}
TOPOLOGIES = {
    "star": topology("star", {"switch_ports": 64}),
    "leaf_spine": topology("leaf_spine", {"nodes_per_leaf": 4, "spines": 2, "cables_per_spine": 1, "link": WIRE, "leaf_ports": 64, "spine_ports": 64, "rails": "none", "routing": "ecmp", "seed": 1}),
    "fat_tree": topology("fat_tree", {"levels": [{"name": "leaf", "down": 2, "switch_ports": 64}, {"name": "spine", "parents": 2, "cables": 1, "down": 4, "link": WIRE, "switch_ports": 64}]}),
    "dragonfly": topology("dragonfly", {"groups": 2, "chassis_per_group": 1, "routers_per_chassis": 2, "nodes_per_router": 2, "rank1": {"link": WIRE, "cables": 1},
                                        "rank3": {"link": WIRE, "cables_per_pair": 1}, "routing": "adaptive", "minimal_paths": 2, "non_minimal_paths": 2, "seed": 1}),
    "torus": topology("torus", {"sizes": [2, 2], "nodes_per_router": 2, "link": WIRE}),
    "graph": topology("graph", {"hosts": ["a", "b"], "switches": [{"name": "s", "ports": 8}], "links": [{"from": "a", "to": "s", "link": WIRE, "cables": 2}, {"from": "b", "to": "s", "link": WIRE}]}, 2),
    "nvlink": {**shipped("topologies/dgx-a100.json"), "name": "t", "nodes": 2},
}

DEVICE = {**shipped("topologies/devices/p100.json"), "name": "d"}
LIBRARIES = {release: {**shipped(f"topologies/libraries/{release}.json"), "name": f"{release.split('-')[0]}-own"}
             for release in ("nccl-2.23", "nccl-2.21-tcpxo", "rccl-2.26", "openmpi-4", "oneccl-2021.16")}
OFFER = {**shipped("topologies/offers/aws-p4d-on-demand.json"), "name": "o"}
BOUGHT = {**shipped("topologies/offers/dgx-a100-bought.json"), "name": "o"}
MODEL = {**shipped("models/mnist_mlp.json"), "name": "m"}
SEQUENCE = {**shipped("models/gpt2_small.json"), "name": "m"}

SCHEDULE = {"name": "own", "op": "allreduce", "ranks": 2, "chunks": 2, "rows": 1, "weights": [1, 1],
            "phases": [{"name": "reduce", "repeats": 1, "fan": 1, "transfers": [{"from": 0, "to": 1, "chunk": 0, "action": "reduce", "count": 1},
                                                                              {"from": 1, "to": 0, "chunk": 1, "action": "reduce"}]},
                       {"name": "copy", "transfers": [{"from": 1, "to": 0, "chunk": 0, "action": "copy"}, {"from": 0, "to": 1, "chunk": 1, "action": "copy"}]}]}

POINTS = {"farandole": "0.1.0", "points": [{"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": size, "seconds": 1e-5 + size / 1e9, "nodes": 4, "backend": "mpi"}
                                           for size in (1024, 65536, 1048576, 8388608)]}

MSCCL = """<?xml version="1.0"?>
<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1">
  <gpu id="0" i_chunks="2" o_chunks="0" s_chunks="1">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="3" type="r" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="0" s_chunks="1">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrc" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="3" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"""

DOT = """graph g {
  node [kind=host];
  a; b;
  s [kind=switch, ports=8];
  a -- s [rate="25 Gbit/s", latency="2 us"];
  b -- s [rate="25 Gbit/s", latency="2 us"];
}
"""

SIMGRID = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <link id="wire" bandwidth="125MBps" latency="50us"/>
    <route src="a" dst="b"><link_ctn id="wire"/></route>
  </zone>
</platform>
"""

NCCL_TESTS = """# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   6899 on alpha device  0 [0000:04:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   6900 on beta device  0 [0000:05:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1     35.8    0.03    0.03      0     33.5    0.03    0.03      0
       65536         16384     float     sum      -1     68.5    0.96    0.96      0     68.1    0.96    0.96      0
     1048576        262144     float     sum      -1    452.7    2.32    2.32      0    452.1    2.32    2.32      0
     8388608       2097152     float     sum      -1   3452.7    2.43    2.43      0   3452.1    2.43    2.43      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 1.43
"""

NCCL_JSON = {"collective_test": "all_reduce_perf", "config": {"nranks": 4},
             "results": [{"size": size, "count": size // 4, "type": "float", "redop": "sum", "root": -1,
                          "out_of_place": {"time": 20 + size / 1000, "alg_bw": 1.0, "bus_bw": 1.5, "nwrong": 0}, "in_place": {"time": 20 + size / 1000, "alg_bw": 1.0, "bus_bw": 1.5, "nwrong": 0}}
                         for size in (1024, 65536, 1048576)]}

OSU = """# OSU MPI Allreduce Latency Test v5.8
# Size       Avg Latency(us)
1024                     7.14
65536                   87.14
1048576               1159.77
"""

IMB = """#------------------------------------------------------------
#    Intel (R) MPI Benchmarks 2018, MPI-1 part
#------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.00         0.00         0.00
         1024         1000        10.00        12.00        11.00
      1048576           40       900.00      1000.00       950.00
"""

LAB_LINES = """{"config": "n4_r100", "transport": "eager", "op": "allreduce", "algo": "rabenseifner", "k": 1, "nranks": 4, "hosts": 4, "rate_mbit": 100, "bytes": 1048576, "reps": 7, "seconds_median": 0.14335, "min": 0.14022, "max": 0.17655, "cpu_busy": 1.0, "ok": true}
{"config": "n4_r100", "transport": "eager", "op": "allreduce", "algo": "rabenseifner", "k": 1, "nranks": 4, "hosts": 4, "rate_mbit": 100, "bytes": 4194304, "reps": 7, "seconds_median": 0.54335, "min": 0.54022, "max": 0.57655, "cpu_busy": 1.0, "ok": true}
"""

KERAS = """_________________________________________________________________
Layer (type)                 Output Shape              Param #   
=================================================================
hidden (Dense)               (None, 128)               100480    
_________________________________________________________________
output (Dense)               (None, 10)                1290      
=================================================================
Total params: 101,770
Trainable params: 101,770
"""


def huggingface_config():
    return {"model_type": "qwen3_moe", "hidden_size": 64, "intermediate_size": 96, "moe_intermediate_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
            "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 500, "max_position_embeddings": 256, "num_experts": 8, "num_experts_per_tok": 2, "hidden_act": "silu",
            "tie_word_embeddings": False, "attention_bias": False, "decoder_sparse_step": 1}


def horovod_trace():
    events = [{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "allreduce.fc.weight"}}]
    for step in range(3):
        at = 100000 * step
        events += [{"ph": "i", "name": "CYCLE_START", "ts": at, "s": "g"},
                   {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": at + 10000, "pid": 1}, {"ph": "X", "name": "0", "ts": at + 10000, "pid": 1, "dur": 0},
                   {"ph": "E", "ts": at + 12000, "pid": 1}, {"ph": "B", "name": "ALLREDUCE", "ts": at + 12000, "pid": 1},
                   {"ph": "B", "name": "NCCL_ALLREDUCE", "ts": at + 12000, "pid": 1}, {"ph": "E", "ts": at + 30000, "pid": 1},
                   {"ph": "E", "ts": at + 30000, "pid": 1, "args": {"dtype": "float32", "shape": "[10, 512]"}}]
    return events


def profiler_trace():
    events = []
    for step in range(2):
        at = 2000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 7, "ts": at, "dur": 1900, "args": {"External id": 1}})
        for number, (name, begin, duration) in enumerate([("aten::linear", 10, 100), ("aten::relu", 120, 50), ("aten::linear", 180, 50),
                                                          ("autograd::engine::evaluate_function: AddmmBackward0", 300, 100),
                                                          ("autograd::engine::evaluate_function: ReluBackward0", 420, 50),
                                                          ("autograd::engine::evaluate_function: AddmmBackward0", 500, 100)]):
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": at + begin, "dur": duration, "args": {"External id": 2 + number, "Ev Idx": 1}})
    return {"schemaVersion": 1, "traceEvents": events}
