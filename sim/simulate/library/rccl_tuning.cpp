#include "simulate/library/rccl_tuning.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr PerAlgorithm over_pcie{{{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}}};
constexpr PerSize nothing{};

// tuning_model_0: of machines that RCCL does not know, and of those that name no other.
RcclTable table_0() {
  return {
      {{{{{.8, 1.4, 2.5}, {.8, 2.2, 3.6}}}, over_pcie, {{{11.8, 18.2, 20.8}, {9.5, 19.8, 15.1}}}}},
      {{{{{.04, .22, .91}, {.04, .34, 1}}}, {{{.04, .22, .95}, {.04, .34, 1}}}}},
      {{{.1, .2, .1, .1, .9, .3, .4, .1, .2, .4, .2, .1, .3, .3, .2, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
        {.1, .3, 1, .1, .5, 1, .9, 1, 1, 1, .3, .1, .4, .5, .5, .4, .4, .3, .3, .2, .2, .2, .2, .2, .2, .2, .2},
        {.2, 1, .1, .1, .7, .2, .4, .1, .1, .3, .4, .3, .6, .8, 1, 1, 1, 1, .9, .8, .8, .8, .8, .8, .9, .9, .9}}},
      {{{.1, .1, .1, .1, .1, .2, .4, .2, .3, .5, .3, .1, .5, .5, .3, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
        {.1, .1, .1, .1, .1, .1, .1, .1, .1, .3, 1, 1, 1, 1, 1, 1, .8, .7, .5, .4, .4, .3, .3, .3, .3, .3, .3},
        {1, .8, .2, 1, 1, .3, 1, .1, .1, .2, .2, .1, .5, 1, .8, .8, 1, .9, 1, 1, 1, 1, 1, 1, 1, 1, 1}}}};
}

// tuning_model_3: four modules of MI250X or MI200 with a NIC each.
RcclTable table_3() {
  return {
      {{{{{.8, 0, 2.5}, {.8, 0, 3.6}}}, over_pcie, {{{12.5, 0, 22.4}, {9.5, 0, 19.8}}}}},
      {{{{{.2, 0, 1.75}, {.2, 0, 1}}}, {{{.2, 0, .96}, {.2, 0, 1}}}}},
      {{{.1, .1, .1, .1, .1, .1, 1, 1, .2, 1, .9, 1, .6, .4, .6, .4, .3, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
        nothing,
        {1, 1, 1, 1, 1, 1, .1, .1, .1, .2, 1, .8, 1, 1, 1, 1, 1, 1, 1, 1, 1, .8, .7, .8, .9, .7, .7}}},
      {{{.1, .1, .1, .1, .1, .3, .1, .2, .1, .4, .4, .2, .2, .3, .7, .5, .4, .3, .3, .3, .3, .2, .2, .2, .2, .2, .2},
        nothing,
        {.1, .1, .1, .1, .1, .1, .1, .5, 1, .1, .3, .1, .1, .1, .2, .2, .2, .3, .4, .7, 1, 1, 1, 1, 1, 1, 1}}}};
}

// tuning_model_5: eight MI300X.
RcclTable table_5() {
  return {
      {{{{{.9, 0, 2.3}, {.8, 0, 2.1}}}, over_pcie, {{{10.5, 0, 25}, {9.5, 0, 320}}}}},
      {{{{{.06, 0, .11}, {.08, 0, 1}}}, {{{.06, 0, .59}, {.08, 0, 1}}}}},
      {{{.1, .1, .1, .1, .1, .1, 1, 1, 1, 1, 1, .6, 1, .9, 1, 1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1},
        nothing,
        {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, .8}}},
      {{{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, 1, .2, 1, .4, .4, .1, .2, .2, .1, .1, .1, .1, .1, .1, .1, .1},
        nothing,
        {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .8, 1, 1, 1}}}};
}

// rome_models.cc of ROCm/rccl with treeRail, that is after 2.21: rome_model_73 and 74 (Frontier's node: the dies' bus
// numbers, their NUMA nodes and NICs are its), 79 and 81 (eight MI300X, the latter with a NIC each). Rings that come
// twice are listed once. Channels: connect.cc (ncclTopoPostset) doubles rings where there is room, and init.cc makes
// four of each on a node of gfx90a.
std::vector<RcclMachine> machines() {
  constexpr std::size_t unknown = 0;
  constexpr std::size_t mi250x_with_nics = 1;
  constexpr std::size_t mi300x = 2;
  return {{"gfx90a",
           8,
           0,
           6,
           7,
           unknown,
           16,
           false,
           {{0, 1, 3, 2, 4, 5, 7, 6}, {6, 7, 5, 4, 2, 3, 1, 0}, {0, 1, 5, 4, 6, 7, 3, 2}, {2, 3, 7, 6, 4, 5, 1, 0}}},
          {"gfx90a",
           8,
           4,
           6,
           7,
           mi250x_with_nics,
           16,
           false,
           {{0, 1, 5, 4, 6, 7, 3, 2}, {2, 3, 7, 6, 4, 5, 1, 0}, {7, 6, 0, 1, 3, 2, 4, 5}, {5, 4, 2, 3, 1, 0, 6, 7}}},
          {"gfx942", 8, 0, 7, 7, mi300x, 56},
          {"gfx942", 8, 8, 7, 7, mi300x, 64}};
}

// tuning.cc at PedramAlizadeh/rccl 06aa3b2eccb4, a copy of ROCm/rccl at 2.20: baseLat, tuning_model_*,
// ncclTopoTuneModel. LL128 is for machines that are not here.
RcclTuning rccl_2_20() {
  RcclTuning t;
  t.version = "2.20";
  t.tag = "2.20.5 (ROCm 6.2)";
  t.base = {{{12, 12, 17}, {12, 12, 17}}};
  t.tables = {table_0(), table_3(), table_5()};
  t.machines = machines();
  t.ring_steps = NcclRingSteps::net_and_posting;
  return t;
}

// tuning.cc at ROCm/rccl 9e22c79d8dcc: the same but for MI300X, which has LL128 between nodes, with LL's row of the
// table in its place, other factors by size, and llProtoRanges, which decide (src/rccl_wrap.cc:
// rcclUpdateCollectiveProtocol).
RcclTuning rccl_2_26() {
  RcclTuning t = rccl_2_20();
  t.version = "2.26";
  t.tag = "2.26.6 (ROCm 7.0)";
  t.ring_steps = NcclRingSteps::net_as_trees;
  RcclTable& mi300x = t.tables[2];
  for (auto* rows : {&mi300x.hop[0], &mi300x.hop[2], &mi300x.share[0], &mi300x.share[1]}) {
    for (PerProtocol& row : *rows) row[1] = row[0];
  }
  mi300x.tree_by_size[1] = mi300x.tree_by_size[0];
  mi300x.ring_by_size[1] = mi300x.ring_by_size[0];
  mi300x.tree_by_size[2] = {.1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1, .1,
                            .1, .7, 1,  1,  1,  1,  1,  .7, .7, .5, .6, .6, .6};
  mi300x.ring_by_size[2][22] = 1;
  t.machines[3].has_ll128 = true;
  t.ranges = {{{{0_B, 655360_B, 16}, {131072_B, 3211264_B, 64}},
               {{0_B, 98304_B, 16}, {98304_B, 5046272_B, 64}},
               {{0_B, 1048576_B}, {1048576_B, 9437184_B}}}};
  return t;
}

}  // namespace

std::span<const RcclTuning> rccl_tunings() {
  static const std::vector<RcclTuning> rows{rccl_2_20(), rccl_2_26()};
  return rows;
}

double xgmi_counted(const std::string& gfx) {
  if (gfx == "gfx90a") return 36;
  return gfx == "gfx942" || gfx.starts_with("gfx95") ? 48 : 24;
}

/// MI300X: 128 GB/s in both directions together; MI250X and before: 100.
BytesPerSecond xgmi_rate(const std::string& gfx) {
  return gfx == "gfx942" ? 64_GBps : 50_GBps;
}

}}  // namespace farandole::simulate
