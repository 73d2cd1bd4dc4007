// One collective under way on a message clock: which round each rank is in, and what is on the wires.
//
// Used by simulate/message_clock.cpp alone, once per collective.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "simulate/fluid_network.hpp"
#include "simulate/message_clock.hpp"

namespace farandole { inline namespace simulate {

/// One collective under way.
class MessageClock::Run {
 public:
  /// The tags of its flows and calls are from `first_tag` on; moments are the network's.
  Run(MessageClock& clock, Bytes size, const RankTimes& start, int first_tag = 0);
  /// Lets every rank join when it starts.
  void begin();
  /// What the network reports of its tags.
  void handle(int tag);
  [[nodiscard]] bool is_finished() const { return finished_ == schedule_.ranks; }
  /// When each rank ended, once all have; throws InvariantError where bytes are missing.
  [[nodiscard]] RankTimes ends() const;

 private:
  /// Of a link whose rate is a token bucket's (the transport's burst).
  struct Bucket {
    double tokens = 0;  // bytes, at that moment
    double moment = 0;
    int flows = 0;  // on the link; while there are any, tokens go as they come
  };
  struct Progress {
    std::size_t phase = 0;
    int repeat = 0;
    int missing = 0;     // own transfers of this round that are not done
    double reduced = 0;  // when all that was posted and has arrived of this round is dealt with
    bool started = false;
    bool finished = false;
  };
  /// Something to send, and when its sender's processor has posted it.
  struct Posting {
    int transfer;
    double ready;
  };
  /// Something to send whose receiver is not ready for it.
  struct Waiting {
    int transfer;
    Bytes bytes;
  };
  /// A long message between nodes that its receiver has answered.
  struct Sending {
    int transfer;
    int to;
    Bytes bytes;
    BytesPerSecond rate;  // with the links for itself
    double begin;
  };
  void call_at(Seconds when, int tag) { network_.call_at(when, first_tag_ + tag); }
  void enter_round(int rank);
  void leave_round(int rank);
  /// Whether ranks leave rounds of the phase without waiting for what they send.
  [[nodiscard]] bool is_eager(std::size_t phase) const { return eager_[phase]; }
  [[nodiscard]] bool has_eager_sends(const Phase& phase) const;
  [[nodiscard]] bool has_short_messages(const Phase& phase) const;
  /// Whether its ranks post what they send to all others and wait for it at the end only.
  [[nodiscard]] bool posts_all_sends(const Phase& phase) const;
  /// Posts what the rank sends in this repeat, one after the other as far as that keeps its processor.
  [[nodiscard]] std::vector<Posting> posted(const std::vector<int>& sends, Progress& at) const;
  /// What all messages of a transfer keep the processors of its ends with.
  struct Kept {
    double send = 0;
    double receive = 0;
    double behind = 0;  // at its receiver, by others alike that come at the same moment (folded networks)
  };
  [[nodiscard]] Kept kept(int transfer, int repeat) const;
  /// What is there, to be received and reduced.
  void receive(Progress& at, int transfer, int repeat);
  /// What its sender has posted for the same receiver.
  [[nodiscard]] std::deque<Posting>& stream_of(int transfer) {
    const Transfer placed = clock_.placed(transfer, clock_.pattern(transfer).start);
    return streams_[{placed.from, placed.to}];
  }
  /// Sends when all is sent that the same rank posted for the same receiver before.
  void post(Posting posting);
  /// When its sender's connections posted before have sent their windows.
  void send_in_turn(Posting posting);
  void send(Posting posting);
  /// Now, or once its receiver has posted the receive where the message is long.
  void start(int transfer, Bytes bytes);
  void start_now(int transfer, Bytes bytes, Seconds handshake = Seconds(0));
  /// Where handshakes queue behind data (message_run.cpp).
  [[nodiscard]] bool has_announcements(std::size_t phase) const;
  [[nodiscard]] bool is_announced(int transfer) const;
  void announce(int transfer, Bytes bytes);
  void announced(int transfer);
  /// The receiver lets the message come, when what it sends itself has left.
  void answer(const Waiting& message);
  /// What one sends has left.
  void has_left(int transfer);
  /// By how much a rank is late in a round of the phase, where that decides who announces first.
  [[nodiscard]] Seconds apart(std::size_t phase);
  /// What idle links on the way let through at once of a message that begins now; the rest takes their tokens' rate.
  [[nodiscard]] Bytes take_burst(int transfer, Bytes bytes);
  void leave_links(int transfer);
  [[nodiscard]] double tokens_at(int link, double moment) const;
  /// Whether its receiver has posted the receive of the repeat that comes next.
  [[nodiscard]] bool is_posted(int transfer) const;
  /// What was waiting for the rank to get here.
  void start_what_waited(int rank);
  /// Sends the next message of a transfer that has more than one, if there is one left.
  bool send_next(int transfer);
  void done(int transfer);
  enum class End : std::uint8_t { sender, receiver };
  void count_for(End end, int rank, int transfer, int repeat);
  void leave_when_reduced(int rank);
  [[nodiscard]] Seconds time_to_reduce(int transfer, int repeat) const;
  void drain();
  void check() const;
  [[nodiscard]] Bytes bytes_due() const;

  MessageClock& clock_;
  const Schedule& schedule_;
  ChunkSizes chunks_;
  SharedNetwork& network_;
  RankTimes start_;
  int first_tag_;
  int finished_ = 0;  // ranks
  RankTimes end_;
  std::vector<int> completed_;  // per transfer: the first repeat that is not done
  std::vector<Bytes> in_flight_;
  std::map<int, std::vector<Bytes>> queued_;  // per transfer that is sent one by one: its messages to come, last first
  std::vector<bool> eager_;                   // per phase: whether sends are
  std::vector<Progress> progress_;
  std::vector<std::vector<Waiting>> waiting_;  // per receiver
  std::vector<int> complete_;                  // ranks whose round is complete, to be taken on without recursion
  Bytes sent_;
  Bytes received_;
  bool occupied_;              // messages keep processors busy
  std::vector<double> ready_;  // per transfer under way, if they do: when it was or will be posted
  std::map<std::pair<int, int>, std::deque<Posting>>
      streams_;                                     // posted, by sender and receiver; the first is under way
  std::vector<double> turn_;                        // per rank: when its next connection may begin
  std::vector<Bucket> buckets_;                     // per link; empty where idle links let nothing through at once
  std::vector<std::vector<int>> limited_;           // per transfer under way: links that it is a flow on
  std::vector<bool> announces_;                     // per phase: whether long messages leave nodes; empty as the next
  std::vector<std::vector<Sending>> sending_;       // per rank; empty where handshakes overtake everything
  std::map<int, std::vector<Waiting>> unanswered_;  // by the transfer that their answers wait for
  std::minstd_rand draws_;                          // by how much ranks are apart
};

}}  // namespace farandole::simulate
