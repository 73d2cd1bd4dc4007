// Published tables of collectives: what is predicted of them without what was fitted to them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include <gtest/gtest.h>

#include "calibration/published.hpp"
#include "calibration/read_measurements.hpp"
#include "calibration/validation.hpp"
#include "scenario/scenario.hpp"
#include "support/source_folder.hpp"

namespace farandole::published_collectives_test { namespace {

const std::filesystem::path source = test::source_folder();

/// What a topology knows of a table was fitted to it: predictions of that table do without.
TEST(PublishedCollectives, ATableIsPredictedWithoutWhatWasFittedToIt) {
  const Document table = Document::read(source / "scenarios/published/collectives/polaris-32ranks.json");
  const auto own = validate_published_collectives(table, "collectives/polaris-32ranks", Catalogue());
  const auto of_another_name = validate_published_collectives(table, "collectives/elsewhere", Catalogue());
  ASSERT_EQ(own.size(), of_another_name.size());
  double with_it = 0;
  double without = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    with_it += std::abs(of_another_name[i].error);
    without += std::abs(own[i].error);
  }
  EXPECT_LT(with_it, 0.5 * without);
}

/// A table's machine may differ from a topology: so it is predicted, and without what was measured on that.
TEST(PublishedCollectives, ATablesOverrideChangesItsMachine) {
  Document table = Document::read(source / "scenarios/published/collectives/polaris-32ranks.json");
  const auto largest = [&] {
    return validate_published_collectives(table, "collectives/polaris-8ranks", Catalogue()).back().predicted;
  };
  table.set("/override", R"({"/node/nic/rate": "200 Gbit/s"})");
  const double as_shipped = largest();
  table.set("/override", R"({"/node/nic/rate": "100 Gbit/s"})");
  EXPECT_NEAR(largest() / as_shipped, 2, 0.1);
}

std::vector<double> sorted_errors(const std::vector<ValidationPoint>& points, Bytes from = 0_B) {
  std::vector<double> errors;
  for (const ValidationPoint& point : points) {
    if (point.bytes >= from) errors.push_back(std::abs(point.error));
  }
  std::ranges::sort(errors);
  return errors;
}

/// Four numbers of MPI on a Knights Landing, three of them from messages between two nodes, say what barriers,
/// broadcasts and allreduces over 12 to 48 nodes take.
TEST(PublishedCollectives, ThetasCollectivesFollowFromAHandfulOfNumbers) {
  const auto file = source / "scenarios/published/collectives/theta-48nodes.json";
  const auto shipped =
      sorted_errors(validate_published_collectives(Document::read(file), "collectives/theta-48nodes", Catalogue()));
  ASSERT_EQ(shipped.size(), 15U);
  EXPECT_LT(shipped[7], 0.13);
  EXPECT_LT(shipped.back(), 0.25);
}

TEST(SlowPublishedCollectives, EachOfThetasFollowsFromTheTwoOthers) {
  const auto file = source / "scenarios/published/collectives/theta-48nodes.json";
  const auto without_their_own = sorted_errors(
      cross_validate(Document::read(source / "topologies/theta.json"), read_measurements(file), HoldOut::operations));
  EXPECT_LT(without_their_own[7], 0.2);
}

TEST(PublishedCollectives, LongAlltoallsOfThetagpuTakeWhatNcclReckonsForPostingThem) {
  const auto file = source / "scenarios/published/collectives/thetagpu-16ranks-alltoall.json";
  const auto errors = sorted_errors(
      validate_published_collectives(Document::read(file), "collectives/thetagpu-16ranks-alltoall", Catalogue()),
      32_MiB);
  ASSERT_EQ(errors.size(), 6U);
  EXPECT_LT(errors[3], 0.05);
}

/// Nothing is fitted to any of them: datasheets, NCCL's constants and the lengths of its chunks.
TEST(PublishedCollectives, AllreducesOfHgxH100FollowFromNcclsConstants) {
  for (const auto& [table, most] :
       {std::pair{"dgx-h100-8ranks", 0.05}, {"hgx-h100-16ranks", 0.05}, {"hgx-h100-32ranks", 0.03}}) {
    const auto file = source / "scenarios/published/collectives" / (std::string(table) + ".json");
    const auto errors = sorted_errors(
        validate_published_collectives(Document::read(file), std::string("collectives/") + table, Catalogue()), 1_MiB);
    ASSERT_EQ(errors.size(), 15U);
    EXPECT_LT(errors[7], most) << table;
  }
}

/// Likewise, of eight A100 with a process each: the rings' slices. One process for all is slower by a tenth (no reason
/// is known), of V100 by none.
TEST(PublishedCollectives, AllreducesInsideANodeFollowFromNcclsSlices) {
  for (const auto& [table, rows, most] : {std::tuple{"dgx-a100-8ranks-8processes", 12U, 0.065},
                                          {"dgx-a100-8ranks-1process", 12U, 0.135},
                                          {"dgx1-v100-8ranks", 7U, 0.055}}) {
    const auto file = source / "scenarios/published/collectives" / (std::string(table) + ".json");
    const auto errors = sorted_errors(
        validate_published_collectives(Document::read(file), std::string("collectives/") + table, Catalogue()), 2_MiB);
    ASSERT_EQ(errors.size(), rows) << table;
    EXPECT_LT(errors[rows / 2], most) << table;
  }
}

}}  // namespace farandole::published_collectives_test
