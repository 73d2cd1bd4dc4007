// Bands of predictions: from errors of what was predicted without having been fitted to.
#include "calibration/spread.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "calibration/fit.hpp"
#include "calibration/lab.hpp"
#include "calibration/read_measurements.hpp"
#include "calibration/validation.hpp"
#include "support/source_folder.hpp"

namespace farandole::spread_test { namespace {

using test::row;

std::vector<MeasuredTime> three_operations() {
  std::vector<MeasuredTime> all;
  for (const char* operation : {"allreduce", "broadcast", "allgather"}) {
    for (const int ranks : {2, 4, 8}) {
      for (double size = 1024; size <= 4194304; size *= 4) all.push_back(row(operation, "", ranks, Bytes(size)));
    }
  }
  return all;
}

/// Errors of 1 % of what shares operation and scale with what is fitted to, 10 % more without the operation, and so on.
std::vector<double> farther_is_worse(std::span<const MeasuredTime> rows, const std::vector<bool>& left_out) {
  std::set<std::string> operations;
  std::set<int> ranks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (left_out[i]) continue;
    operations.insert(rows[i].operation);
    ranks.insert(rows[i].ranks);
  }
  std::vector<double> predicted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double more = (operations.contains(rows[i].operation) ? 0 : 0.1) + (ranks.contains(rows[i].ranks) ? 0 : 0.2);
    predicted.push_back((i % 2 == 0 ? 1.01 : 0.99) * (1 - more));
  }
  return predicted;
}

TEST(Spread, GrowsWithWhatAPredictionDoesNotShareWithTheFit) {
  const auto rows = three_operations();
  const Spread spread =
      spread_of(rows, [&](const std::vector<bool>& left_out) { return farther_is_worse(rows, left_out); });
  const auto high = [&](const char* operation, int ranks) {
    return spread.band_of(row(operation, "", ranks, 1_MiB))->most;
  };
  EXPECT_NEAR(high("allreduce", 4), 1 / 0.99, 1e-12);
  EXPECT_NEAR(high("reduce", 4), 1 / (0.99 * 0.9), 1e-12);
  EXPECT_NEAR(high("allreduce", 16), 1 / (0.99 * 0.8), 1e-12);
  EXPECT_NEAR(high("reduce", 16), 1 / (0.99 * 0.7), 1e-12);
}

TEST(Spread, OfOneOperationAndScaleSaysNothingOfOthers) {
  std::vector<MeasuredTime> rows;
  for (double size = 4; size <= 67108864; size *= 2) rows.push_back(row("allreduce", "", 4, Bytes(size)));
  const Spread spread =
      spread_of(rows, [&](const std::vector<bool>& left_out) { return farther_is_worse(rows, left_out); });
  EXPECT_TRUE(spread.band_of(row("allreduce", "", 4, 1_MiB)));
  EXPECT_FALSE(spread.band_of(row("broadcast", "", 4, 1_MiB)));
  EXPECT_FALSE(spread.band_of(row("allreduce", "", 8, 1_MiB)));
}

TEST(Spread, IsReadAsItWasWritten) {
  const auto rows = three_operations();
  const Spread spread =
      spread_of(rows, [&](const std::vector<bool>& left_out) { return farther_is_worse(rows, left_out); });
  const Spread again = read_spread(Document::parse(spread_text(spread), "bands").root());
  EXPECT_EQ(again.operations, spread.operations);
  EXPECT_EQ(again.ranks, spread.ranks);
  for (std::size_t d = 0; d < distances; ++d) {
    for (std::size_t c = 0; c < spread.bands[d].size(); ++c) {
      ASSERT_EQ(again.bands[d][c].has_value(), spread.bands[d][c].has_value());
      if (!spread.bands[d][c]) continue;
      EXPECT_EQ(again.bands[d][c]->least, spread.bands[d][c]->least);
      EXPECT_EQ(again.bands[d][c]->most, spread.bands[d][c]->most);
    }
  }
}

struct LabRows {
  HoldOut hold_out;
  std::vector<std::string> families;
  int more_than;
};

// In the test's name, which would have its bytes else.
void PrintTo(const LabRows& rows, std::ostream* out) {
  *out << fmt::format("{}", fmt::join(rows.families, " and "));
}

/// Real rows, in leave-one-operation-out and leave-one-scale-out: the bands come from the others alone.
class LabBands : public testing::TestWithParam<LabRows> {};

TEST_P(LabBands, HoldFourInFiveOfWhatTheyHaveNotSeen) {
  const auto file = test::source_folder() / "tests/calibration/data/loopback-lab.jsonl";
  const auto& [hold_out, families, more_than] = GetParam();
  std::vector<MeasuredTime> rows;
  for (const MeasuredTime& row : read_measurements(file)) {
    if (std::ranges::find(families, row.family) != families.end() && !row.doubt) rows.push_back(row);
  }
  const Document topology = Document::read(test::source_folder() / "topologies/lab-star.json");
  int inside = 0;
  int all = 0;
  for (const ValidationPoint& point : cross_validate(topology, rows, hold_out)) {
    if (!point.band) continue;
    ++all;
    inside += inside_band(point) ? 1 : 0;
  }
  RecordProperty("inside", inside);
  std::cout << inside << " of " << all << " inside\n";
  EXPECT_GT(all, more_than);
  EXPECT_GE(static_cast<double>(inside) / all, 0.70);
  EXPECT_LE(static_cast<double>(inside) / all, 0.90);
}

std::string name_of(const testing::TestParamInfo<LabRows>& info) {
  return info.param.hold_out == HoldOut::sizes ? "Sizes" : "Operations";
}

INSTANTIATE_TEST_SUITE_P(Real, LabBands,
                         testing::Values(LabRows{HoldOut::sizes, {"n2_r100", "n4_r100"}, 100},
                                         LabRows{HoldOut::operations, {"n2_r100"}, 70}),
                         name_of);

// With four nodes too it is half a minute.
INSTANTIATE_TEST_SUITE_P(Slow, LabBands, testing::Values(LabRows{HoldOut::operations, {"n2_r100", "n4_r100"}, 100}),
                         name_of);

}}  // namespace farandole::spread_test
