// For tests of what-ifs: a machine whose network counts, an explained point, and the laws that hold for it.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "scenario/anchor.hpp"
#include "scenario/scenario_kit.hpp"
#include "timeline/difference.hpp"

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

/// Its number, how much it is sure to bring, and how sure.
inline void expect_the_run_by_hand(const Changes& changes, const TrainingPoint& base, const WhatIf& what_if) {
  Document by_hand = changed(changes);
  for (const auto& [pointer, json] : what_if.set) set_after_measuring(by_hand, pointer, json);
  const std::vector<TrainingPoint> points = run_document(by_hand, Catalogue(), {}).points;
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(what_if.iteration / points[0].iteration, 1, 1e-12);
  EXPECT_NEAR(what_if.scaling_efficiency / points[0].scaling_efficiency, 1, 1e-12);
  EXPECT_NEAR(what_if.samples_per_second / points[0].samples_per_second, 1, 1e-12);
  const auto gain = difference(base, points[0]);
  ASSERT_EQ(gain.has_value() && what_if.kind != "uncertain", what_if.sure.has_value());
  if (!what_if.sure) return;
  EXPECT_NEAR(*what_if.sure, gain->sure, 1e-9);
  EXPECT_NEAR(what_if.points_band->low, 100 * base.scaling_efficiency * (gain->band.low - 1), 1e-6);
  EXPECT_NEAR(what_if.points_band->high, 100 * base.scaling_efficiency * (gain->band.high - 1), 1e-6);
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
    expect_the_run_by_hand(changes, point, what_if);
  }
}

}  // namespace farandole::test
