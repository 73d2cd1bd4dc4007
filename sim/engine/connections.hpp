// Connections between workers and servers, each of which sends one message after the other, and the servers' memories.
//
// Part of a job in the engine (engine/simulated_job.hpp). The next message of a connection starts when the last byte of
// the one before has left, and each arrives its latency after its last byte.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "engine/company.hpp"
#include "engine/simulator.hpp"
#include "engine/task.hpp"
#include "platform/congestion.hpp"

namespace farandole { inline namespace engine {

/// A link and how many of the flows that a flow stands for cross it.
struct Crossing {
  int link = 0;
  int times = 1;
};

/// Groups of workers that behave alike, servers, likewise, and the links between them. A flow stands for as many flows
/// of the workers of its group as its crossings say, link by link.
struct ServerNetwork {
  struct Way {
    std::vector<Crossing> crossings;  // empty: nothing to cross
    Seconds latency;
    int paths = 1;  // what is sent is split evenly
  };
  struct Group {
    std::vector<int> ranks;  // of all its workers
    int workers = 1;
    BytesPerSecond bus;  // WorkerGroup::bus
  };

  std::vector<BytesPerSecond> capacities;  // of classes of links
  std::vector<Congestion> congestion;      // likewise; of a split route every path counts as a flow
  std::size_t shared = 0;                  // of them, from the first on: the platform's, which others are on, too
  std::vector<Group> groups;
  int servers = 1;                // that are told apart
  std::vector<int> stands_for{};  // of every server: which of these
  std::vector<Way> ways;          // [(group * servers + server) * 2 + to_server]
  std::vector<Way> work;  // of a server for a push of every group: [server * (groups + 1) + 1 + group], for all at [0]

  [[nodiscard]] const Way& way(Connection c) const {
    return ways[static_cast<std::size_t>((c.worker * servers + c.server) * 2 + (c.to_server ? 1 : 0))];
  }
};

class Connections {
 public:
  /// `tell`: of what is over. Adds the links of `layout` to the network, but for those that are shared with `company`.
  /// What is referred to must outlive it.
  Connections(Simulator& simulator, const ServerNetwork& layout, Company* company, std::function<void(Note)> tell);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void send(Connection connection, Bytes size, Note note);
  void process(int server, int worker, Bytes traffic, Note note);
  /// Told of what a worker sends and receives, when it begins and when it is over.
  void watch(std::function<void(int worker, bool begins)> watcher) { watcher_ = std::move(watcher); }

 private:
  struct Message {
    Bytes size;
    Note note;
  };
  struct Line {
    int route = -1;  // not asked for yet, or nothing to cross
    bool is_busy = false;
    std::deque<Message> queue;
  };
  /// What events stand for; `line` < 0: only tell.
  struct Pending {
    int line = -1;
    Note note;
  };

  void on(int event);
  void tell_at(Seconds when, Note note) { simulator_.call_at(when, self_, pending_.keep({-1, note})); }
  int add_route(const std::vector<Crossing>& crossings);
  void start_next(int line);
  void watched(int line, bool begins) const;

  Simulator& simulator_;
  const ServerNetwork& layout_;
  Company* company_;
  std::function<void(Note)> tell_;
  std::function<void(int, bool)> watcher_;
  int self_;
  std::vector<int> links_;  // that are not shared
  std::vector<Line> lines_;
  std::vector<int> works_;  // routes of ServerNetwork::work; -1: not asked for yet
  Recycled<Pending> pending_;
};

}}  // namespace farandole::engine
