// Traffic that is not ours: sources that come and go, and other jobs' collectives, against closed forms.
#include <gtest/gtest.h>

#include "engine/company_kit.hpp"
#include "simulate/folding_kit.hpp"
#include "training/effects/on_off.hpp"

namespace farandole::traffic_test { namespace {

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

/// Two nodes under each of two leaves, whose uplinks have the rate of one NIC: two rings of one node of each leaf.
/// Alone two rounds of alpha + (M / 2) / B each way over six links of 1 us.
struct TwoRings {
  Platform platform = test::leaf_spine(2, 2, 1, 1_GBps, 1_GBps);
  std::vector<RoutedSchedule> rings{RoutedSchedule(ring_allreduce(2), platform, {{0, 2}, 2}),
                                    RoutedSchedule(ring_allreduce(2), platform, {{1, 3}, 2})};
};

constexpr double alpha = 6e-6;

TEST(Traffic, OfAnEqualRingOverOneSpineLinkHalvesItsRate) {
  const TwoRings two;
  for (const Fidelity fidelity : all_fidelities) {
    test::Meeting meeting(fidelity, two.platform, two.rings);
    for (const int job : {0, 1}) meeting.start(job, 8_MB, all_at(2, 0_s), job);
    meeting.run([&](int /*tag*/, const RankTimes& ends) {
      EXPECT_NEAR(latest(ends).si() / (2 * (alpha + 8e-3)), 1, 1e-9) << name(fidelity);
    });
  }
}

TEST(Traffic, OfAnotherJobIsThereWhileItSends) {
  // Ours of 40 ms begins at 0, the other's at 20 ms: each has half from then on. Ours is over at 60 ms, when the other
  // has 20 of its 40 ms behind it: it is over at 80.
  const TwoRings two;
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
    test::Meeting meeting(fidelity, two.platform, two.rings);
    meeting.start(0, 40_MB, all_at(2, 0_s), 0);
    meeting.start(1, 40_MB, all_at(2, Seconds(20e-3)), 1);
    std::map<int, double> ends;
    meeting.run([&](int tag, const RankTimes& of_ranks) { ends[tag] = of_ranks.maxCoeff(); });
    EXPECT_NEAR(ends.at(0), 60e-3, 1e-4) << name(fidelity);
    EXPECT_NEAR(ends.at(1), 80e-3, 1e-4) << name(fidelity);
  }
}

/// What a ring of `size` takes beside a source on all network links.
double beside(const std::vector<OnOffSource>& sources, Bytes size, Fidelity fidelity) {
  const TwoRings two;
  test::Meeting meeting(fidelity, two.platform, two.rings);
  const OnOffTraffic traffic(meeting.simulator, meeting.company, sources);
  meeting.start(0, size, all_at(2, 0_s), 0);
  double end = 0;
  meeting.run([&](int /*tag*/, const RankTimes& ends) {
    end = ends.maxCoeff();
    meeting.simulator.halt();
  });
  return end;
}

OnOffSource source(BytesPerSecond rate, Seconds on, Seconds off, std::uint64_t seed) {
  OnOffSource source{{}, rate, on, off, {}, {}, seed};
  const Platform platform = TwoRings().platform;
  for (int link = platform.first_network_link(); link < static_cast<int>(platform.links.size()); ++link) {
    source.links.push_back(link);
  }
  return source;
}

TEST(Traffic, OfASourceThatIsOnHalfTheTimeTakesHalfOfWhatItTakes) {
  // It leaves a quarter of the rate while it is on: 5/8 of it in the mean, to within one turn of the source.
  for (const Fidelity fidelity : all_fidelities) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const double time =
          beside({source(BytesPerSecond(0.75e9), Seconds(1e-3), Seconds(1e-3), seed)}, 800_MB, fidelity);
      EXPECT_NEAR(time, 0.8 / 0.625, 3e-3) << name(fidelity);
    }
  }
}

TEST(Traffic, OfARandomSourceFollowsFromItsSeed) {
  const auto end = [](std::uint64_t seed) {
    OnOffSource random = source(BytesPerSecond(0.5e9), Seconds(1e-3), Seconds(3e-3), seed);
    random.on_spread = random.off_spread = {"exponential", 1};
    return beside({random}, 100_MB, Fidelity::flow);
  };
  EXPECT_EQ(end(7), end(7));
  EXPECT_NE(end(7), end(8));
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) sum += end(seed);
  EXPECT_NEAR(sum / 20 * 0.875, 0.1, 0.005);  // on a quarter of the time: 7/8 of the rate
}

}}  // namespace farandole::traffic_test
