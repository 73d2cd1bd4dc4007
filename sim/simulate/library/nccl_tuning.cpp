#include "simulate/library/nccl_tuning.hpp"

#include <vector>

namespace farandole { inline namespace simulate {
namespace {

constexpr PerScale no_limits{no_rate_limit, no_rate_limit, no_rate_limit};
constexpr PerGeneration unlimited{no_limits, no_limits, no_limits, no_limits};
constexpr std::array<double, 5> unlimited_operations{no_rate_limit, no_rate_limit, no_rate_limit, no_rate_limit,
                                                     no_rate_limit};

// v2.5.7-1, tuning.cc: baseLat, hwLat, ll128MaxBw and ncclSetThresholds; topo.h: *_NVLINK_WIDTH. LL128 is Volta's only,
// trees are held to 90 and 70 GB/s, and neither trees nor large rings are corrected by size.
NcclTuning nccl_2_5() {
  NcclTuning t;
  t.version = "2.5";
  t.tag = "v2.5.7-1";
  t.base = {{{4.4, 4.4, 0}, {3.6, 3.6, 8.4}}};
  t.hop = {
      {{{{.5, 1.9, 28}, {.4, 2.5, 5.7}}}, {{{1.0, 1.9, 28}, {1.0, 2.5, 5.7}}}, {{{5.0, 7.5, 50}, {.9, 2.5, 6.6}}}}};
  t.nvlink = {18, 21, 21, 21, 21};
  t.most_on_ampere = no_rate_limit;
  t.tree_share = .9;
  t.tree_share_inside = {1 / 3.0, 7 / 9.0, 1};
  t.tree_share_between = {1 / 3.0, 7 / 9.0, 1};
  t.tree_per_channel = unlimited;
  t.tree_most = {90, 70, 70};
  t.tree_most_ll128_ampere = t.tree_most;
  t.ring_ll_share = 1 / 4.0;
  t.ring_ll128_share = 120.0 / 128;
  t.ring_ll128_share_alone = 120.0 / 128;
  t.ring_ll128_per_channel = unlimited_operations;
  t.ring_ll128_newer = {no_rate_limit, no_rate_limit};
  t.ring_ll128_most = {113, 72, 110, 91, 100};
  t.tree_ll128_of_ring = no_rate_limit;
  t.tree_ll128_newer = {no_limits, no_limits};
  t.ll_third = false;
  t.ll_most = unlimited;
  t.ring_steps = NcclRingSteps::all_alike;
  t.plateau = NcclPlateau::none;
  for (auto& protocol : t.tree_correction) protocol.fill(1);
  return t;
}

// v2.7.8-1, tuning.cc: baseLat, hwLat, ll128MaxBwPerCh, ncclTopoTuneModel, treeCorrectionFactor and
// ncclTopoGetAlgoTime; topo.h: *_NVLINK_WIDTH.
NcclTuning nccl_2_7() {
  NcclTuning t = nccl_2_5();
  t.version = "2.7";
  t.tag = "v2.7.8-1";
  t.newest = 80;
  t.base = {{{4.4, 4.4, 0}, {3.6, 10.0, 8.4}}};
  t.hop = {
      {{{{.52, 1.2, 28}, {.47, 1.9, 3.4}}}, {{{1.0, 1.9, 28}, {1.0, 2.5, 5.7}}}, {{{5.0, 8.5, 50}, {2.7, 4.0, 9.6}}}}};
  t.most_on_ampere = 235;
  t.tree_share_inside = {1 / 3.8, 7 / 9.0, 1};
  t.tree_share_between = {1 / 3.8, .915, 1};
  t.tree_most = {110, 110, 80};
  t.tree_most_ll128_ampere = {130, 130, 105};
  t.ring_ll128_share = .92;
  t.ring_ll128_share_alone = .7;
  t.ring_ll128_per_channel = {18.8, 12.0, 18.3, 15.2, 16.7};
  t.ring_ll128_most = unlimited_operations;
  t.tree_ll128_of_ring = 7 / 9.0;
  t.ll_third = true;
  t.ring_steps = NcclRingSteps::net_apart;
  t.plateau = NcclPlateau::by_size;
  t.collnet = collnet_2_7();
  t.tree_correction = {{{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
                        {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .5, .6, .6, .7, .7, .8, .9, .9, 1, 1},
                        {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9, 1}}};
  return t;
}

// v2.10.3-1, tuning.cc: as above, with ll128MaxBwPerCh one number, llMaxBws and perChMaxTreeBws; topo.h:
// SM*_NVLINK_WIDTH.
NcclTuning nccl_2_10() {
  NcclTuning t = nccl_2_7();
  t.version = "2.10";
  t.tag = "v2.10.3-1";
  t.hop = {
      {{{{.52, 1.25, 28}, {.47, 1.9, 3.4}}}, {{{1.0, 1.9, 28}, {1.0, 2.5, 5.7}}}, {{{5.0, 8.5, 28}, {2.7, 4.0, 9.6}}}}};
  t.nvlink = {18, 22, 22, 22, 22};
  t.collnet = collnet_2_10();
  t.tree_share = .92;
  t.tree_share_between = {1 / 3.8, 120.0 / 128, 1};
  t.tree_per_channel = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {24.0, 23.6, 17.8}, {24.0, 23.6, 17.8}}};
  t.tree_most = no_limits;
  t.tree_most_ll128_ampere = no_limits;
  t.ring_ll128_per_channel = {20, 20, 20, 20, 20};
  t.tree_ll128_of_ring = 1;
  t.ll_most = {{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {87.7, 22.5, 19.0}, {87.7, 22.5, 19.0}}};
  t.tree_correction = {{{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
                        {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
                        {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};
  return t;
}

// v2.18.6-1, tuning.cc: as above, with perChMaxRingLL128Bws, perChMaxTreeLL128Bws, Hopper's rows and getNetOverhead;
// topo.h: SM*_NVLINK_BW. NVLink SHARP is left out here.
NcclTuning nccl_2_18() {
  NcclTuning t = nccl_2_10();
  t.version = "2.18";
  t.tag = "v2.18.6-1";
  t.base = {{{6.8, 14.0, 0}, {6.6, 14.0, 8.4}}};
  t.hop = {
      {{{{.6, 1.25, 4}, {.6, 1.9, 3.4}}}, {{{1.0, 1.9, 6}, {1.0, 2.5, 5.7}}}, {{{5.0, 8.5, 14}, {2.7, 4.0, 14.0}}}}};
  t.nvlink = {18, 20, 20, 20, 20};
  t.most_on_ampere = no_rate_limit;
  t.tree_per_channel = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {38.7, 41.4, 36.0}}};
  t.ring_ll128_newer = {36.7, 36.7};
  t.tree_ll128_newer = {{{36.7, 36.7, 29.0}, {36.7, 36.7, 29.0}}};
  t.newest = 90;
  t.ring_steps = NcclRingSteps::net_and_posting;
  t.plateau = NcclPlateau::by_size_per_channel;
  t.collnet = collnet_2_18();
  t.message_chunk = message_chunk_between_nodes;
  return t;
}

// 2.19, tuning.cc at f98355115914: beside it stands src/device/generate.py, which came with 2.19, and it has nothing of
// 2.20's NVLinks between nodes; the commits whose makefiles/version.mk says 2.19.1, 2.19.3 and 2.19.4 (f9c3dc251e0f,
// 8c6c59518545, 88d44d777f69) have none of their own. As above, with trees' Simple slower again and the rows of NVLS
// and NVLSTree; SM90_NVLINK_BW as v2.20.3-1.
NcclTuning nccl_2_19() {
  NcclTuning t = nccl_2_18();
  t.version = "2.19";
  t.tag = "v2.19";
  t.hop[0][0][2] = t.hop[1][0][2] = t.hop[2][0][2] = 28;
  t.nvlink = {18, 20, 20, 20.6, 20.6};
  t.nvls = NcclNvls{23, 14};
  t.collnet = collnet_2_19();
  return t;
}

// v2.20.3-1, tuning.cc: as above, with gathers by CollNet.
NcclTuning nccl_2_20() {
  NcclTuning t = nccl_2_19();
  t.version = "2.20";
  t.tag = "v2.20.3-1";
  t.collnet = collnet_2_20();
  return t;
}

// v2.21.5-1, tuning.cc: as above, with Hopper's own llMaxBws and half the rate for rings' LL.
NcclTuning nccl_2_21() {
  NcclTuning t = nccl_2_20();
  t.version = "2.21";
  t.tag = "v2.21.5-1";
  t.ring_ll_share = .5;
  t.ll_third = false;
  t.ll_most = {{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {141.0, 45.0, 35.0}}};
  t.nvls = NcclNvls{25, 14};
  return t;
}

// v2.22.3-1: tuning.cc has 2.21's constants; enqueue.cc (calcCollChunking): no rule halves a tree's chunks of Simple.
NcclTuning nccl_2_22() {
  NcclTuning t = nccl_2_21();
  t.version = "2.22";
  t.tag = "v2.22.3-1";
  t.tree_chunks.least = t.tree_chunks.buffer / 8;
  t.collnet = collnet_2_22();
  return t;
}

// v2.23.4-1, tuning.cc: trees' Simple has a base and short hops, a ring's steps are counted anew, PAT.
NcclTuning nccl_2_23() {
  NcclTuning t = nccl_2_22();
  t.version = "2.23";
  t.tag = "v2.23.4-1";
  t.base[0][2] = 8.4;
  t.hop[0][0][2] = t.hop[1][0][2] = 4;
  t.hop[2][0][2] = 14;
  t.ring_ll128_share_alone = t.ring_ll128_share;
  t.ring_steps = NcclRingSteps::net_as_trees;
  t.pat = NcclPat{8, 2.8, 1 / 3.5, .85};
  t.collnet = collnet_2_23();
  return t;
}

// v2.24.3-1, tuning.cc: less of the rate for PAT.
NcclTuning nccl_2_24() {
  NcclTuning t = nccl_2_23();
  t.version = "2.24";
  t.tag = "v2.24.3-1";
  t.pat->share = .75;
  return t;
}

// v2.25.1-1, tuning.cc and topo.h: 2.24 with rows of Blackwell, and allgathers by NVLS, whose rates never let them be
// picked.
NcclTuning nccl_2_25() {
  NcclTuning t = nccl_2_24();
  t.version = "2.25";
  t.tag = "v2.25.1-1";
  t.newest = 100;
  t.nvlink[4] = 40.1;
  t.tree_per_channel[3] = {2 * 38.7, 2 * 41.4, 2 * 36.0};
  t.ring_ll128_newer[1] = 2 * 36.7;
  t.tree_ll128_newer[1] = {2 * 36.7, 2 * 36.7, 2 * 29.0};
  t.ll_most[3] = {2 * 141.0, 2 * 45.0, 2 * 35.0};
  t.collnet = collnet_2_25();
  return t;
}

// v2.26.2-1: tuning.cc has 2.25's constants.
NcclTuning nccl_2_26() {
  NcclTuning t = nccl_2_25();
  t.version = "2.26";
  t.tag = "v2.26.2-1";
  return t;
}

// v2.27.3-1: tuning.cc has 2.25's constants but for gathers by CollNet.
NcclTuning nccl_2_27() {
  NcclTuning t = nccl_2_25();
  t.version = "2.27";
  t.tag = "v2.27.3-1";
  t.collnet = collnet_2_27();
  return t;
}

// v2.28.3-1, tuning.cc: as above, with nvlsEfficiency, limits per channel of NVLSTree, and other limits of Blackwell's
// trees.
NcclTuning nccl_2_28() {
  NcclTuning t = nccl_2_27();
  t.version = "2.28";
  t.tag = "v2.28.3-1";
  t.nvls = NcclNvls{25, 14, NcclNvlsRate::bus};
  t.tree_per_channel[3] = {70.0, 42.8, 24.0};
  t.tree_ll128_newer[1] = {55.6, 31.67, 20.0};
  return t;
}

/// apple/axlearn, axlearn/cloud/gcp/nccl/a3_mega/tuner_config.txtpb: "Default A3+ tuning configuration", of nodes with
/// eight devices. What it does not name is NCCL's.
std::optional<NcclWay> tcpxo_tuner(Operation operation, int nodes, int ranks_per_node, Bytes size) {
  if (nodes < 2 || nodes > 6 || ranks_per_node < 8) return std::nullopt;
  if (operation != Operation::allreduce) return NcclWay{NcclAlgorithm::ring, NcclProtocol::simple};
  if (nodes > 2 && size >= 2_MiB) return std::nullopt;
  return NcclWay{NcclAlgorithm::tree, NcclProtocol::simple};
}

// NCCL under Google's plugin for GPUDirect-TCPXO, as A3 Mega has it: NCCL_ALGO=Ring,Tree, NCCL_PROTO=Simple,
// NCCL_NVLS_ENABLE=0, NCCL_BUFFSIZE=8388608, NCCL_DYNAMIC_CHUNK_SIZE=524288, NCCL_P2P_NET_CHUNKSIZE=524288 and the
// tuner (GoogleCloudPlatform's hpc-toolkit, examples/machine-learning/a3-megagpu-8g: nccl-tests and NeMo).
NcclTuning nccl_2_21_tcpxo() {
  NcclTuning t = nccl_2_21();
  t.version = "2.21-tcpxo";
  t.tag = "v2.21.5-1 under GPUDirect-TCPXO";
  t.nvls.reset();
  t.tree_chunks = {1 << 23, 1 << 19};
  t.message_chunk = 1 << 19;
  t.tuner = tcpxo_tuner;
  t.simple_alone = true;
  return t;
}

}  // namespace

std::span<const NcclTuning> nccl_tunings() {
  static const std::vector<NcclTuning> rows{nccl_2_5(),  nccl_2_7(),  nccl_2_10(), nccl_2_18(), nccl_2_19(),
                                            nccl_2_20(), nccl_2_21(), nccl_2_22(), nccl_2_23(), nccl_2_24(),
                                            nccl_2_25(), nccl_2_26(), nccl_2_27(), nccl_2_28(), nccl_2_21_tcpxo()};
  return rows;
}

}}  // namespace farandole::simulate
