// The seam for strategies whose workers act each on its own: messages between workers and servers, no collectives.
//
// As with training/executor.hpp, simulate/ implements it with simulated time, and the strategy cannot tell. A worker is
// a rank, a node, or a group of such that behave alike and are carried as one. Between a worker and a server runs one
// connection each way; what is sent on it arrives in order, one message after the other, and all connections share the
// links they cross. A server works at the rate of its host's memory.
#pragma once

#include "training/rank_times.hpp"

namespace farandole {

struct Connection {
  int worker = 0;
  int server = 0;
  bool to_server = true;
};

/// What a strategy wants to be told when a timer rings or a message has arrived; the executor only hands it back.
struct Note {
  int what = 0;
  int worker = 0;
  int index = 0;
};

class MessageExecutor {
 public:
  virtual ~MessageExecutor() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  /// MessageStrategy::on_note at `when`, not before now.
  virtual void wake_at(Seconds when, Note note) = 0;
  /// MessageStrategy::on_note when the last byte has arrived.
  virtual void send(Connection connection, Bytes size, Note note) = 0;
  /// MessageStrategy::on_note when the server's memory has moved so many bytes; what its host does at the same time
  /// shares it evenly. `worker`: for whose push, which stands for those of all that are carried with it; or `everyone`.
  virtual void process(int server, int worker, Bytes traffic, Note note) = 0;

  static constexpr int everyone = -1;
};

class MessageStrategy {
 public:
  virtual ~MessageStrategy() = default;

  virtual void begin(MessageExecutor& executor) = 0;
  virtual void on_note(MessageExecutor& executor, Note note) = 0;
};

}  // namespace farandole
