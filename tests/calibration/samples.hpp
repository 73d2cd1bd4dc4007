// Texts as the benchmarks print them, shortened, for the tests of the readers.
#pragma once

namespace farandole::test {

inline constexpr const char* points_json = R"({
  "farandole": "0.1.0",
  "points": [
    {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 1048576, "seconds": 0.01, "nodes": 2, "backend": "mpi"},
    {"op": "parameter_server", "algorithm": "dedicated", "ranks": 4, "bytes": 1048576, "seconds": 0.5, "servers": 2}
  ]
}
)";

inline constexpr const char* lab_lines =
    R"({"config": "n4_r100", "transport": "eager", "op": "ps", "algo": "own", "k": 2, "nranks": 4, "hosts": 4, "rate_mbit": 100, "bytes": 4194304, "reps": 5, "seconds_median": 0.71356, "min": 0.71332, "max": 0.71466, "cpu_busy": 0.21, "ok": true}
{"config": "n4_r100", "transport": "eager", "op": "allreduce", "algo": "rabenseifner", "k": 1, "nranks": 4, "hosts": 4, "rate_mbit": 100, "bytes": 1048576, "reps": 7, "seconds_median": 0.14335, "min": 0.14022, "max": 0.17655, "cpu_busy": 1.0, "ok": true}

{"config": "n4_r100", "transport": "eager", "op": "bcast", "algo": "pipeline_64k", "k": 1, "nranks": 4, "hosts": 4, "rate_mbit": 100, "bytes": 1048576, "reps": 9, "seconds_median": 0.10052, "min": 0.10048, "max": 0.10147, "cpu_busy": 1.0, "ok": true}
)";

inline constexpr const char* nccl_tests_text =
    R"(# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid   6899 on alpha device  0 [0000:04:00] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid   6900 on alpha device  1 [0000:05:00] NVIDIA H100 80GB HBM3
#  Rank  2 Group  0 Pid   6733 on beta device  0 [0000:04:00] NVIDIA H100 80GB HBM3
#  Rank  3 Group  0 Pid   6734 on beta device  1 [0000:05:00] NVIDIA H100 80GB HBM3
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    135.8    0.00    0.00      0    123.5    0.00    0.00      0
  1073741824     268435456     float     sum      -1   6452.7  166.40  312.00      0   6452.1  166.42  312.03      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 156.001
)";

inline constexpr const char* nccl_tests_json = R"({
  "collective_test": "all_reduce_perf",
  "config": {"nranks": 8},
  "results": [
    {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": -1,
     "out_of_place": {"time": 78.77, "alg_bw": 13.31, "bus_bw": 23.29, "nwrong": 0},
     "in_place": {"time": 81.31, "alg_bw": 12.9, "bus_bw": 22.57, "nwrong": 0}}
  ]
}
)";

inline constexpr const char* osu_text = R"(
# OSU MPI Allgather Latency Test v5.8
# Size       Avg Latency(us)
4096                    27.14
1048576               2159.77
)";

inline constexpr const char* osu_latency_text = R"(# OSU MPI Latency Test v5.3.2
# Size          Latency (us)
0                       1.11
4194304               431.85
)";

inline constexpr const char* imb_text = R"(#------------------------------------------------------------
#    Intel (R) MPI Benchmarks 2018, MPI-1 part
#------------------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 6 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         2.25         0.00
      4194304           10      1000.00      4194.30

#----------------------------------------------------------------
# Benchmarking Allreduce
# #processes = 8
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.00         0.00         0.00
      1048576           40       900.00      1000.00       950.00
)";

}  // namespace farandole::test
