// One row of the table of tests/bench/README.md per run of the program, so that CPU time and memory are the process's
// own:
//
//   bench_fold_table ALGORITHM RANKS FIDELITY [BYTES]     classes, CPU seconds, MiB, simulated seconds
//
// On a star of single-device nodes (25 Gbit/s, 2 us); `hierarchical` on nodes of 8 devices. Algorithms are those of
// allreduce, `pairwise` of alltoall, and `dedicated` of parameter_server, with 64 servers.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/resource.h>

#include "collective/algorithms.hpp"
#include "simulate/folding/fold.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole { namespace {

Fidelity fidelity_of(const std::string& word) {
  for (const FidelityRow& row : fidelities()) {
    if (row.name == word) return row.fidelity;
  }
  throw std::invalid_argument("no fidelity is called " + word);
}

void print_row(const std::string& algorithm, int ranks, const std::string& fidelity, Bytes size) {
  const Operation operation = algorithm == "pairwise"    ? Operation::alltoall
                              : algorithm == "dedicated" ? Operation::parameter_server
                                                         : Operation::allreduce;
  const bool nodes = algorithm == "hierarchical";
  Shape shape(ranks);
  shape.servers = 64;
  shape.ranks_per_node = nodes ? 8 : 1;
  const Platform platform = nodes ? test::two_level(ranks / 8, 8, 12_GBps, 25_Gbps) : test::star(ranks, 25_Gbps, 2_us);
  const RoutedSchedule routed(find_algorithm(operation, algorithm)->build(shape), platform, test::in_order(ranks));
  const auto clock = make_collective_clock(fidelity_of(fidelity), routed);
  const Answer answer = clock->answer(size, all_at(ranks, Seconds(0)));
  const Seconds time = latest(answer.ends);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  // Asked for after the clock was stopped.
  const auto folding = answer.provenance.folded ? worthwhile_folding(routed, all_at(ranks, Seconds(0))) : std::nullopt;
  const std::string classes = folding ? std::to_string(folding->quotient.schedule().ranks) : "not folded";
  std::printf("| %s | %d | %s | %s | %.3f | %.0f | %.9g |\n", algorithm.c_str(), ranks, fidelity.c_str(),
              classes.c_str(), cpu, static_cast<double>(usage.ru_maxrss) / 1024, time.si());
}

}}  // namespace farandole

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "ALGORITHM RANKS FIDELITY [BYTES]\n");
    return 2;
  }
  const double bytes = count > 4 ? std::atof(words[4]) : 0x1p27;
  farandole::print_row(words[1], std::atoi(words[2]), words[3], farandole::Bytes(bytes));
  return 0;
}
