// Shares that are kept while flows come and go, against what defines them: whatever happened before.
#include "simulate/max_min_shares.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "units/quantity.hpp"

namespace farandole::max_min_shares_test { namespace {

using Random = std::mt19937_64;

int draw(Random& random, int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(random);
}

struct Live {
  int flow;
  std::vector<int> links;
  int paths;
};

/// A network that changes, and what is known of it by another account.
class Changing {
 public:
  explicit Changing(std::uint64_t seed)
      : random_(seed), curves_(draw(random_, 0, 3) == 0), split_(draw(random_, 0, 2) == 0), hops_(draw(random_, 1, 4)) {
    const bool is_round = draw(random_, 0, 1) == 1;  // many links fill up at once
    const auto curve = std::make_shared<const CongestionCurve>(std::vector<CongestionCurve::Point>{{1, 1}, {5, 0.6}});
    for (int link = draw(random_, 2, 40); link > 0; --link) {
      const double capacity = is_round ? 1e8 * draw(random_, 1, 3) : 1e8 + draw(random_, 0, 200000000);
      add_link(capacity, curves_ && link % 3 == 0 ? Congestion{curve} : Congestion{});
    }
  }

  /// Two servers, and workers whose own links are wide, or as narrow as a share of a server's.
  static Changing around_servers(std::uint64_t seed) {
    Changing network(seed);
    network.workers_ = draw(network.random_, 1, 60);
    for (int worker = 0; worker < network.workers_; ++worker) {
      network.add_link(draw(network.random_, 0, 9) == 0 ? 1e8 / draw(network.random_, 1, 30) : 1e10, {});
    }
    return network;
  }

  /// One to four starts, ends or changes of a capacity at one moment.
  void change() {
    for (int changes = draw(random_, 1, 4); changes > 0; --changes) {
      const int what = draw(random_, 0, 99);
      if (what < 4) {
        change_capacity();
      } else if (live_.empty() || what < (live_.size() < 60 ? 60 : 45)) {
        enter();
      } else {
        leave();
      }
    }
    shares_.settle();
  }

  void expect_max_min(std::uint64_t seed) {
    std::vector<double> used(capacities_.size(), 0);
    std::vector<double> load(capacities_.size(), 0);
    std::vector<double> fastest(capacities_.size(), 0);
    for (const Live& live : live_) {
      const double rate = shares_.rate(live.flow).si();
      for (const int link : live.links) {
        const auto l = static_cast<std::size_t>(link);
        used[l] += rate / live.paths;
        load[l] += 1.0 / live.paths;
        fastest[l] = std::max(fastest[l], rate);
      }
    }
    const auto has = [&](std::size_t link) { return capacities_[link] * congestion_[link].left(load[link]); };
    for (std::size_t link = 0; link < used.size(); ++link) {
      ASSERT_LE(used[link], has(link) * (1 + 1e-11)) << "link " << link << " of seed " << seed;
    }
    for (const Live& live : live_) {
      const double rate = shares_.rate(live.flow).si();
      EXPECT_GT(rate, 0);
      // It can only be faster at the cost of one that is no faster.
      EXPECT_TRUE(std::ranges::any_of(live.links,
                                      [&](int link) {
                                        const auto l = static_cast<std::size_t>(link);
                                        return used[l] >= has(l) * (1 - 1e-11) && rate >= fastest[l] * (1 - 1e-11);
                                      }))
          << "flow " << live.flow << " of seed " << seed;
    }
  }

  void expect_the_rates_of_a_new_network(std::uint64_t seed) {
    MaxMinShares fresh;
    for (std::size_t link = 0; link < capacities_.size(); ++link) {
      fresh.add_link(BytesPerSecond(capacities_[link]), congestion_[link]);
    }
    std::vector<int> flows;
    for (const Live& live : live_) flows.push_back(fresh.enter(fresh.add_route(live.links, live.paths)));
    fresh.settle();
    for (std::size_t i = 0; i < live_.size(); ++i) {
      EXPECT_NEAR(shares_.rate(live_[i].flow) / fresh.rate(flows[i]), 1, 1e-11) << "seed " << seed;
    }
  }

 private:
  void add_link(double capacity, const Congestion& congestion) {
    capacities_.push_back(capacity);
    congestion_.push_back(congestion);
    shares_.add_link(BytesPerSecond(capacity), congestion);
  }
  int draw_link() {
    const int links = static_cast<int>(capacities_.size());
    return draw(random_, 0, links - 1);
  }
  void change_capacity() {
    const int link = draw_link();
    double& capacity = capacities_[static_cast<std::size_t>(link)];
    capacity *= draw(random_, 0, 1) == 1 ? 0.5 : 2;
    shares_.set_capacity(link, BytesPerSecond(capacity));
  }
  void enter() {
    Live live{0, {}, split_ ? draw(random_, 1, 4) : 1};
    if (workers_ > 0) {
      live.links = {draw(random_, 0, 1), static_cast<int>(capacities_.size()) - draw(random_, 1, workers_)};
    } else {
      for (int hop = draw(random_, 1, hops_); hop > 0; --hop) live.links.push_back(draw_link());
    }
    live.flow = shares_.enter(shares_.add_route(live.links, live.paths));
    live_.push_back(live);
  }
  void leave() {
    if (!shares_.is_settled()) shares_.settle();  // only those leave that have sent
    const auto gone = live_.begin() + draw(random_, 0, static_cast<int>(live_.size()) - 1);
    shares_.leave(gone->flow);
    live_.erase(gone);
  }

  Random random_;
  bool curves_;
  bool split_;
  int hops_;
  int workers_ = 0;  // of servers, if any
  MaxMinShares shares_;
  std::vector<double> capacities_;
  std::vector<Congestion> congestion_;
  std::vector<Live> live_;
};

// No link carries more than it has, and every flow has a link that is full and on which nobody is faster.
TEST(MaxMinShares, AreMaxMinFairAfterEveryChange) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Changing network(seed);
    for (int i = 0; i < 100; ++i) {
      network.change();
      network.expect_max_min(seed);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MaxMinShares, AreThoseOfANewNetworkWhateverHappenedBefore) {
  for (std::uint64_t seed = 1001; seed <= 1300; ++seed) {
    Changing network(seed);
    for (int i = 0; i < 10; ++i) {
      for (int j = 0; j < 10; ++j) network.change();
      network.expect_the_rates_of_a_new_network(seed);
    }
    if (testing::Test::HasFailure()) return;
  }
}

// Most starts and ends find one server that holds everybody back: the short way, and where it must not be taken.
TEST(MaxMinShares, OfBusyServersAreThoseOfANewNetworkWhateverHappenedBefore) {
  for (std::uint64_t seed = 2001; seed <= 2300; ++seed) {
    Changing network = Changing::around_servers(seed);
    for (int i = 0; i < 60; ++i) {
      network.change();
      network.expect_max_min(seed);
      if (i % 6 == 0) network.expect_the_rates_of_a_new_network(seed);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MaxMinShares, NameThoseWhoseRateHasChangedAndNoOthers) {
  // Two servers of 1 GB/s, workers of 10: a start at one server changes nothing at the other.
  MaxMinShares shares;
  std::vector<int> servers;
  for (int i = 0; i < 2; ++i) servers.push_back(shares.add_link(1_GBps, {}));
  std::vector<int> flows;
  for (int worker = 0; worker < 8; ++worker) {
    const int link = shares.add_link(10_GBps, {});
    for (const int server : servers) flows.push_back(shares.enter(shares.add_route(std::vector{link, server}, 1)));
  }
  EXPECT_EQ(shares.settle().size(), flows.size());
  shares.leave(flows.front());  // at the first server
  std::vector<int> changed = shares.settle();
  std::ranges::sort(changed);
  EXPECT_EQ(changed, (std::vector<int>{flows[2], flows[4], flows[6], flows[8], flows[10], flows[12], flows[14]}));
  EXPECT_NEAR(shares.rate(flows[2]).si(), 1e9 / 7, 1);
  EXPECT_NEAR(shares.rate(flows[1]).si(), 1e9 / 8, 1);
}

TEST(MaxMinShares, KeepTheirSumsOverAMillionChanges) {
  // One flow comes and goes beside a thousand on a link of 1 GB/s: what the thousand have is 1e9 / 1001 and 1e6.
  MaxMinShares shares;
  const int route = shares.add_route(std::vector{shares.add_link(1_GBps, {})}, 3);
  std::vector<int> flows;
  for (int i = 0; i < 1000; ++i) flows.push_back(shares.enter(route));
  for (int i = 0; i < 1000; ++i) {
    const int guest = shares.enter(route);
    shares.settle();
    EXPECT_NEAR(shares.rate(flows[0]).si() / (3e9 / 1001), 1, 1e-12);
    shares.leave(guest);
    shares.settle();
    EXPECT_NEAR(shares.rate(flows[999]).si() / 3e6, 1, 1e-12);
  }
}

}}  // namespace farandole::max_min_shares_test
