// Folded and unfolded, message by message, on platforms drawn at random: every rank ends at the same moment.
#include <gtest/gtest.h>

#include "simulate/folding_kit.hpp"

namespace farandole {
namespace {

using test::draw;
using test::Random;

BytesPerSecond draw_rate(Random& random) {
  return BytesPerSecond(1e9 * draw(random, 1, 4));
}

Platform draw_shape(Random& random) {
  const int kind = draw(random, 0, 6);
  if (kind == 6) {
    return test::split_leaf_spine(draw(random, 2, 4), draw(random, 1, 3), draw(random, 1, 2), draw_rate(random),
                                  draw_rate(random), draw(random, 2, 3));
  }
  if (kind == 0) return test::star(draw(random, 2, 16), draw_rate(random), 2_us);
  if (kind == 1) return test::two_level(draw(random, 1, 5), draw(random, 2, 4), draw_rate(random), draw_rate(random));
  Platform platform = test::leaf_spine(draw(random, 1, 4), draw(random, 1, 3), draw(random, 1, 3), draw_rate(random),
                                       draw_rate(random) * draw(random, 1, 3));
  if (platform.devices() < 2) return draw_shape(random);
  if (kind == 3) return test::half_duplex(platform);
  if (kind == 4) return test::hub(platform);
  if (kind == 5) platform.links[static_cast<std::size_t>(draw(random, 0, 1))].capacity = draw_rate(random);
  return platform;
}

Platform draw_platform(Random& random) {
  Platform platform = draw_shape(random);
  const int far = draw(random, 2, 12);  // every so many links, in one drawing of two
  for (std::size_t link = 0; link < platform.links.size() && far < 8; link += static_cast<std::size_t>(far)) {
    platform.links[link].latency += 40_us;
  }
  if (draw(random, 0, 2) == 0) platform.transport.reduce_rate = draw_rate(random);
  return platform;
}

RankTimes draw_start(Random& random, int ranks) {
  RankTimes start = all_at(ranks, Seconds(0));
  const int kind = draw(random, 0, 3);
  for (int rank = 0; rank < ranks; ++rank) {
    if (kind == 1) start[rank] = rank % 2 == 0 ? 0 : 3e-4;  // two groups
    if (kind == 2) start[rank] = rank == ranks - 1 ? 7e-4 : 0;
    if (kind == 3) start[rank] = 1e-4 * draw(random, 0, 2);
  }
  return start;
}

struct Case {
  RoutedSchedule routed;
  RankTimes start;
  Bytes size;
};

Case draw_case(Random& random) {
  const Platform platform = draw_platform(random);
  const auto devices = platform.devices();
  const bool sorted = draw(random, 0, 2) > 0;
  const int ranks = draw(random, 0, 2) > 0 ? devices : draw(random, 2, devices);
  const Placement placement = sorted ? test::in_order(ranks) : test::shuffled(random, ranks, devices);
  const auto which = static_cast<std::size_t>(draw(random, 0, static_cast<int>(test::schedules_to_fold().size()) - 1));
  const Schedule schedule = test::schedules_to_fold()[which](ranks);
  const Bytes size(static_cast<double>(schedule.chunks) * draw(random, 1, 500'000));
  return {RoutedSchedule(schedule, platform, placement), draw_start(random, ranks), size};
}

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
    const RankTimes unfolded = MessageClock(drawn.routed).finish(drawn.size, drawn.start);
    const RankTimes start = folding.of_classes(drawn.start);
    for (const auto repeats : {MessageClock::Repeats::all, MessageClock::Repeats::until_steady}) {
      expect_equal(folding.of_ranks(MessageClock(folding.quotient, repeats).finish(drawn.size, start)), unfolded, seed);
    }
    worthwhile += folding.is_worthwhile() ? 1 : 0;
  }
  return worthwhile;
}

TEST(FoldingAtRandom, EveryRankEndsWhenItWouldHaveEndedUnfolded) {
  EXPECT_GT(compare_folded_with_unfolded(1, 500), 40);
}

TEST(SlowFoldingAtRandom, EveryRankEndsWhenItWouldHaveEndedUnfolded) {
  EXPECT_GT(compare_folded_with_unfolded(501, 3000), 240);
}

TEST(FoldingAtRandom, AnUnfoldedNetworkMayBeMultipliedToo) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Case drawn = draw_case(random);
    const RankTimes all = MessageClock(drawn.routed).finish(drawn.size, drawn.start);
    MessageClock multiplied(drawn.routed, MessageClock::Repeats::until_steady);
    expect_equal(multiplied.finish(drawn.size, drawn.start), all, seed);
  }
}

}  // namespace
}  // namespace farandole
