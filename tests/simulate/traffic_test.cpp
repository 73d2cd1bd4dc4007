// Traffic that is not ours: sources that come and go, and other jobs, against closed forms.
#include "simulate/traffic.hpp"

#include <array>

#include <gtest/gtest.h>

#include "simulate/folding_kit.hpp"
#include "simulate/slowdown.hpp"

namespace farandole {
namespace {

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};
const Party ours{0, Operation::allreduce, 8_MB};

/// All that are under way share evenly; a source that is on halves what is left.
double fair(std::size_t /*who*/, const std::vector<Party>& parties, const std::vector<bool>& sources) {
  double slowdown = static_cast<double>(parties.size());
  for (const bool on : sources) slowdown *= on ? 2 : 1;
  return slowdown;
}

IterationProfile profile(Seconds duration, Seconds begin, Seconds end) {
  return {duration, {{Operation::allreduce, 8_MB, begin, end}}};
}

Traffic beside(const IterationProfile& other) {
  return {{}, {other}, fair};
}

TEST(Traffic, OfAnotherJobThatAlwaysSendsTakesHalf) {
  // Each has half: ours of 3 s takes 6, its iterations of 1 s take 2 as long as we send.
  Traffic traffic = beside(profile(1_s, 0_s, 1_s));
  EXPECT_NEAR(traffic.carry(ours, 0_s, Seconds(3)).si(), 6, 1e-12);
  EXPECT_NEAR(traffic.iterations_of_others().at(0).si(), 2, 1e-12);
  EXPECT_EQ(traffic.iterations_alone().at(0), 1_s);
}

TEST(Traffic, OfAnotherJobIsThereWhileItSends) {
  // Ours of 1 s is alone until 0.5 s, then has half: over at 1.5. The other's second of sending began at 0.5, has had
  // half a second of it by then, is over at 2, and its iteration half a second later as ever: 2.5 in place of 2.
  Traffic traffic = beside(profile(2_s, Seconds(0.5), Seconds(1.5)));
  EXPECT_NEAR(traffic.carry(ours, 0_s, 1_s).si(), 1.5, 1e-12);
  EXPECT_NEAR(traffic.iterations_of_others().at(0).si(), 2.5, 1e-12);
}

TEST(Traffic, DelaysAJobByNoMoreThanItCannotHide) {
  // It sends in the first and in the last of three seconds: the first collective, held up by one, is over when the next
  // begins.
  IterationProfile other = profile(3_s, 0_s, 1_s);
  other.collectives.push_back({Operation::allreduce, 8_MB, 2_s, 3_s});
  Traffic traffic = beside(other);
  EXPECT_NEAR(traffic.carry(ours, 0_s, 1_s).si(), 2, 1e-12);
  EXPECT_NEAR(traffic.iterations_of_others().at(0).si(), 3, 1e-12);
}

TEST(Traffic, GoesOnWhileWeAreSilent) {
  Traffic traffic = beside(profile(2_s, Seconds(0.5), Seconds(1.5)));
  EXPECT_NEAR(traffic.carry(ours, Seconds(1.75), Seconds(0.5)).si(), 2.25, 1e-12);  // between two of its collectives
  EXPECT_NEAR(traffic.carry(ours, Seconds(2.5), Seconds(0.25)).si(), 3, 1e-12);     // in the second one
}

TEST(Traffic, OfASourceThatIsOnHalfTheTimeSlowsByItsMean) {
  // Half the pace half of the time: 3/4 of it in the mean, to within one turn of the source.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Traffic traffic({{Seconds(0.01), Seconds(0.01), {}, {}, seed}}, {}, fair);
    EXPECT_NEAR(traffic.carry(ours, 0_s, 3_s).si(), 4, 0.02);
  }
}

TEST(Traffic, OfARandomSourceFollowsFromItsSeed) {
  const Distribution exponential{"exponential", 1};
  const auto end = [&](std::uint64_t seed) {
    return Traffic({{Seconds(0.01), Seconds(0.03), exponential, exponential, seed}}, {}, fair).carry(ours, 0_s, 1_s);
  };
  EXPECT_EQ(end(7), end(7));
  EXPECT_NE(end(7), end(8));
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) sum += end(seed).si();
  EXPECT_NEAR(sum / 20, 1 / 0.875, 0.05);  // on a quarter of the time: 7/8 of the pace
}

/// Two nodes under each of two leaves, whose uplinks have the rate of one NIC: two rings of one node of each leaf.
struct TwoRings {
  Platform platform = test::leaf_spine(2, 2, 1, 1_GBps, 1_GBps);
  std::array<Placement, 2> placements{Placement{{0, 2}, 2}, Placement{{1, 3}, 2}};

  [[nodiscard]] Slowdowns slowdowns(Fidelity fidelity) const {
    return {fidelity, [this](const Party& party, const std::vector<bool>& sources) {
              Platform now = platform;
              for (const bool on : sources) {
                for (auto l = static_cast<std::size_t>(now.first_network_link()); l < now.links.size(); ++l) {
                  now.links[l].capacity *= on ? 0.25 : 1;
                }
              }
              return RoutedSchedule(ring_allreduce(2), now, placements.at(party.job));
            }};
  }
};

TEST(Slowdown, OfTwoEqualRingsOverOneSpineLinkIsThatOfHalfItsRate) {
  // Two rounds of alpha + (M / 2) / B each way over six links of 1 us; both at once at B / 2.
  const TwoRings rings;
  const double alone = 6e-6 + 4e-3;
  for (const Fidelity fidelity : all_fidelities) {
    Slowdowns slowdowns = rings.slowdowns(fidelity);
    const std::vector<Party> both{ours, {1, Operation::allreduce, 8_MB}};
    EXPECT_NEAR(slowdowns(0, {ours}, {}), 1, 1e-12);
    for (const std::size_t who : {0, 1}) {
      EXPECT_NEAR(slowdowns(who, both, {}), (6e-6 + 8e-3) / alone, 1e-6) << name(fidelity);
    }
    EXPECT_NEAR(slowdowns(0, {ours}, {true}), (6e-6 + 16e-3) / alone, 1e-6) << name(fidelity);
  }
}

TEST(Slowdown, ByWhatIsShorterAndRepeatsIsThatOfHavingItAllTheTime) {
  const TwoRings rings;
  Slowdowns slowdowns = rings.slowdowns(Fidelity::flow);
  const std::vector<Party> both{ours, {1, Operation::allreduce, 1_MB}};
  const double slowed = slowdowns(0, both, {});
  EXPECT_GT(slowed, 1.9);  // latency leaves the link to us now and then
  EXPECT_LE(slowed, 2);
}

}  // namespace
}  // namespace farandole
