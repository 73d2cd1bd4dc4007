// What manager and workers of an MPI team say to one another.
//
// Used by study/mpi/ alone. Everyone looks for messages without waiting for them, so that nobody spins on a core that a
// simulation could use, and a rank that dies never blocks another. Silence is how a death shows: every rank is heard of
// at least once a second.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace farandole { inline namespace study {

enum class Tag : int {
  hello = 1,  // worker to manager, once: which study it has read
  outcome,    // worker to manager: a task, its kind and text
  task,       // manager to worker
  end,        // manager to worker: nothing more to do; "" where all are well, else who died
  alive       // both ways, now and then
};

/// As it was received.
struct TeamMessage {
  int rank = 0;  // who sent it
  Tag tag = Tag::alive;
  std::string text;
};

class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// The next message from anyone, if one is there.
  std::optional<TeamMessage> look();
  /// Does not wait until it is received.
  void send(int rank, Tag tag, const std::string& text);
  /// Waits until all that was sent has left, but no longer than that.
  void flush(std::chrono::milliseconds patience);

 private:
  struct Sending;

  void forget_what_was_sent();

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<std::unique_ptr<Sending>> sending_;
};

}}  // namespace farandole::study
