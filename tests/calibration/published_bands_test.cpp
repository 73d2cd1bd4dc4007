// Bands of published tables: of other tables' errors alone, by where they ran and what was known of their machines.
#include "calibration/published_bands.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace farandole::published_bands_test { namespace {

/// Rows of 1 KiB that take `factors` times what was predicted of them, which is a second.
JudgedTable table(bool measured_besides, const std::vector<double>& factors, int nodes = 1) {
  JudgedTable result{measured_besides, {}};
  for (const double factor : factors) {
    ValidationPoint point = validation_point(1_s, Seconds(factor), "");
    point.bytes = 1_KiB;
    point.nodes = nodes;
    result.points.push_back(point);
  }
  return result;
}

TEST(PublishedBands, HoldFourRowsInFiveOfTablesThatTheyWereNotMadeOf) {
  std::mt19937 draw(7);
  std::normal_distribution<double> of_a_table(0.05, 0.2);
  std::normal_distribution<double> of_a_row(0, 0.1);
  std::vector<JudgedTable> tables;
  for (int i = 0; i < 60; ++i) {
    const double shared = of_a_table(draw);
    std::vector<double> factors;
    for (int row = 0; row < 5 + i % 20; ++row) factors.push_back(std::exp(shared + of_a_row(draw)));
    tables.push_back(table(false, factors));
  }
  add_bands(tables);
  double inside = 0;  // of a table's rows, in the mean
  for (const JudgedTable& one : tables) {
    double own = 0;
    for (const ValidationPoint& point : one.points) own += inside_band(point) ? 1 : 0;
    inside += own / static_cast<double>(one.points.size() * tables.size());
  }
  EXPECT_GT(inside, 0.72);
  EXPECT_LT(inside, 0.90);
}

/// Of equal weights 1.1, 1.2 and 1.3 the quantiles of .1 and .9 are the outermost: k = .4 and 3.6 of 3.
TEST(PublishedBands, ATableSaysNothingOfItself) {
  for (const double own : {0.5, 1.0, 3.0}) {
    std::vector<JudgedTable> tables{table(true, {own})};
    for (const double other : {1.1, 1.2, 1.3}) tables.push_back(table(true, {other}));
    add_bands(tables);
    EXPECT_NEAR(tables.front().points.front().band->low, 1, 1e-12) << own;  // the prediction is always inside
    EXPECT_NEAR(tables.front().points.front().band->high, 1.3, 1e-12) << own;
  }
}

TEST(PublishedBands, ComeFromTablesOfWhichAsMuchWasKnownWhereThereAreThree) {
  std::vector<JudgedTable> tables;
  for (const double factor : {1.0, 1.1, 1.1, 1.1}) tables.push_back(table(true, {factor}));
  for (const double factor : {1.0, 2.0, 2.0}) tables.push_back(table(false, {factor}));
  add_bands(tables);
  EXPECT_NEAR(tables.front().points.front().band->high, 1.1, 1e-12);
  EXPECT_NEAR(tables.back().points.front().band->high, 2.0, 1e-12);  // two of its kind: all six count
}

TEST(PublishedBands, InsideANodeAndOverSeveralComeFromTheirOwnKind) {
  std::vector<JudgedTable> tables;
  for (const double factor : {1.0, 1.1, 1.1, 1.1}) tables.push_back(table(false, {factor}, 1));
  for (const double factor : {1.0, 2.0, 2.0, 2.0}) tables.push_back(table(false, {factor}, 2));
  add_bands(tables);
  EXPECT_NEAR(tables.front().points.front().band->high, 1.1, 1e-12);
  EXPECT_NEAR(tables[4].points.front().band->high, 2.0, 1e-12);
}

TEST(PublishedBands, NeedThreeTablesAndRowsThatCount) {
  std::vector<JudgedTable> tables{table(true, {1}), table(true, {1.1}), table(true, {1.2}), table(true, {9})};
  tables.back().points.front().counted = false;
  add_bands(tables);
  for (const JudgedTable& one : tables) EXPECT_FALSE(one.points.front().band);
}

}}  // namespace farandole::published_bands_test
