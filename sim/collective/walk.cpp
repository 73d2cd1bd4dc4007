#include "collective/walk.hpp"

#include <fmt/format.h>

namespace farandole { inline namespace collective {

Walk walk(const Schedule& schedule) {
  Walk result{schedule, SymbolicState(schedule), {}};
  SymbolicState state = result.start;
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      std::vector<Send> sends;
      for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
        Send& send = sends.emplace_back(Send{transfer.from, transfer.to, transfer.action, {}});
        for_each_chunk(schedule, phase, transfer, [&](Chunk chunk) { send.chunks.push_back(chunk); });
      });
      state.apply(schedule, phase, repeat);
      result.rounds.push_back({phase.name, std::move(sends), state});
    }
  }
  return result;
}

double cells_of_walk(const Schedule& schedule) {
  return static_cast<double>(schedule.chunks) * schedule.ranks * (1.0 + rounds(schedule));
}

std::string held_text(const Counts& counts) {
  if (counts.size() > 1 && (counts > 0).all()) return "all";
  std::string text;
  for (Eigen::Index rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) text += fmt::format("{}{}", text.empty() ? "" : "+", rank);
  }
  return text;
}

std::string chunks_text(const std::vector<Chunk>& chunks) {
  std::string text;
  for (std::size_t first = 0; first < chunks.size();) {
    std::size_t last = first;
    while (last + 1 < chunks.size() && chunks[last + 1] == chunks[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += first == last ? fmt::format("{}", chunks[first]) : fmt::format("{}-{}", chunks[first], chunks[last]);
    first = last + 1;
  }
  return text;
}

}}  // namespace farandole::collective
