// CPU time per message of a FluidNetwork, beside SimGrid driven directly, and where links are shared.
//
// Every message of a ring allreduce on a star (25 Gbit/s, 2 us): 2 (n - 1) n of them, each started by the two ends it
// waits for, in the adapter and in a loop of direct comms, one new comm for each message, as SimGrid's examples do it.
// The counter `per_message` is in seconds of CPU.
#include <vector>

#include <benchmark/benchmark.h>
#include <simgrid/s4u.hpp>

#include "simulate/fluid_network.hpp"

namespace farandole { namespace {

namespace s4u = simgrid::s4u;

constexpr double kChunk = 195312;  // of 100 MB, at 512 ranks

// Who may send next: rank i when it has sent and received as often as it has to.
class Ring {
 public:
  explicit Ring(int ranks)
      : ranks_(ranks), left_(static_cast<std::size_t>(ranks), 2 * (ranks - 1)), missing_(left_.size(), 2) {}

  template <class Start>
  void ended(int rank, Start&& start) {
    ++messages_;
    count_for(rank, start);
    count_for((rank + 1) % ranks_, start);
  }
  [[nodiscard]] std::int64_t messages() const { return messages_; }

 private:
  template <class Start>
  void count_for(int rank, Start&& start) {
    const auto r = static_cast<std::size_t>(rank);
    if (--missing_[r] > 0) return;
    missing_[r] += 2;
    if (--left_[r] > 0) start(rank);
  }
  int ranks_;
  std::int64_t messages_ = 0;
  std::vector<int> left_;
  std::vector<int> missing_;
};

void count(benchmark::State& state, std::int64_t messages) {
  state.SetItemsProcessed(messages);
  state.counters["per_message"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

std::int64_t ring_in_adapter(int ranks) {
  FluidNetwork network(std::vector<FluidLink>(static_cast<std::size_t>(2 * ranks), {25_Gbps}));
  std::vector<int> routes;
  for (int i = 0; i < ranks; ++i) routes.push_back(network.add_route(std::vector<int>{i, ranks + (i + 1) % ranks}));
  Ring ring(ranks);
  const auto start = [&](int i) { network.start(routes[static_cast<std::size_t>(i)], 2_us, Bytes(kChunk), i); };
  for (int i = 0; i < ranks; ++i) start(i);
  network.run([&](int rank) { ring.ended(rank, start); });
  return ring.messages();
}

// The loop of direct comms.
class DirectRing {
 public:
  explicit DirectRing(int ranks) : ring_(ranks), comms_(static_cast<std::size_t>(2 * ranks)) {
    s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
      ended(static_cast<const s4u::Comm&>(activity));  // until the next FluidNetwork removes all callbacks
    });
    auto* zone = s4u::create_full_zone("star");
    for (int i = 0; i < ranks; ++i) {
      hosts_.push_back(zone->create_host(std::to_string(i), 1e9));
      up_.push_back(zone->create_link("up" + std::to_string(i), 3.125e9)->set_latency(1e-6)->seal());
      down_.push_back(zone->create_link("down" + std::to_string(i), 3.125e9)->set_latency(1e-6)->seal());
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const std::size_t next = (i + 1) % hosts_.size();
      zone->add_route(hosts_[i]->get_netpoint(), hosts_[next]->get_netpoint(), nullptr, nullptr,
                      {s4u::LinkInRoute(up_[i]), s4u::LinkInRoute(down_[next])}, false);
      hosts_[i]->set_data(reinterpret_cast<void*>(i));
    }
    zone->seal();
  }

  std::int64_t run() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) start(static_cast<int>(i));
    s4u::Engine::get_instance()->run();
    return ring_.messages();
  }

 private:
  void start(int rank) {
    const auto i = static_cast<std::size_t>(rank);
    auto comm = s4u::Comm::sendto_init(hosts_[i], hosts_[(i + 1) % hosts_.size()]);
    comm->set_payload_size(static_cast<std::uint64_t>(kChunk))->vetoable_start();
    comms_[2 * i] = std::exchange(comms_[2 * i + 1], comm);  // a comm must outlive its completion
  }
  void ended(const s4u::Comm& comm) {
    const auto rank = static_cast<int>(reinterpret_cast<std::size_t>(comm.get_source()->get_data<void>()));
    ring_.ended(rank, [this](int next) { start(next); });
  }
  Ring ring_;
  std::vector<s4u::CommPtr> comms_;
  std::vector<s4u::Host*> hosts_;
  std::vector<s4u::Link*> up_;
  std::vector<s4u::Link*> down_;
};

std::int64_t ring_in_simgrid(int ranks) {
  int argc = 1;
  char name[] = "bench";
  char* argv[] = {name, nullptr};
  s4u::Engine engine(&argc, argv);
  s4u::Engine::set_config("surf/precision", 1e-13);
  return DirectRing(ranks).run();
}

void BM_RingInAdapter(benchmark::State& state) {
  std::int64_t messages = 0;
  for (auto _ : state) messages += ring_in_adapter(static_cast<int>(state.range(0)));
  count(state, messages);
}
BENCHMARK(BM_RingInAdapter)->Arg(64)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

void BM_RingInSimGridDirectly(benchmark::State& state) {
  std::int64_t messages = 0;
  for (auto _ : state) {
    state.PauseTiming();
    ring_in_adapter(2);  // makes the settings, which both then share, and removes callbacks of the last turn
    state.ResumeTiming();
    messages += ring_in_simgrid(static_cast<int>(state.range(0)));
  }
  count(state, messages);
}
BENCHMARK(BM_RingInSimGridDirectly)->Arg(64)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

// Each rank sends to every other in turn, with a size of its own, over leaf switches of 16 ranks with half the
// capacity upwards: everything is shared and hardly two ends coincide.
void BM_AlltoallOnLeafSpine(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const int leaves = (ranks + 15) / 16;
  std::int64_t messages = 0;
  for (auto _ : state) {
    std::vector<FluidLink> links(static_cast<std::size_t>(2 * ranks), {25_Gbps});
    links.resize(links.size() + static_cast<std::size_t>(2 * leaves), {200_Gbps});
    FluidNetwork network(links);
    std::vector<int> step(static_cast<std::size_t>(ranks), 0);
    const auto start = [&](int from) {
      const int to = (from + ++step[static_cast<std::size_t>(from)]) % ranks;
      std::vector<int> route = {from, ranks + to};
      if (from / 16 != to / 16) route.insert(route.end(), {2 * ranks + from / 16, 2 * ranks + leaves + to / 16});
      network.start(network.add_route(route), 2_us, Bytes(100000 + 17 * from), from);
    };
    for (int i = 0; i < ranks; ++i) start(i);
    network.run([&](int from) {
      ++messages;
      if (step[static_cast<std::size_t>(from)] < ranks - 1) start(from);
    });
  }
  count(state, messages);
}
BENCHMARK(BM_AlltoallOnLeafSpine)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

// So many flows live at once, each on a link of its own.
void BM_LiveFlows(benchmark::State& state) {
  const auto flows = static_cast<int>(state.range(0));
  for (auto _ : state) {
    FluidNetwork network(std::vector<FluidLink>(static_cast<std::size_t>(flows), {25_Gbps}));
    for (int i = 0; i < flows; ++i) {
      network.start(network.add_route(std::vector<int>{i}), 2_us, Bytes(1000 + i % 7), i);
    }
    network.run([](int) {});
  }
  count(state, state.iterations() * flows);
}
// What a network costs before its first flow.
void BM_EmptyNetwork(benchmark::State& state) {
  const std::vector<FluidLink> links(static_cast<std::size_t>(state.range(0)), {25_Gbps});
  for (auto _ : state) FluidNetwork(links).run([](int) {});
}
BENCHMARK(BM_EmptyNetwork)->Arg(2)->Arg(1024)->Unit(benchmark::kMicrosecond);

BENCHMARK(BM_LiveFlows)->Arg(1024)->Arg(65536)->Unit(benchmark::kMillisecond);

}}  // namespace farandole

BENCHMARK_MAIN();
