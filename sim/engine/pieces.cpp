#include <algorithm>
#include <utility>

#include "engine/simulated_job.hpp"

namespace farandole { inline namespace engine {

/// Its exchanges take turns in the same line. Marks on the device belong to the piece that reaches them; the host runs
/// ahead from the first on.
TaskId SimulatedJob::add_in_pieces(Task task) {
  Compute whole = std::move(std::get<Compute>(task.what));
  std::ranges::stable_sort(whole.marks, [](const Mark& a, const Mark& b) {
    return a.on_host != b.on_host ? a.on_host : !a.on_host && a.at < b.at;
  });
  auto mark = whole.marks.begin();
  Seconds done;
  const auto piece_up_to = [&](Seconds at) {
    Compute piece{at - done};
    for (; mark != whole.marks.end() && (mark->on_host || mark->at <= at); ++mark) {
      piece.marks.push_back({mark->on_host ? mark->at : mark->at - done, mark->on_host, mark->note});
    }
    done = at;
    return piece;
  };
  for (const InnerExchange& exchange : whole.exchanges) {
    Compute piece = piece_up_to(exchange.at);
    const bool is_within = piece.marks.empty();  // nobody asks for its moments
    add_whole({std::move(piece), std::move(task.earliest), std::move(task.after), task.stream}, is_within);
    task.earliest = {};
    task.after = {};
    add_whole({exchange.what, {}, {}, task.stream}, true);
  }
  task.what = piece_up_to(std::max(whole.work, done));
  return add(std::move(task));
}

void SimulatedJob::begin_exchange(TaskId id) {
  Done& own = item(id).done;
  site_.meet(id, std::get<StageExchange>(own.task.what), own.times.begin);
}

void SimulatedJob::end_exchange(TaskId id, const RankTimes& ends) {
  Done& own = item(id).done;
  own.times.end = ends;
  note_stages(own, ends);
  take_as_known(id);
}

}}  // namespace farandole::engine
