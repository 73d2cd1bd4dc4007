// NCCL's cost model on a machine, for tests that hold it against NCCL's sources.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "simulate/library/nccl_model.hpp"
#include "simulate/library_kit.hpp"
#include "simulate/releases_kit.hpp"

namespace farandole::test {

inline void expect_cost(const NcclCost& cost, double base_us, double hops_us, double gigabytes_per_second) {
  EXPECT_NEAR(cost.base.si(), base_us * 1e-6, 1e-12);
  EXPECT_NEAR(cost.hops.si(), hops_us * 1e-6, 1e-12);
  EXPECT_NEAR(cost.rate.si(), gigabytes_per_second * 1e9, 1);
}

/// A model and the graph that it refers to.
struct Modelled {
  Modelled(const std::string& version, const Platform& platform, int ranks, Operation operation, int capability)
      : graph(survey_channels(platform, in_order(ranks), nvlink_rate(capability))),
        model(tuning(version), graph, operation, capability) {}
  ChannelGraph graph;
  NcclModel model;
};

}  // namespace farandole::test
