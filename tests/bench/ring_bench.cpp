// A ring allreduce of 100,000,000 bytes, as `farandole collective` times it, from the platform to the makespan.
//
// Counters: `simulated_seconds`, and `folded` (1 where representatives stood for all). Read the CPU column.
#include <benchmark/benchmark.h>

#include "bench/bare_ring.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole { namespace {

constexpr Bytes size(1e8);

// SimGrid gets slower with every engine that a process has had: few of them, the last benchmark as quick as the first.
void sizes_of_a_star(benchmark::internal::Benchmark* rows) {
  for (const int ranks : {1024, 4096, 16384, 65536}) rows->Arg(ranks);
  rows->Unit(benchmark::kMillisecond)->Iterations(3);
}
void one_leaf_spine(benchmark::internal::Benchmark* rows) {
  rows->Arg(4096)->Unit(benchmark::kMillisecond)->Iterations(2);
}
void message_by_message(benchmark::internal::Benchmark* rows) {
  rows->Arg(512)->Unit(benchmark::kMillisecond)->Iterations(1)->Repetitions(5)->ReportAggregatesOnly();
}

void time_ring(benchmark::State& state, Fidelity fidelity, FoldingPolicy policy, Bytes bytes,
               Platform (*platform)(int ranks)) {
  const auto ranks = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const auto clock = make_collective_clock(
        fidelity, RoutedSchedule(ring_allreduce(ranks), platform(ranks), test::in_order(ranks)), policy);
    const Answer answer = clock->answer(bytes, all_at(ranks, Seconds(0)));
    state.counters["simulated_seconds"] = latest(answer.ends).si();
    state.counters["folded"] = answer.provenance.folded ? 1 : 0;
  }
}

Platform ethernet_25g(int ranks) {
  return test::star(ranks, 25_Gbps, 2_us);
}

/// 2:1 with 8 devices a node and 16 nodes a leaf.
Platform leaf_spine(int ranks) {
  return test::leaf_spine(ranks / 128, 16, 8, 25_Gbps, 200_Gbps);
}

void RingOnAStar(benchmark::State& state, Fidelity fidelity) {
  time_ring(state, fidelity, FoldingPolicy::where_exact, size, ethernet_25g);
}
BENCHMARK_CAPTURE(RingOnAStar, analytic, Fidelity::analytic)->Apply(sizes_of_a_star);
BENCHMARK_CAPTURE(RingOnAStar, flow, Fidelity::flow)->Apply(sizes_of_a_star);
BENCHMARK_CAPTURE(RingOnAStar, message, Fidelity::message)->Apply(sizes_of_a_star);

/// Chunks must be equal to fold where links are shared: 4,096 ranks have 24,415 bytes each.
void RingOnALeafSpine(benchmark::State& state, Fidelity fidelity) {
  time_ring(state, fidelity, FoldingPolicy::where_exact, Bytes(24415.0 * 4096), leaf_spine);
}
BENCHMARK_CAPTURE(RingOnALeafSpine, analytic, Fidelity::analytic)->Apply(one_leaf_spine);
BENCHMARK_CAPTURE(RingOnALeafSpine, flow, Fidelity::flow)->Apply(one_leaf_spine);
BENCHMARK_CAPTURE(RingOnALeafSpine, message, Fidelity::message)->Apply(one_leaf_spine);

/// At most 1.3 times the loop below, which sends the same messages.
void RingMessageByMessage(benchmark::State& state) {
  time_ring(state, Fidelity::message, FoldingPolicy::never, size, ethernet_25g);
}
BENCHMARK(RingMessageByMessage)->Apply(message_by_message);

void RingBareLoop(benchmark::State& state) {
  for (auto _ : state) {
    bench::BareRing ring(static_cast<int>(state.range(0)), 25_Gbps, 2_us, size);
    state.counters["simulated_seconds"] = ring.run().si();
  }
}
BENCHMARK(RingBareLoop)->Apply(message_by_message);

}}  // namespace farandole

BENCHMARK_MAIN();
