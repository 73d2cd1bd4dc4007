// One interpreter of schedules on any state: the proofs, the execution on numbers and the drawings all go through it.
//
// `read(rank, chunk)` copies a chunk out, `write(rank, chunk, value, action)` puts it in. A round reads everything
// before it writes anything, as the rule of collective/schedule.hpp asks for. `action` is copy or reduce: what is
// relayed is written twice.
#pragma once

#include <utility>
#include <vector>

#include "collective/schedule.hpp"

namespace farandole {

template <class Read, class Write>
void apply_round(const Schedule& schedule, const Phase& phase, int repeat, Read read, Write write) {
  std::vector<std::pair<Transfer, decltype(read(0, Chunk(0)))>> in_flight;
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
    for_each_chunk(schedule, phase, transfer, [&](Chunk chunk) {
      in_flight.emplace_back(transfer, read(transfer.from, chunk)).first.chunk = chunk;
    });
  });
  for (const auto& [transfer, value] : in_flight) {
    const bool is_relayed = transfer.action == Action::relay;
    write(transfer.to, transfer.chunk, value, is_relayed ? Action::copy : transfer.action);
    if (is_relayed) write(transfer.to, first_copy(schedule, transfer.chunk), value, Action::reduce);
  }
}

template <class Read, class Write>
void apply_all(const Schedule& schedule, Read read, Write write) {
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) apply_round(schedule, phase, repeat, read, write);
  }
}

}  // namespace farandole
