// One queue of events: order, halting, and tags of the network's own.
#include "engine/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/max_min_network.hpp"
#include "simulate/shared_links.hpp"

namespace farandole::simulator_test { namespace {

using testing::ElementsAre;

template <class Network>
class EverySimulator : public testing::Test {
 protected:
  Simulator simulator_{std::make_unique<Network>()};
  std::vector<int> seen_;
  int self_ = simulator_.enlist([this](int event) { seen_.push_back(event); });
};

using Networks = testing::Types<SharedLinks, MaxMinNetwork>;
TYPED_TEST_SUITE(EverySimulator, Networks);

TYPED_TEST(EverySimulator, DeliversEqualMomentsInTheOrderOfTheirCalls) {
  const int other = this->simulator_.enlist([this](int event) { this->seen_.push_back(100 + event); });
  this->simulator_.call_at(2_s, this->self_, 3);
  this->simulator_.call_at(1_s, this->self_, 2);
  this->simulator_.call_at(1_s, other, 1);
  this->simulator_.call_at(1_s, this->self_, 0);
  this->simulator_.run();
  EXPECT_THAT(this->seen_, ElementsAre(2, 101, 0, 3));
  EXPECT_EQ(this->simulator_.now(), 2_s);
}

TYPED_TEST(EverySimulator, HaltsAfterAnEventAndGoesOnFromThere) {
  const int halting = this->simulator_.enlist([this](int event) {
    this->seen_.push_back(event);
    this->simulator_.halt();
  });
  this->simulator_.call_at(1_s, halting, 1);
  this->simulator_.call_at(1_s, this->self_, 2);
  this->simulator_.call_at(3_s, this->self_, 3);
  this->simulator_.run();
  EXPECT_THAT(this->seen_, ElementsAre(1));
  EXPECT_EQ(this->simulator_.now(), 1_s);
  this->simulator_.run();
  EXPECT_THAT(this->seen_, ElementsAre(1, 2, 3));
}

TYPED_TEST(EverySimulator, CallsNobodyBeforeNow) {
  Seconds when;
  const int late = this->simulator_.enlist([&](int event) {
    if (event == 0) return this->simulator_.call_at(1_s, this->self_, 7);
    when = this->simulator_.now();
  });
  this->simulator_.call_at(2_s, late, 0);
  this->simulator_.call_at(2_s, late, 1);
  this->simulator_.run();
  EXPECT_EQ(when, 2_s);
  EXPECT_THAT(this->seen_, ElementsAre(7));
  EXPECT_EQ(this->simulator_.now(), 2_s);
}

TYPED_TEST(EverySimulator, AFlowAcrossAHaltEndsWhenItWould) {
  const int link = this->simulator_.network().add_link(1_MBps, {});
  const int route = this->simulator_.network().add_route(std::vector{link}, 1);
  const int halting = this->simulator_.enlist([this](int) { this->simulator_.halt(); });
  this->simulator_.start(route, 1_s, 2_MB, this->self_, 5);
  this->simulator_.call_at(Seconds(1.5), halting, 0);
  this->simulator_.run();
  EXPECT_TRUE(this->seen_.empty());
  this->simulator_.run();
  EXPECT_THAT(this->seen_, ElementsAre(5));
  EXPECT_NEAR(this->simulator_.now().si(), 3, 1e-9);
}

TYPED_TEST(EverySimulator, GivesReservedTagsToWhoReservedThem) {
  std::vector<std::pair<char, int>> tags;
  const int first = this->simulator_.reserve(3, [&](int tag) { tags.emplace_back('a', tag); });
  const int second = this->simulator_.reserve(2, [&](int tag) { tags.emplace_back('b', tag); });
  EXPECT_EQ(second, first + 3);
  for (const int tag : {second + 1, first, first + 2, second}) {
    this->simulator_.network().call_at(1_s, tag);
  }
  this->simulator_.call_at(1_s, this->self_, 9);
  this->simulator_.run();
  EXPECT_THAT(tags, ElementsAre(std::pair('b', second + 1), std::pair('a', first), std::pair('a', first + 2),
                                std::pair('b', second)));
  EXPECT_THAT(this->seen_, ElementsAre(9));
}

TYPED_TEST(EverySimulator, WhoGivesItsTagsBackFromWithinACallIsCalledToTheEnd) {
  // A collective that is over gives its tags back while it is told so, and others' stay theirs.
  int first = -1;
  bool reached_end = false;
  first = this->simulator_.reserve(1, [&](int) {
    this->simulator_.give_back(first);
    reached_end = true;
  });
  std::vector<int> others;
  const int second = this->simulator_.reserve(1, [&](int tag) { others.push_back(tag); });
  this->simulator_.network().call_at(1_s, first);
  this->simulator_.network().call_at(2_s, second);
  this->simulator_.run();
  EXPECT_TRUE(reached_end);
  EXPECT_THAT(others, ElementsAre(second));
  this->simulator_.give_back(second);
  EXPECT_EQ(this->simulator_.reserve(1, [](int) {}), first);  // after a rest from the beginning again
}

}}  // namespace farandole::simulator_test
