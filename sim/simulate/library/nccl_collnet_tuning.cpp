// The rows of CollNet: github.com/NVIDIA/nccl, src/graph/tuning.cc (baseLat, hwLat, ncclTopoTuneModel),
// src/graph/search.cc (speedArrayInter), src/init.cc (NCCL_COLLNET_NODE_THRESHOLD, the devices a node) and
// src/enqueue.cc (getAlgoInfo) at the tags named below.
#include <array>

#include "simulate/library/nccl_tuning.hpp"

namespace farandole { inline namespace simulate {
namespace {

// speedArrayInter of v2.10.3-1 and of v2.20.3-1.
constexpr std::array tried_by_2_10{48., 30., 24., 22., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3., 2.4, 1.2, .24, .12};
constexpr std::array tried_by_2_20{48., 30., 28., 24., 20., 18., 15., 12., 10., 9.,
                                   7.,  6.,  5.,  4.,  3.,  2.4, 1.2, .24, .12};

/// Simple alone, as much over NVLink as over PCIe.
NcclCollNetWay simple_way(double nvlink, double pci, double net, double peer) {
  return {{}, {{{0, 0, nvlink}, {0, 0, pci}}}, {0, 0, net}, peer};
}

}  // namespace

// v2.7.5-1, tuning.cc (NCCL_ALGO_COLLNET): a chain, .9 of the rate, and of LL a sixth of that. Rates are 2.10's.
NcclCollNet collnet_2_7() {
  NcclCollNet c;
  c.chain = NcclCollNetWay{
      {4.4, 0, 0}, {{{.5, 0, 4.0}, {1.0, 0, 5.5}}}, {5.0, 0, 10.7}, 0, {.9 / 6, 0, .9},
  };
  c.most_by_chain = 1 << 20;
  c.tried = tried_by_2_10;
  return c;
}

// v2.10.3-1 (NCCL_ALGO_COLLNET, "one-shot"): direct, over whatever joins the devices.
NcclCollNet collnet_2_10() {
  NcclCollNet c;
  c.direct = simple_way(8.0, 8.0, 10.7, .5);
  c.direct_needs_switch = c.direct_counts_nics = false;
  c.direct_on_newer = 1;
  c.tried = tried_by_2_10;
  return c;
}

// v2.18.3-1: direct and chain. Its rates are taken to be 2.20's, and so are 2.19's.
NcclCollNet collnet_2_18() {
  NcclCollNet c;
  c.direct = simple_way(8.0, 8.0, 10.7, .5);
  c.chain = simple_way(4.75, 8.0, 14, 0);
  c.tried = tried_by_2_20;
  return c;
}

// 2.19 (the commit of nccl_2_19): as above, with other latencies; NVLink SHARP between nodes.
NcclCollNet collnet_2_19() {
  NcclCollNet c = collnet_2_18();
  c.direct = simple_way(3.7, 3.7, 31, .4);
  c.chain = simple_way(2.8, 2.8, 30, 0);
  c.nvls_net = 18;
  return c;
}

// v2.20.3-1; init.cc of v2.20.5-1 and v2.21.5-1.
NcclCollNet collnet_2_20() {
  NcclCollNet c = collnet_2_19();
  c.gathers = NcclCollNetGathers::blended;
  return c;
}

// v2.22.3-1; init.cc: a search of its own for direct (search.cc: ncclTopoSearchTryCollnetDirect, read at v2.25.1-1).
NcclCollNet collnet_2_22() {
  NcclCollNet c = collnet_2_20();
  c.direct_has_search = true;
  return c;
}

// v2.23.4-1.
NcclCollNet collnet_2_23() {
  NcclCollNet c = collnet_2_22();
  c.exposes_net = true;
  return c;
}

// v2.25.1-1, v2.26.2-1; init.cc and enqueue.cc: only direct is held to eight devices a node. (2.23 and 2.24 are taken
// to hold both, as 2.22 does.)
NcclCollNet collnet_2_25() {
  NcclCollNet c = collnet_2_23();
  c.most_by_chain = 1 << 20;
  return c;
}

// v2.27.3-1, v2.28.3-1.
NcclCollNet collnet_2_27() {
  NcclCollNet c = collnet_2_25();
  c.gathers = NcclCollNetGathers::nearest;
  return c;
}

}}  // namespace farandole::simulate
