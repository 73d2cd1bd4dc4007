// Partition refinement against the definition: repeat "same colour and same neighbours" until nothing changes.
#include "simulate/folding/colouring.hpp"

#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "simulate/folding_kit.hpp"

namespace farandole::colouring_test { namespace {

Colouring by_definition(const Incidence& graph, Colouring colours) {
  using Neighbours = std::map<std::pair<Bond, int>, int>;
  for (std::size_t known = 0;;) {
    std::map<std::pair<int, Neighbours>, int> numbers;
    Colouring next;
    for (int vertex = 0; vertex < graph.vertices(); ++vertex) {
      Neighbours around;
      for (const auto& [other, bond] : graph.neighbours(vertex))
        ++around[{bond, colours[static_cast<std::size_t>(other)]}];
      const int own = colours[static_cast<std::size_t>(vertex)];
      next.push_back(numbers.try_emplace({own, around}, static_cast<int>(numbers.size())).first->second);
    }
    colours = std::move(next);
    if (numbers.size() == known) return colours;
    known = numbers.size();
  }
}

/// Ranks, transfers and links, and one link in three another capacity.
Colouring by_kind(const Incidence& graph) {
  Colouring colours(static_cast<std::size_t>(graph.vertices()), 0);
  for (int i = 0; i < graph.transfers(); ++i) colours[static_cast<std::size_t>(graph.transfer(i))] = 1;
  for (int i = 0; i < graph.links(); ++i) colours[static_cast<std::size_t>(graph.link(i))] = i % 3 == 0 ? 3 : 2;
  return colours;
}

Incidence draw_graph(test::Random& random) {
  const Platform platform = test::leaf_spine(test::draw(random, 1, 4), test::draw(random, 1, 4), 2, 1_GBps, 1_GBps);
  const auto devices = platform.devices();
  const auto which = static_cast<std::size_t>(test::draw(random, 0, 5));
  const Placement placement =
      test::draw(random, 0, 1) == 0 ? test::in_order(devices) : test::shuffled(random, devices, devices);
  return Incidence(RoutedSchedule(test::schedules_to_fold()[which](devices), platform, placement));
}

TEST(Colouring, IsTheCoarsestStableOne) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    test::Random random(seed);
    const Incidence graph = draw_graph(random);
    const Colouring colours = coarsest_stable_colouring(graph, by_kind(graph));
    EXPECT_EQ(colours, by_definition(graph, by_kind(graph))) << "seed " << seed;
    EXPECT_TRUE(is_stable(graph, colours)) << "seed " << seed;
  }
}

TEST(Colouring, ThatPutsTogetherWhatDiffersIsNotStable) {
  test::Random random(5);
  for (int i = 0; i < 50; ++i) {
    const Incidence graph = draw_graph(random);
    const Colouring colours = coarsest_stable_colouring(graph, by_kind(graph));
    // Any two colours of one kind made one: coarser than the coarsest.
    for (int v = 1; v < graph.ranks(); ++v) {
      if (colours[static_cast<std::size_t>(v)] == colours[0]) continue;
      Colouring merged = colours;
      for (int& colour : merged) colour = colour == colours[static_cast<std::size_t>(v)] ? colours[0] : colour;
      EXPECT_FALSE(is_stable(graph, merged));
    }
  }
}

TEST(Colouring, OfEveryVertexApartIsStable) {
  test::Random random(7);
  const Incidence graph = draw_graph(random);
  Colouring apart(static_cast<std::size_t>(graph.vertices()));
  std::iota(apart.begin(), apart.end(), 0);
  EXPECT_TRUE(is_stable(graph, apart));
  EXPECT_EQ(coarsest_stable_colouring(graph, apart), apart);
}

}}  // namespace farandole::colouring_test
