// CPU time of a message by our own solver and by SimGrid, side by side: pairs of runs, one after the other, and the
// median of their ratios, so that what else the machine does meanwhile hits both.
//
//     solver_bench [PAIRS]
//
// The times at which messages end are compared too: "apart" is the most by which the sums of all ends differ. An
// alltoall of 256 ranks that share everything is chaotic: every end decides when the next message starts, so the last
// digits of either solver grow to a ten-thousandth by the end.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "simulate/fluid_network.hpp"
#include "units/quantity.hpp"

namespace farandole { namespace {

struct Measured {
  double seconds;  // of CPU for a message
  double ends;     // all together
};

using Play = std::function<int(FluidNetwork&, double& ends)>;  // how many messages there were

Measured measure(const std::vector<FluidLink>& links, NetworkSolver solver, const Play& play) {
  const std::clock_t before = std::clock();
  double ends = 0;
  int messages = 0;
  {
    FluidNetwork network(links, 1, solver);
    messages = play(network, ends);
  }
  return {static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / messages, ends};
}

/// Every message of a ring allreduce on a star: each is started by the two ends that it waits for; no link is shared.
void play_ring(int ranks, FluidNetwork& network, int& messages, double& ends) {
  std::vector<int> routes;
  for (int i = 0; i < ranks; ++i) routes.push_back(network.add_route(std::vector{i, ranks + (i + 1) % ranks}));
  std::vector<int> left(routes.size(), 2 * (ranks - 1));
  std::vector<int> missing(routes.size(), 2);
  const auto start = [&](std::size_t i) { network.start(routes[i], 2_us, Bytes(195312), static_cast<int>(i)); };
  const auto count_for = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (--missing[r] > 0) return;
    missing[r] += 2;
    if (--left[r] > 0) start(r);
  };
  for (std::size_t i = 0; i < routes.size(); ++i) start(i);
  network.run([&](int rank) {
    ++messages;
    ends += network.now().si();
    count_for(rank);
    count_for((rank + 1) % ranks);
  });
}

std::vector<FluidLink> leaf_spine(int ranks) {
  std::vector<FluidLink> links(static_cast<std::size_t>(2 * ranks), {25_Gbps});
  links.resize(links.size() + static_cast<std::size_t>(2 * ((ranks + 15) / 16)), {200_Gbps});
  return links;
}

/// Each rank sends to every other in turn, over leaf switches of 16 ranks with half the capacity upwards.
void play_alltoall(int ranks, bool uneven, FluidNetwork& network, int& messages, double& ends) {
  const int leaves = (ranks + 15) / 16;
  std::vector<int> step(static_cast<std::size_t>(ranks), 0);
  const auto start = [&](int from) {
    const int to = (from + ++step[static_cast<std::size_t>(from)]) % ranks;
    std::vector<int> route = {from, ranks + to};
    if (from / 16 != to / 16) route.insert(route.end(), {2 * ranks + from / 16, 2 * ranks + leaves + to / 16});
    network.start(network.add_route(route), 2_us, Bytes(uneven ? 100000 + 17 * from : 100000), from);
  };
  for (int i = 0; i < ranks; ++i) start(i);
  network.run([&](int from) {
    ++messages;
    ends += network.now().si();
    if (step[static_cast<std::size_t>(from)] < ranks - 1) start(from);
  });
}

/// All workers send to all servers, four times each, sizes of their own.
void play_servers(int workers, int servers, FluidNetwork& network, int& messages, double& ends) {
  std::vector<int> routes;
  for (int worker = 0; worker < workers; ++worker) {
    for (int server = 0; server < servers; ++server) {
      routes.push_back(network.add_route(std::vector{worker, workers + server}));
    }
  }
  std::vector<int> left(routes.size(), 4);
  const auto start = [&](int i) {
    network.start(routes[static_cast<std::size_t>(i)], 2_us, Bytes(100000 + 17 * (i % 91)), i);
  };
  for (std::size_t i = 0; i < routes.size(); ++i) start(static_cast<int>(i));
  network.run([&](int i) {
    ++messages;
    ends += network.now().si();
    if (--left[static_cast<std::size_t>(i)] > 0) start(i);
  });
}

/// So many flows at once, each on a link of its own.
void play_live(int flows, FluidNetwork& network, int& messages, double& ends) {
  for (int i = 0; i < flows; ++i) network.start(network.add_route(std::vector{i}), 2_us, Bytes(1000 + i % 7), i);
  network.run([&](int) {
    ++messages;
    ends += network.now().si();
  });
}

void compare(const std::string& name, int pairs, const std::vector<FluidLink>& links,
             const std::function<void(FluidNetwork&, int&, double&)>& play) {
  const Play counted = [&](FluidNetwork& network, double& ends) {
    int messages = 0;
    play(network, messages, ends);
    return messages;
  };
  std::vector<double> ratios;
  Measured own{1, 0};
  Measured simgrid{1, 0};
  for (int pair = 0; pair < pairs; ++pair) {
    const Measured ours = measure(links, NetworkSolver::own, counted);
    const Measured theirs = measure(links, NetworkSolver::simgrid, counted);
    ratios.push_back(theirs.seconds / ours.seconds);
    own = {std::min(own.seconds, ours.seconds), ours.ends};
    simgrid = {std::min(simgrid.seconds, theirs.seconds), theirs.ends};
  }
  std::ranges::nth_element(ratios, ratios.begin() + pairs / 2);
  fmt::print("{:34} {:8.3f} {:8.3f} {:8.1f} {:10.1e}\n", name, own.seconds * 1e6, simgrid.seconds * 1e6,
             ratios[static_cast<std::size_t>(pairs / 2)], std::abs(own.ends / simgrid.ends - 1));
}

void run(int pairs) {
  fmt::print("{:34} {:>8} {:>8} {:>8} {:>10}\n", "us of CPU a message", "own", "SimGrid", "ratio", "apart");
  const auto star = [](int ranks) { return std::vector<FluidLink>(static_cast<std::size_t>(2 * ranks), {25_Gbps}); };
  for (const int ranks : {64, 512}) {
    compare(fmt::format("ring, {} ranks", ranks), pairs, star(ranks),
            [&](FluidNetwork& n, int& messages, double& ends) { play_ring(ranks, n, messages, ends); });
  }
  for (const auto& [ranks, uneven] : {std::pair(64, false), {64, true}, {256, true}}) {
    compare(fmt::format("alltoall, {} ranks, {} sizes", ranks, uneven ? "many" : "equal"), pairs, leaf_spine(ranks),
            [&](FluidNetwork& n, int& messages, double& ends) { play_alltoall(ranks, uneven, n, messages, ends); });
  }
  for (const auto& [workers, servers] : {std::pair(32, 2), {64, 8}}) {
    compare(fmt::format("{} workers, {} servers", workers, servers), pairs, star((workers + servers + 1) / 2),
            [&](FluidNetwork& n, int& messages, double& ends) { play_servers(workers, servers, n, messages, ends); });
  }
  for (const int flows : {1024, 65536}) {
    compare(fmt::format("{} flows at once", flows), pairs, star(flows / 2),
            [&](FluidNetwork& n, int& messages, double& ends) { play_live(flows, n, messages, ends); });
  }
}

}}  // namespace farandole

int main(int argc, char** argv) {
  farandole::run(argc > 1 ? std::atoi(argv[1]) : 5);
}
