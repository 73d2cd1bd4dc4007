// A job's tasks in simulated time: ranks as arrays, streams in order, collectives by their clocks or in company.
//
// What differs between ranks is carried in arrays (RankTimes); nothing is done once per rank that can be done once for
// all. A task whose beginnings are known, and which meets nobody, is carried out at once: its times are worked out when
// it is added, and only what somebody waits for becomes an event. Computation that running collectives slow down, and
// collectives in company, are known when they are over.
//
// Deterministic: events at the same moment are delivered in the order in which they were scheduled.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/company.hpp"
#include "engine/connections.hpp"
#include "engine/device_share.hpp"
#include "engine/engine.hpp"
#include "engine/iteration.hpp"
#include "engine/representatives.hpp"

namespace farandole { inline namespace engine {

/// An operation, a size and a kind of group.
using CollectiveKind = std::tuple<Operation, Bytes, Group>;
/// How often collectives of a kind are started.
using CollectiveCounts = std::map<CollectiveKind, double>;

/// What a job is on. The references must outlive it.
struct JobSite {
  int ranks = 1;
  Seconds launch{};          // what starting a collective costs, where neither its clock nor its carriage knows
  double compute_share = 0;  // of a device's rate that a running collective takes, from 0 to below 1
  int width = 1;             // collectives that go on the communication stream at once
  /// The clock of what is to be done, by itself.
  std::function<CollectiveClock&(const Collective&)> clock_of{};
  /// Where others are on the links, too, or its own collectives: all of them meet there.
  Company* company = nullptr;
  std::function<const std::vector<GroupCarriage>&(const Collective&)> carriages_of{};
  const ServerNetwork* servers = nullptr;      // null: none
  Representatives* representatives = nullptr;  // null: every rank stands for itself
  /// Of a stage of a pipeline: it is at that exchange, each rank from its begin on; end_exchange tells when it is over.
  std::function<void(TaskId, const StageExchange&, const RankTimes& begin)> meet{};
};

class SimulatedJob final : public Engine {
 public:
  SimulatedJob(Simulator& simulator, JobSite site);
  SimulatedJob(const SimulatedJob&) = delete;
  SimulatedJob& operator=(const SimulatedJob&) = delete;

  /// Whom to tell; without a note, that a computation is over that was slowed down.
  void tell(std::function<void(const Happening&)> listener) { listener_ = std::move(listener); }
  /// Forgets the tasks of the iteration before. `factors`: by which the ranks' compute exceeds the nominal one from now
  /// on. Representatives are others in every iteration; whoever they stand for begins when all tasks before are over.
  void begin_iteration(RankTimes factors);
  /// As if it had not been, but for time.
  void forget_iteration() { started_.resize(started_before_); }
  /// Whether computation has been added in this iteration.
  [[nodiscard]] bool computes() const { return computes_now_; }
  /// Marks of computation that nobody has been told of.
  [[nodiscard]] int open_marks() const { return open_marks_; }
  /// Tasks that have been added and whose ends are not known.
  [[nodiscard]] int open_tasks() const { return open_tasks_; }

  [[nodiscard]] Seconds now() const override { return simulator_.now(); }
  void call_at(Seconds when, Note note) override { schedule(when, {Kind::note, note}); }
  TaskId add(Task task) override;
  void compute(int worker, Seconds work, Note note) override;
  void send(Connection connection, Bytes size, Note note) override { connections_->send(connection, size, note); }
  void process(int server, int worker, Bytes traffic, Note note) override {
    connections_->process(server, worker, traffic, note);
  }
  /// Of one that has met its neighbour (JobSite::meet).
  void end_exchange(TaskId id, const RankTimes& ends);

  struct Done {
    Task task;
    TaskTimes times{};      // of all ranks; not kept of what is within a computation and over
    Stages last{};          // once it is over: of the last rank at each stage
    Seconds undisturbed{};  // of a computation: the last rank would be done, were there no collective
    std::shared_ptr<const RankTimes> factors{};  // of a computation
    RankTimes next_mark{};                       // when it will be passed, as far as so many communications put it off
    std::ptrdiff_t put_off_by = -1;              // negative where one is under way
    Settled settled{};                           // by the last mark that was passed
  };
  /// Of this iteration, in the order in which they were added.
  [[nodiscard]] std::vector<const Done*> tasks(Stream stream) const;
  [[nodiscard]] const RankTimes& factors() const { return *factors_; }

  /// One by one, of all iterations so far.
  [[nodiscard]] std::span<const CollectiveKind> collectives() const { return started_; }
  /// Of all of them; of none, as if all were folded.
  [[nodiscard]] const Provenance& provenance() const { return provenance_; }

 private:
  struct Item {
    Done done;
    int missing = 0;  // of what it comes after
    bool is_known = false;
    bool is_within = false;  // a computation that stops for exchanges: all but its last piece
    std::size_t slot = 0;
    std::vector<TaskId> next{};
  };
  struct Slot {
    RankTimes free;
    bool is_busy = false;
  };
  struct Line {
    std::vector<Slot> slots;
    std::deque<TaskId> queue;
  };
  enum class Kind : std::uint8_t { note, mark, over, worker_computed };
  struct Event {
    Kind kind;
    Note note;
    TaskId task = -1;  // or the number of what a worker computes
    std::size_t mark = 0;
  };
  /// Of a worker of its own: how long it has been communicating, and what it computes meanwhile.
  struct Worker {
    int messages = 0;
    double since = 0;
    double communicated = 0;
  };
  struct WorkerCompute {
    int worker;
    double begin;
    double communicated_before;
    double work;
    Note note;
  };

  Item& item(TaskId id) { return items_[static_cast<std::size_t>(id - first_)]; }
  void schedule(Seconds when, Event event) { simulator_.call_at(when, self_, events_.keep(event)); }
  void on(int event);
  void advance(Stream stream);
  TaskId add_in_pieces(Task task);
  TaskId add_whole(Task task, bool is_within);
  void begin(TaskId id, Slot& slot);
  void begin_compute(TaskId id);
  void begin_collective(TaskId id);
  void take_as_known(TaskId id);
  void note_stages(Done& done, const RankTimes& reduced, Seconds in = {}, Seconds out = {}) const;
  void expect_mark(TaskId id, std::size_t first);
  void look_at(Done& compute, const Mark& mark) const;
  void pass_mark(const Event& event);
  void look_whether_over(TaskId id);
  void look_whether_computed(int number);
  void begin_in_company(TaskId id, const RankTimes& joins);
  void end_in_company(TaskId id);
  /// When each rank has computed that much of it, as far as communication is known by now.
  [[nodiscard]] RankTimes computed(const Done& compute, Seconds work) const {
    return share_.finish(compute.times.begin, *compute.factors, work, communications_, compute.settled);
  }
  [[nodiscard]] double communicated(int worker) const;
  void occupy_until_now();

  Simulator& simulator_;
  JobSite site_;
  DeviceShare share_;
  int self_;
  std::function<void(const Happening&)> listener_;
  std::optional<Connections> connections_;
  Recycled<Event> events_;
  std::deque<Item> items_;
  TaskId first_ = 0;      // of items_
  TaskId iteration_ = 0;  // the first task of this one
  std::array<Line, streams> lines_;
  std::vector<Occupation> communications_;   // of this iteration that have begun, for what they take from computing
  std::map<TaskId, std::size_t> under_way_;  // of them
  std::shared_ptr<const RankTimes> factors_;
  bool computes_now_ = false;
  int open_marks_ = 0;
  int open_tasks_ = 0;
  Provenance provenance_{.folded = true};
  std::vector<CollectiveKind> started_;
  std::size_t started_before_ = 0;  // this iteration
  std::vector<Worker> workers_;
  Recycled<WorkerCompute> computes_;
};

}}  // namespace farandole::engine
