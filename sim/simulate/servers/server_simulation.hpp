// Simulated time for strategies with servers: connections, timers and one network under them.
//
// Called by server_run.hpp. A connection sends one message after the other; the next starts when the last byte of the
// one before has left, and each arrives its latency after its last byte. Equal moments are handled in the order of what
// caused them, so a run is reproducible.
#pragma once

#include <deque>
#include <vector>

#include "simulate/servers/message_network.hpp"
#include "simulate/servers/server_network.hpp"
#include "training/message_executor.hpp"

namespace farandole {

class ServerSimulation final : public MessageExecutor {
 public:
  /// The references must outlive the simulation; `network` has the capacities of `layout` as its links.
  ServerSimulation(const ServerNetwork& layout, MessageNetwork& network);

  /// Until the strategy has nothing more to do.
  void run(MessageStrategy& strategy);

  [[nodiscard]] Seconds now() const override { return network_.now(); }
  void wake_at(Seconds when, Note note) override;
  void send(Connection connection, Bytes size, Note note) override;
  void process(int server, int worker, Bytes traffic, Note note) override;

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
  /// What the network's tags stand for; `line` < 0: tell the strategy.
  struct Pending {
    int line = -1;
    Note note;
  };

  int keep(Pending pending);
  void start_next(int line);
  void end_of_message(int line, Note note);

  const ServerNetwork& layout_;
  MessageNetwork& network_;
  std::vector<Line> lines_;
  std::vector<int> works_;  // routes of ServerNetwork::work; -1: not asked for yet
  std::vector<Pending> pending_;
  std::vector<int> free_;
};

}  // namespace farandole
