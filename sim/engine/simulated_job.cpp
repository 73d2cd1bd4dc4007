#include "engine/simulated_job.hpp"

#include <algorithm>
#include <utility>

namespace farandole { inline namespace engine {

SimulatedJob::SimulatedJob(Simulator& simulator, JobSite site)
    : simulator_(simulator),
      site_(std::move(site)),
      share_(site_.compute_share),
      self_(simulator.enlist([this](int event) { on(event); })),
      factors_(std::make_shared<const RankTimes>(RankTimes::Ones(site_.ranks))) {
  for (std::size_t stream = 0; stream < lines_.size(); ++stream) {
    const int width = stream == communicating ? site_.width : 1;
    lines_[stream].slots.assign(static_cast<std::size_t>(width), {all_at(site_.ranks, Seconds(0)), false});
  }
  if (site_.width > 1) share_.let_overlap();
  if (site_.servers == nullptr) return;
  connections_.emplace(simulator, *site_.servers, site_.company, [this](Note note) { listener_({note}); });
  workers_.resize(site_.servers->groups.size());
  if (site_.compute_share == 0) return;
  connections_->watch([this](int worker, bool begins) {
    Worker& own = workers_[static_cast<std::size_t>(worker)];
    const double now = simulator_.now().si();
    if (own.messages > 0) own.communicated += now - own.since;
    own.since = now;
    own.messages += begins ? 1 : -1;
  });
}

void SimulatedJob::begin_iteration(RankTimes factors) {
  factors_ = std::make_shared<const RankTimes>(std::move(factors));
  communications_.clear();
  computes_now_ = false;
  started_before_ = started_.size();
  if (site_.representatives != nullptr) {
    for (Line& line : lines_) {
      for (Slot& slot : line.slots) slot.free = RankTimes::Zero(factors_->size());
    }
  }
  iteration_ = first_ + static_cast<TaskId>(items_.size());
  while (!items_.empty() && items_.front().is_known) {
    items_.pop_front();
    ++first_;
  }
}

void SimulatedJob::on(int number) {
  const Event event = events_.take(number);
  switch (event.kind) {
    case Kind::note:
      return listener_({event.note});
    case Kind::mark:
      return pass_mark(event);
    case Kind::over:
      return look_whether_over(event.task);
    case Kind::worker_computed:
      return look_whether_computed(event.task);
  }
}

TaskId SimulatedJob::add(Task task) {
  if (const auto* compute = std::get_if<Compute>(&task.what); compute != nullptr && !compute->exchanges.empty()) {
    return add_in_pieces(std::move(task));
  }
  return add_whole(std::move(task), false);
}

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

TaskId SimulatedJob::add_whole(Task task, bool is_within) {
  const TaskId id = first_ + static_cast<TaskId>(items_.size());
  const Stream stream = task.stream;
  const bool is_inside = stream == computing && std::holds_alternative<Collective>(task.what);
  if (stream == communicating_among_replicas || (is_inside && site_.company != nullptr)) share_.let_overlap();
  Item& own = items_.emplace_back();
  own.is_within = is_within;
  for (const TaskId before : task.after) {
    if (before < first_) continue;  // of an iteration that is over
    Item& earlier = item(before);
    if (earlier.is_known) continue;
    earlier.next.push_back(id);
    ++own.missing;
  }
  own.done.task = std::move(task);
  ++open_tasks_;
  if (auto* const compute = std::get_if<Compute>(&own.done.task.what)) {
    std::ranges::stable_sort(compute->marks, {}, &Mark::at);
    open_marks_ += static_cast<int>(compute->marks.size());
    computes_now_ = true;
  }
  lines_[stream].queue.push_back(id);
  advance(stream);
  return id;
}

/// Lets begin what stands first in line, as long as a place on the stream is free.
void SimulatedJob::advance(Stream stream) {
  Line& line = lines_[stream];
  while (!line.queue.empty() && item(line.queue.front()).missing == 0) {
    Slot* best = nullptr;
    for (Slot& slot : line.slots) {
      if (!slot.is_busy && (best == nullptr || latest(slot.free) < latest(best->free))) best = &slot;
    }
    if (best == nullptr) return;
    const TaskId id = line.queue.front();
    line.queue.pop_front();
    begin(id, *best);
  }
}

void SimulatedJob::begin(TaskId id, Slot& slot) {
  Item& own = item(id);
  const Task& task = own.done.task;
  RankTimes begin = std::move(slot.free);
  if (task.earliest.size() > 0) begin = begin.max(task.earliest);
  for (const TaskId before : task.after) {
    if (before >= first_) begin = begin.max(item(before).done.times.end);
  }
  own.done.times.begin = std::move(begin);
  own.slot = static_cast<std::size_t>(&slot - lines_[task.stream].slots.data());
  slot.is_busy = true;
  if (std::holds_alternative<Compute>(task.what)) return begin_compute(id);
  if (std::holds_alternative<Collective>(task.what)) return begin_collective(id);
  site_.meet(id, std::get<StageExchange>(task.what), own.done.times.begin);
}

void SimulatedJob::begin_compute(TaskId id) {
  Done& own = item(id).done;
  own.factors = factors_;
  const auto& compute = std::get<Compute>(own.task.what);
  const Seconds last_begin = compute.marks.empty() ? Seconds(0) : latest(own.times.begin);
  own.undisturbed = latest(own.times.begin + *own.factors * compute.work.si());
  bool expects = false;
  for (std::size_t i = 0; i < compute.marks.size(); ++i) {
    const Mark& mark = compute.marks[i];
    if (mark.on_host) schedule(last_begin + mark.at, {Kind::mark, mark.note, id, i});
    if (!mark.on_host && !std::exchange(expects, true)) expect_mark(id, i);
  }
  if (site_.compute_share == 0) {
    own.times.end = computed(own, compute.work);
    note_stages(own, own.times.end);
    return take_as_known(id);
  }
  schedule(own.undisturbed, {Kind::over, {}, id});
}

/// Those in company, whose ends are not known.
void SimulatedJob::occupy_until_now() {
  for (const auto& [task, place] : under_way_) {
    communications_[place].to = all_at(site_.ranks, now());
    communications_[place].last = now();
  }
}

/// The next of a device's marks from this one on, which none behind it can be before.
void SimulatedJob::expect_mark(TaskId id, std::size_t first) {
  Done& own = item(id).done;
  const std::vector<Mark>& marks = std::get<Compute>(own.task.what).marks;
  while (first < marks.size() && marks[first].on_host) ++first;
  if (first == marks.size()) return;
  look_at(own, marks[first]);
  schedule(std::max(now(), latest(own.next_mark)), {Kind::mark, marks[first].note, id, first});
}

void SimulatedJob::look_at(Done& compute, const Mark& mark) const {
  compute.next_mark = computed(compute, mark.at);
  compute.put_off_by = under_way_.empty() ? std::ssize(communications_) : -1;
}

/// Collectives that began in the meantime may have put it off.
void SimulatedJob::pass_mark(const Event& event) {
  Done& own = item(event.task).done;
  const Mark& mark = std::get<Compute>(own.task.what).marks[event.mark];
  RankTimes moments;
  if (mark.on_host) {
    moments = own.times.begin + mark.at.si();
  } else {
    occupy_until_now();
    if (own.put_off_by != std::ssize(communications_)) look_at(own, mark);
    if (latest(own.next_mark) > now()) return schedule(latest(own.next_mark), event);
    moments = std::move(own.next_mark);
    share_.settle(own.settled, own.times.begin, moments, communications_);
    expect_mark(event.task, event.mark + 1);
  }
  --open_marks_;
  listener_({event.note, std::move(moments), event.task, nullptr});
}

void SimulatedJob::look_whether_over(TaskId id) {
  if (id < first_) return;
  Item& own = item(id);
  if (own.is_known) {
    return listener_({own.done.task.note, own.done.times.end, id, &own.done.times});
  }
  occupy_until_now();
  own.done.times.end = computed(own.done, std::get<Compute>(own.done.task.what).work);
  note_stages(own.done, own.done.times.end);
  if (own.done.last.end > now()) return schedule(own.done.last.end, {Kind::over, {}, id});
  take_as_known(id);
  listener_({});
}

void SimulatedJob::begin_collective(TaskId id) {
  Item& own = item(id);
  const auto& collective = std::get<Collective>(own.done.task.what);
  started_.emplace_back(collective.operation, collective.size, collective.group);
  RankTimes reducing = own.done.times.begin + collective.copy_in.si();
  if (site_.company != nullptr && collective.size > Bytes(0) && site_.ranks > 1) {
    provenance_.folded = false;
    return begin_in_company(id, reducing);
  }
  CollectiveClock& clock = site_.clock_of(collective);
  const RankTimes start = clock.has_launch() ? reducing : RankTimes(reducing + site_.launch.si());
  Answer answer = site_.representatives != nullptr ? site_.representatives->answer(clock, collective, start)
                                                   : clock.answer(collective.size, start);
  provenance_.include(answer.provenance);
  own.done.times.end = answer.ends + collective.copy_out.si();
  note_stages(own.done, answer.ends, collective.copy_in, collective.copy_out);
  // What computation stops for takes nothing from it.
  if (own.done.task.stream != computing)
    communications_.push_back({earliest(reducing), own.done.last.reduced, std::move(reducing), std::move(answer.ends)});
  reducing = answer.ends = RankTimes();  // not kept while what waits for it begins
  take_as_known(id);
}

/// When the last rank and the first passed each stage.
void SimulatedJob::note_stages(Done& done, const RankTimes& reduced, Seconds in, Seconds out) const {
  if (site_.representatives != nullptr) {
    site_.representatives->look_at(done.times.begin);
    site_.representatives->look_at(reduced);
  }
  const auto stages = [&](Seconds begin, Seconds end) { return Stages{begin, begin + in, end, end + out}; };
  done.times.first_rank = stages(Seconds(done.times.begin[0]), Seconds(reduced[0]));
  done.last = stages(latest(done.times.begin), latest(reduced));
}

void SimulatedJob::end_exchange(TaskId id, const RankTimes& ends) {
  Done& own = item(id).done;
  own.times.end = ends;
  note_stages(own, ends);
  take_as_known(id);
}

void SimulatedJob::begin_in_company(TaskId id, const RankTimes& joins) {
  Done& own = item(id).done;
  const auto& collective = std::get<Collective>(own.task.what);
  under_way_[id] = communications_.size();
  communications_.push_back(occupation(joins, joins));
  const auto& groups = site_.carriages_of(collective);
  own.times.end = RankTimes::Zero(site_.ranks);
  auto left = std::make_shared<std::size_t>(groups.size());
  for (const GroupCarriage& group : groups) {
    const RankTimes of_group = group.members.empty() ? joins : RankTimes(joins(group.members));
    site_.company->start(
        *group.carriage, collective.size, of_group.max(now().si()), [this, id, left, &group](const RankTimes& ends) {
          RankTimes& all = item(id).done.times.end;
          group.members.empty() ? static_cast<void>(all = ends) : static_cast<void>(all(group.members) = ends);
          if (--*left == 0) end_in_company(id);
        });
  }
}

void SimulatedJob::end_in_company(TaskId id) {
  Done& own = item(id).done;
  Occupation& known = communications_[under_way_.at(id)];
  known.to = own.times.end;
  const auto& collective = std::get<Collective>(own.task.what);
  own.times.end += collective.copy_out.si();
  note_stages(own, known.to, collective.copy_in, collective.copy_out);
  known.last = own.last.reduced;
  under_way_.erase(id);
  take_as_known(id);
}

void SimulatedJob::take_as_known(TaskId id) {
  Item& own = item(id);
  own.is_known = true;
  --open_tasks_;
  const Stream stream = own.done.task.stream;
  Slot& slot = lines_[stream].slots[own.slot];
  if (own.is_within) {  // what comes after it stands behind it in line
    slot.free = std::move(own.done.times.end);
    own.done.times.begin.resize(0);
  } else {
    slot.free = own.done.times.end;
  }
  slot.is_busy = false;
  if (own.done.task.note.what >= 0) schedule(own.done.last.end, {Kind::over, {}, id});
  const std::vector<TaskId> next = std::move(own.next);
  for (const TaskId later : next) {
    if (--item(later).missing == 0) advance(item(later).done.task.stream);
  }
  advance(stream);
}

std::vector<const SimulatedJob::Done*> SimulatedJob::tasks(Stream stream) const {
  std::vector<const Done*> of_stream;
  for (std::size_t i = static_cast<std::size_t>(std::max(iteration_ - first_, 0)); i < items_.size(); ++i) {
    if (items_[i].done.task.stream == stream) of_stream.push_back(&items_[i].done);
  }
  return of_stream;
}

double SimulatedJob::communicated(int worker) const {
  const Worker& own = workers_[static_cast<std::size_t>(worker)];
  return own.communicated + (own.messages > 0 ? now().si() - own.since : 0);
}

void SimulatedJob::compute(int worker, Seconds work, Note note) {
  if (site_.compute_share == 0) return call_at(now() + work, note);
  const int number = computes_.keep({worker, now().si(), communicated(worker), work.si(), note});
  schedule(now() + work, {Kind::worker_computed, {}, number});
}

/// (T - t) - share x (time communicating within [t, T]) = work
void SimulatedJob::look_whether_computed(int number) {
  const WorkerCompute& own = computes_[number];
  const double taken = site_.compute_share * (communicated(own.worker) - own.communicated_before);
  const double end = own.begin + own.work + taken;
  if (end > now().si()) return schedule(Seconds(end), {Kind::worker_computed, {}, number});
  listener_({computes_.take(number).note});
}

}}  // namespace farandole::engine
