// The page that steps through an algorithm: whole, by itself, and every round in a sentence.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "collective/walk.hpp"
#include "report/page/assets.hpp"
#include "report/reports.hpp"

namespace farandole::algorithm_page_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class AlgorithmPage : public testing::Test {
 protected:
  void SetUp() override {
    if (d3_script().empty()) GTEST_SKIP() << "built without D3; tools/setup browser installs it";
  }

  static std::string page_of(Operation operation, const std::string& algorithm, int ranks) {
    std::ostringstream out;
    write_algorithm_html(out, walk(find_algorithm(operation, algorithm)->build(Shape(ranks, 0))), "a < b");
    return out.str();
  }
};

TEST_F(AlgorithmPage, StandsAloneAndEscapesItsTitle) {
  const std::string page = page_of(Operation::allreduce, "ring", 4);
  EXPECT_THAT(page, AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("<h1>a &lt; b: 6 rounds.</h1>")));
  EXPECT_THAT(page.substr(0, page.find(d3_script())), Not(HasSubstr("src=")));
}

// Of a ring of n ranks: n-1 rounds that sum and n-1 that copy; every rank sends 2(n-1) of n segments.
TEST_F(AlgorithmPage, SaysOfARingWhatEveryRankDoesAndHowFarItIs) {
  const std::string page = page_of(Operation::allreduce, "ring", 4);
  EXPECT_THAT(page, HasSubstr("Every rank sends 6 segments, of data cut into 4."));
  EXPECT_THAT(page, HasSubstr("Every rank sends one segment to the next rank, which adds it. Whole sums in 0 of 16"));
  EXPECT_THAT(page, HasSubstr("which adds it. Whole sums in 4 of 16 cells."));
  EXPECT_THAT(page,
              HasSubstr("Allgather: finished parts are copied until every rank has all of them. Every rank sends one "
                        "segment to the next rank, which keeps it. Whole sums in 8 of 16 cells."));
  EXPECT_THAT(page, HasSubstr("Whole sums in 16 of 16 cells."));
}

TEST_F(AlgorithmPage, SaysOfPairsHowFarApartTheyAre) {
  const std::string page = page_of(Operation::allreduce, "halving_doubling", 8);
  for (const char* distance :
       {"the rank 4 away (0 with 4), and each adds them", "the rank 2 away", "the rank 1 away"}) {
    EXPECT_THAT(page, HasSubstr(distance));
  }
}

TEST_F(AlgorithmPage, NamesTheFirstTransfersOfARoundInWhichRanksDifferAndCountsTheOthers) {
  const std::string page = page_of(Operation::broadcast, "direct", 8);
  EXPECT_THAT(page, HasSubstr("Rank 0 sends segment 0 to rank 1, which keeps it; "));
  EXPECT_THAT(page, HasSubstr("; and 3 more."));
  EXPECT_THAT(page, HasSubstr("Something in 8 of 8 cells."));
}

TEST_F(AlgorithmPage, SaysHowToTimeItAndNotWhereNoCommandDoes) {
  EXPECT_THAT(page_of(Operation::allgather, "ring", 4),
              HasSubstr("farandole collective --op allgather --algorithm ring --ranks 4 --topology"));
  EXPECT_THAT(page_of(Operation::parameter_server, "dedicated", 4), Not(HasSubstr("farandole collective")));
}

}}  // namespace farandole::algorithm_page_test
