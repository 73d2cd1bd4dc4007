#include "training/strategies/negotiation.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/source_folder.hpp"
#include "units/quantity.hpp"

namespace farandole::negotiation_test { namespace {

const ControlPlane control{1_us, 2_us, 0.5_us, 0.25_us};

double seconds(Negotiation way, int ranks, int uncached, bool has_cache) {
  return negotiation_time(way, control, {ranks, uncached, has_cache}).si();
}

TEST(Negotiation, ByCollectivesIsTwoGathersTwoBroadcastsAndTheCoordinatorsWork) {
  // 8 ranks: ceil(log2 8) = 3 messages deep; lists come one by one, 1 + 7 / 2; 8 x 5 requests. A cache's bit vector
  // goes twice as deep.
  const auto gathered = Negotiation::gathered;
  EXPECT_NEAR(seconds(gathered, 8, 5, false), 10e-6 + 3.5e-6 + 80e-6, 1e-15);
  EXPECT_NEAR(seconds(gathered, 8, 5, true), 6e-6 + 10e-6 + 3.5e-6 + 80e-6, 1e-15);
  EXPECT_NEAR(seconds(gathered, 8, 0, true), 6e-6, 1e-15);
  EXPECT_NEAR(seconds(gathered, 9, 0, true), 8e-6, 1e-15);
  EXPECT_EQ(telling_time(gathered, control, 8), 0_s);
}

TEST(Negotiation, PointToPointIsAMessageForEveryRequestAndForEveryResponse) {
  // 7 others send 5 requests and an empty message each: 42 x 0.5 us. A response goes to 7 others.
  EXPECT_NEAR(seconds(Negotiation::point_to_point, 8, 5, false), 1e-6 + 21e-6 + 80e-6, 1e-15);
  EXPECT_NEAR(telling_time(Negotiation::point_to_point, control, 8).si(), 1e-6 + 7 * 0.25e-6, 1e-15);
}

TEST(Negotiation, ByGlooGoesAroundARing) {
  EXPECT_NEAR(seconds(Negotiation::gloo_allgather, 8, 5, false), 20e-6 + 80e-6, 1e-15);
  EXPECT_NEAR(seconds(Negotiation::gloo_gather, 8, 5, false), 8e-6 + 7e-6 + 80e-6, 1e-15);
  EXPECT_NEAR(seconds(Negotiation::gloo_gather, 8, 0, true), 14e-6, 1e-15);
}

/// The median of the rows, with the least and the most of them; all as they are rounded in the source.
void expect_of(std::vector<double> rows, const CoordinatorCost& cost) {
  constexpr double rounding = 0.015;
  std::ranges::sort(rows);
  const std::size_t half = rows.size() / 2;
  const double median = rows.size() % 2 == 0 ? (rows[half - 1] + rows[half]) / 2 : rows[half];
  EXPECT_NEAR(cost.used.si() / (median * 1e-6), 1, rounding) << cost.what;
  EXPECT_NEAR(cost.least.si() / (rows.front() * 1e-6), 1, rounding) << cost.what;
  EXPECT_NEAR(cost.most.si() / (rows.back() * 1e-6), 1, rounding) << cost.what;
}

TEST(Negotiation, TheCoordinatorsCostsAreTheMediansOfWhatWasMeasured) {
  std::ifstream file(test::source_folder() / "tests/training/coordinator_costs.json");
  std::vector<double> requests;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> messages;  // received, sent
  const auto measured = nlohmann::json::parse(file);
  for (const auto& row : measured.at("rows")) {
    const auto request = row.at("request").get<double>();
    requests.push_back(request);
    auto& [received, sent] = messages[row.at("transport").get<std::string>()];
    received.push_back(row.at("received").get<double>() - request);
    sent.push_back(row.at("sent").get<double>());
  }
  expect_of(requests, coordinator_request());
  expect_of(messages.at("shared memory").first, coordinator_past_the_kernel().received);
  expect_of(messages.at("shared memory").second, coordinator_past_the_kernel().sent);
  expect_of(messages.at("tcp").first, coordinator_over_tcp().received);
  expect_of(messages.at("tcp").second, coordinator_over_tcp().sent);
}

}}  // namespace farandole::negotiation_test
