// Letters between the processes of a replayed job with servers, read as they come.
//
// Every process has two ways to all others, one as a worker and one as a server: connections of the simulation, on
// which what is sent to one process arrives in order. A letter is a head of a few numbers and, of some kinds, data
// behind it. Nothing here waits. Called by server_replay.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "engine/task.hpp"

namespace farandole { inline namespace backend {

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

}}  // namespace farandole::backend
