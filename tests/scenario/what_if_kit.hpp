// For tests of what-ifs: a machine whose network counts, an explained point, and the laws that hold for it.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::test {

using Changes = std::vector<Change>;

/// Two nodes of eight A100, one NIC each, so that the network counts.
inline Changes machine() {
  return {{"/platform", R"({"topology": "dgx-a100", "ranks": 16, "override":
             {"/node/nics_at": ["switch0"], "/transport/library": "nccl-2.10"}})"},
          {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": "analytic"})"}};
}

inline Changes with(Changes changes, const Changes& more) {
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

inline TrainingPoint explained(const Changes& changes) {
  RunOptions options;
  options.explain = true;
  return run(changes, options).points.at(0);
}

inline const WhatIf* find(const TrainingPoint& point, const std::string& change) {
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    if (what_if.change == change) return &what_if;
  }
  return nullptr;
}

inline std::vector<std::string> parts_of(const TrainingPoint& point) {
  std::vector<std::string> names;
  for (const WaterfallPart& part : point.explanation->waterfall) names.push_back(part.name);
  return names;
}

inline Seconds part(const TrainingPoint& point, const std::string& name) {
  for (const WaterfallPart& each : point.explanation->waterfall) {
    if (each.name == name) return each.time;
  }
  return {};
}

inline void expect_the_run_by_hand(const Changes& changes, const WhatIf& what_if) {
  Changes by_hand = changes;
  for (const auto& [pointer, json] : what_if.set) by_hand.push_back({pointer, json});
  const std::vector<TrainingPoint> points = run(by_hand).points;
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(what_if.iteration / points[0].iteration, 1, 1e-12);
  EXPECT_NEAR(what_if.scaling_efficiency / points[0].scaling_efficiency, 1, 1e-12);
  EXPECT_NEAR(what_if.samples_per_second / points[0].samples_per_second, 1, 1e-12);
}

/// sum = iteration; what is found as a remainder is not below nothing, and nothing remains that nobody claims.
inline void expect_a_whole_waterfall(const TrainingPoint& point) {
  Seconds sum;
  for (const WaterfallPart& each : point.explanation->waterfall) sum += each.time;
  EXPECT_NEAR(sum / point.iteration, 1, 1e-12);
  EXPECT_THAT(parts_of(point), testing::Not(testing::Contains("other")));
  for (const char* remainder : {"negotiation", "input", "device"}) {
    EXPECT_GE(part(point, remainder) / point.iteration, -1e-9) << remainder;
  }
}

/// A setting that was taken is not offered again.
inline void expect_not_offered_again(const Changes& changes, const WhatIf& what_if) {
  if (what_if.kind != "setting" || what_if.change == "double the batch") return;
  Changes by_hand = changes;
  for (const auto& [pointer, json] : what_if.set) by_hand.push_back({pointer, json});
  const TrainingPoint point = explained(by_hand);
  EXPECT_EQ(find(point, what_if.change), nullptr) << what_if.change;
}

inline void expect_the_laws(const Changes& changes) {
  const TrainingPoint point = explained(changes);
  expect_a_whole_waterfall(point);
  EXPECT_NE(find(point, "network x2"), nullptr);
  EXPECT_NE(find(point, "latency / 2"), nullptr);
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    SCOPED_TRACE(what_if.change);
    expect_the_run_by_hand(changes, what_if);
  }
}

}  // namespace farandole::test
