// Runs the iterations of a job with parameter servers for real, on one process of many: the engine whose clock is on
// the wall.
//
// The first processes are the workers; a server is on one of them or on a process of its own. Every process has a copy
// of the strategy, which acts for its own worker and its own servers: computation is a timed wait, gradients travel to
// the servers for real, which add them up and update variables in their memory for real, and send variables when they
// are asked for them. The copies tell each other that a push was applied and that a worker has ended an iteration
// (Mail), so that all know who may start. Where a worker and its server are in one process nothing travels.
//
// Called by `farandole bench`. Moments are on this process's clock, which starts when all have met.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <vector>

#include "backend/backend.hpp"
#include "backend/replay/communication_stream.hpp"
#include "engine/engine.hpp"
#include "engine/task.hpp"
#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/strategies/parameter_server.hpp"
#include "training/variability.hpp"

namespace farandole { inline namespace backend {

// Letters between the processes of a replayed job with servers, read as they come.
//
// Every process has two ways to all others, one as a worker and one as a server: connections of the simulation, on
// which what is sent to one process arrives in order. A letter is a head of a few numbers and, of some kinds, data
// behind it. Nothing here waits. Called by server_replay.hpp.

struct Letter {
  enum class Kind : std::uint8_t {
    push,         // to a server, with gradients
    request,      // to a server, for variables
    pull,         // from a server, with variables
    note,         // to the copy of the strategy
    last_message  // the last that way
  };
  Kind kind = Kind::note;
  Note note{};
};

enum class Sender : std::uint8_t { worker, server };

class Mail {
 public:
  /// All processes make one at the same time. `floats_of`: how long the data of a letter is.
  Mail(Session& session, std::function<std::size_t(const Letter&)> floats_of);

  /// `data` stays where and what it is until all is over.
  void send(Sender as, int to, const Letter& letter, std::span<const float> data = {});
  /// To all others.
  void say_farewell(Sender as);

  using Reader = std::function<void(int from, const Letter& letter, std::span<const float> data)>;
  /// Reads what has come; whether there was any.
  bool look(const Reader& read);

  /// Whether all others have said farewell.
  [[nodiscard]] bool has_heard_all(Sender as) const { return farewells_[static_cast<std::size_t>(as)] == others_; }
  /// Whether all that was sent has gone.
  [[nodiscard]] bool is_sent();

 private:
  static constexpr std::size_t numbers = 4;
  using Head = std::array<float, numbers>;

  struct Outbox {
    std::unique_ptr<Endpoint> way;
    std::deque<Head> heads{};  // until they are gone
  };
  struct Inbox {
    std::unique_ptr<Endpoint> way;
    int from;
    Sender as;
    Head head{};
    Letter letter{};
    std::vector<float> data{};
    bool has_head = false;
    bool is_closed = false;
  };

  bool look(Inbox& inbox, const Reader& read);
  void open(Inbox& inbox);

  int rank_;
  int others_;
  std::function<std::size_t(const Letter&)> floats_of_;
  std::array<Outbox, 2> out_;
  std::deque<Inbox> in_;
  std::array<int, 2> farewells_{};
};

/// What a replay runs. The references must outlive it.
struct ServerReplaySite {
  const Job& job;
  const ServerPlan& plan;
  std::vector<Shard> shards;
  std::vector<int> process_of_server;
  const Variability& variability;
  int workers = 1;                 // the processes 0, 1, ...
  int slots = 1;                   // numbers that the optimizer keeps per parameter
  InputPipeline* input = nullptr;  // null: batches are always there
  Timeline* timeline = nullptr;    // null: nothing is recorded
};

class ServerReplay final : public Engine {
 public:
  /// All processes make one at the same time. The session must outlive it. What is checked takes time of its own.
  ServerReplay(ServerReplaySite site, Session& session, int iterations, bool checks_data);

  /// The iterations of this process's worker, if it has one; fast workers go on until the slowest has done its own.
  std::vector<WorkerIteration> run();
  /// Elements that came to this process, or were added up on it, and were not as they should be.
  [[nodiscard]] std::int64_t wrong() const { return wrong_; }

  [[nodiscard]] Seconds now() const override { return clock_.now(); }
  void call_at(Seconds when, Note note) override { schedule(when, note); }
  void compute(int /*worker*/, Seconds work, Note note) override { schedule(now() + work, note); }
  void send(Connection connection, Bytes size, Note note) override;
  void process(int server, int worker, Bytes traffic, Note note) override;
  [[nodiscard]] bool has(int worker) const override { return worker == rank_; }
  void tell(int worker, Note note) override;

 private:
  struct Event {
    Seconds when;
    std::int64_t order;
    Note note;
    bool pushes = false;  // what this process pushes to its own server
    [[nodiscard]] bool operator>(const Event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  /// What a server of this process has of a shard.
  struct Kept {
    std::vector<float> sum;  // of what was pushed since the last update
    std::vector<float> variable;
    std::vector<std::vector<float>> slots;
    std::vector<int> pushed_by;  // since the last update
  };

  [[nodiscard]] const Shard& shard_of(const Note& note) const {
    return site_.shards[static_cast<std::size_t>(note.index)];
  }
  [[nodiscard]] int process_of(const Note& note) const {
    return site_.process_of_server[static_cast<std::size_t>(shard_of(note).server)];
  }
  [[nodiscard]] std::size_t floats_of(const Letter& letter) const;
  void keep_shards();
  void schedule(Seconds when, Note note, bool pushes = false) { events_.push({when, scheduled_++, note, pushes}); }
  bool step();
  bool deliver_due();
  void read(int from, const Letter& letter, std::span<const float> data);
  void take_push(const Note& note, std::span<const float> gradients);
  [[nodiscard]] std::span<const float> variables(const Note& note) const;
  void check_sum(const Kept& kept, int shard);
  void expect(std::span<const float> data, const std::function<float(std::int64_t element)>& number);

  ServerReplaySite site_;
  Session& session_;
  int rank_;
  bool checks_;
  WallClock clock_;
  Mail mail_;
  RankTimes factors_;  // of the iteration that was asked for last
  ParameterServer strategy_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t scheduled_ = 0;
  std::vector<float> gradients_;  // of this worker; every shard's are their beginning
  std::map<int, Kept> kept_;      // by shard
  std::int64_t wrong_ = 0;
};

}}  // namespace farandole::backend
