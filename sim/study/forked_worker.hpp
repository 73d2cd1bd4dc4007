// A forked copy of the program that does one task after the other.
//
// Called by study/team.hpp, which has several, and by the MPI workers (study/mpi/), which have one each.
// SimGrid allows one engine at a time in a process, and a crash must not take the caller along: a worker that dies (a
// signal, no memory) costs the task it had. A worker ends when the program that forked it does, however that ends. The
// caller has one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace farandole { inline namespace study {

struct Outcome {
  enum class Kind : char { done, failed, bad_input };
  Kind kind = Kind::failed;
  std::string text;  // what the work returned, or why there is nothing
};

/// Runs in a worker; an InputError it throws is bad input, any other exception a failure.
using Work = std::function<std::string(std::size_t task)>;

class ForkedWorker {
 public:
  /// `siblings`: the sockets of other workers, which the new one must not hold open. `work` must outlive it.
  ForkedWorker(const Work& work, const std::vector<int>& siblings);
  /// Kills it if it has a task, and waits for its end.
  ~ForkedWorker();
  ForkedWorker(const ForkedWorker&) = delete;
  ForkedWorker& operator=(const ForkedWorker&) = delete;

  /// What it has been given and not returned.
  [[nodiscard]] std::optional<std::size_t> task() const { return task_; }
  /// Readable once there is an outcome; for poll().
  [[nodiscard]] int socket() const { return socket_; }

  void give(std::size_t task);
  /// No task will come; it ends.
  void dismiss();
  /// Waits for the outcome of its task; nothing where it died instead, or ended because it was dismissed.
  std::optional<Outcome> receive();
  /// Waits for its end and says what it was: "its process was ended by signal 9 (Killed)".
  Outcome ended();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
  std::optional<std::size_t> task_;
};

}}  // namespace farandole::study
