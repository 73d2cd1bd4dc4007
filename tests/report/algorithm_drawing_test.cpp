// Pictures of algorithms: whole, self-contained, one frame for the start and one for every round.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "report/reports.hpp"

namespace farandole::algorithm_drawing_test { namespace {

using testing::HasSubstr;

Walk ring_of_four() {
  return walk(find_algorithm(Operation::allreduce, "ring")->build(4));
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++count;
  return count;
}

std::string svg(const Walk& walked) {
  std::ostringstream out;
  write_algorithm_svg(out, walked, "a < b");
  return out.str();
}

TEST(Walk, TellsWhatEveryRankHoldsAfterEachRound) {
  const Walk walked = ring_of_four();
  ASSERT_EQ(walked.rounds.size(), 6U);
  EXPECT_EQ(held_text(walked.start.at(2, 1)), "2");
  EXPECT_EQ(held_text(walked.rounds[0].held.at(1, 3)), "0+1");  // rank 0 sent segment 3 on
  EXPECT_EQ(held_text(walked.rounds[2].held.at(0, 0)), "all");  // after n-1 rounds rank r owns segment r
  for (int rank = 0; rank < 4; ++rank) {
    for (Chunk chunk = 0; chunk < 4; ++chunk) EXPECT_EQ(held_text(walked.rounds[5].held.at(rank, chunk)), "all");
  }
}

TEST(Walk, WritesRunsOfChunksShort) {
  EXPECT_EQ(chunks_text({0, 1, 2, 3, 7}), "0-3,7");
  EXPECT_EQ(chunks_text({5}), "5");
}

TEST(AlgorithmDrawing, HasAFrameForTheStartAndForEveryRound) {
  const std::string picture = svg(ring_of_four());
  EXPECT_EQ(occurrences(picture, "<g class=\"frame"), 7U);
  EXPECT_EQ(occurrences(picture, "<g class=\"frame shown\">"), 1U);
  EXPECT_EQ(occurrences(picture, "<rect "), 7U * 16);
  EXPECT_EQ(occurrences(picture, "<path class=\"reduce\""), 12U);
  EXPECT_EQ(occurrences(picture, "<path class=\"copy\""), 12U);
}

TEST(AlgorithmDrawing, EscapesItsTitle) {
  EXPECT_THAT(svg(ring_of_four()), HasSubstr("a &lt; b"));
}

}}  // namespace farandole::algorithm_drawing_test
