// Collectives in company: those that share links with other collectives, with messages or with traffic that comes and
// goes. What meets nobody is answered by its clock instead (simulate/collective_clock.hpp), exactly and at once.
//
//   message   every message of every collective is a flow of the one network
//   flow      every collective goes through its phases one by one. A phase is a flow for each of its transfers, of what
//   analytic  that sends in all of its repeats; before them comes what the phase takes by itself beyond sending
//             (latency, software, adding up), and it is over with the last flow, at the earliest when it would be
//             alone. So alone a collective takes what its clock says, and beside others what its flows take there: two
//             equal collectives that use all of the same links take 2 (n-1) (alpha + 2 M / (n B)) each on a ring, and
//             what shares no link is not held up. Ranks wait for one another before anything of a collective is sent;
//             each ends later than alone by as much as the whole is held up.
//
// Nothing is folded here: ranks that are alike in one collective need not be in another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/simulator.hpp"
#include "platform/platform.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/fidelity.hpp"
#include "simulate/message_clock.hpp"

namespace farandole { inline namespace engine {

/// How a collective of some size is carried out: by a schedule of its job, or by what a library plans for that size.
struct Carriage {
  std::shared_ptr<const RoutedSchedule> routed;
  std::shared_ptr<CollectiveClock> alone;
  Seconds launch;          // before the first message
  std::vector<int> order;  // the rank at each place of the schedule; empty: as they are numbered
};

/// Of a collective that goes on in several groups at once: what carries out one of them.
struct GroupCarriage {
  const Carriage* carriage = nullptr;
  std::vector<int> members;  // ranks; empty: all
};

class Company {
 public:
  /// The network becomes one of the links that are crossed, of the platform and of who needs more.
  Company(Simulator& simulator, const Platform& platform, Fidelity fidelity);
  ~Company();
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  using Done = std::function<void(const RankTimes& ends)>;
  /// `joins[r]`: when rank r does, the last not before now. `carriage` must outlive the company.
  void start(const Carriage& carriage, Bytes size, const RankTimes& joins, Done done);

  /// A link of the platform as the network numbers it. A large machine has far more than are ever crossed.
  int crossed(int link);

  /// Takes so much of a link of the platform from now on, or gives it back where it is below zero.
  void take(int link, BytesPerSecond rate);

 private:
  /// A schedule on this network.
  struct Laid {
    std::vector<int> own_links{};              // of the network, that are not the platform's; -1: not there yet
    std::vector<std::vector<int>> routes{};    // by phase and transfer
    std::vector<Eigen::ArrayXd> inverse{};     // solo, likewise
    std::unique_ptr<MessageClock> messages{};  // at `message`
  };
  struct Piece {
    Seconds ahead;  // of the flows
    Seconds alone;
    std::vector<Bytes> bytes;  // by transfer
  };
  struct Collective {
    const Carriage* carriage;
    const Laid* laid;
    Done done;
    RankTimes alone;  // when each place would end
    std::vector<Piece> pieces{};
    std::size_t phase = 0;
    int open = 0;  // flows of the phase that are not over, and the moment at which it would be over alone
    std::unique_ptr<MessageClock::Run> run{};
    int first_tag = -1;
  };

  Laid& laid(const Carriage& carriage);
  int crossed_by(Laid& laid, const RoutedSchedule& routed, int link);
  void lay_phases(Laid& laid, const RoutedSchedule& routed);
  [[nodiscard]] std::vector<Piece> pieces_of(const Laid& laid, const RoutedSchedule& routed, Bytes size,
                                             Seconds together) const;
  void start_messages(int number, Collective collective, Bytes size, const RankTimes& joins);
  void on(int event);
  void begin_phase(int number);
  void send_phase(int number);
  void end_one(int number);
  void finish(int number, const RankTimes& ends);

  Simulator& simulator_;
  Fidelity fidelity_;
  int self_;
  std::vector<Congestion> congestion_;
  std::vector<int> in_network_;             // of the platform's links; -1: crossed by nobody so far
  std::vector<BytesPerSecond> capacities_;  // of the platform's links, with what is taken
  std::map<const RoutedSchedule*, Laid> laid_;
  std::map<int, Collective> under_way_;
  int next_ = 0;
};

}}  // namespace farandole::engine
