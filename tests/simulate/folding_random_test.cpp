// Folded and unfolded, message by message, on platforms drawn at random: every rank ends at the same moment.
#include <gtest/gtest.h>

#include "simulate/random_kit.hpp"

namespace farandole::folding_random_test { namespace {

using test::Case;
using test::draw_case;
using test::Random;

void expect_equal(const RankTimes& folded, const RankTimes& unfolded, std::uint64_t seed) {
  const double difference = ((folded - unfolded).abs() / unfolded).maxCoeff();
  EXPECT_LT(difference, 1e-12) << "seed " << seed;
}

/// How many of the cases of these seeds were worth folding; the others must come out right too.
int compare_folded_with_unfolded(std::uint64_t first_seed, std::uint64_t last_seed) {
  int worthwhile = 0;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    Random random(seed);
    const Case drawn = draw_case(random);
    const Folding folding = fold(drawn.routed, drawn.start);
    const RankTimes unfolded = MessageClock(drawn.routed).completion_times(drawn.size, drawn.start);
    const RankTimes start = folding.of_classes(drawn.start);
    expect_equal(folding.of_ranks(MessageClock(folding.quotient).completion_times(drawn.size, start)), unfolded, seed);
    worthwhile += folding.is_worthwhile() ? 1 : 0;
  }
  return worthwhile;
}

TEST(FoldingAtRandom, EveryRankEndsWhenItWouldHaveEndedUnfolded) {
  EXPECT_GT(compare_folded_with_unfolded(1, 500), 25);  // trees to a root seldom fold
}

TEST(SlowFoldingAtRandom, EveryRankEndsWhenItWouldHaveEndedUnfolded) {
  EXPECT_GT(compare_folded_with_unfolded(501, 3000), 125);
}

}}  // namespace farandole::folding_random_test
