// Traffic that is not ours, and what it costs our collectives: sources that come and go, and other jobs.
//
// Called by the composition root, which wraps the clocks of a run (make_traffic_clock), all of them around one Traffic:
// time goes on in it from collective to collective.
//
// A source is on and off in turn, for times that are drawn. Another job repeats the iteration that it has by itself:
// collective i begins when it did there, or when the one before it is over, and the iteration ends as much after its
// last collective as there. So what holds a collective up delays the job only as far as the next would not have had to
// wait anyway; that it would have fused its gradients otherwise, or issued them in another order, is not captured.
//
// Between two changes of who is on the network everything goes on at a steady pace: a collective takes `Slowdown` times
// as long as alone, while all others that are under way repeat without a pause. Ours slows the others down by the same
// measure. The ends of our ranks are those on the quiet network, later by as much as the whole is held up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulate/collective_clock.hpp"
#include "simulate/simulation.hpp"
#include "timeline/result.hpp"
#include "training/effects/distribution.hpp"

namespace farandole {

/// Someone who sends and falls silent, whatever the network does.
struct OnOffSource {
  Seconds on;  // means, above zero
  Seconds off;
  Distribution on_spread;
  Distribution off_spread;
  std::uint64_t seed = 1;
};

/// A collective of a job; job 0 is ours.
struct Party {
  std::size_t job;
  Operation operation;
  Bytes size;
  friend auto operator<=>(const Party&, const Party&) = default;
};

/// Of parties[who] while all of `parties` are under way and these sources are on: at least 1.
using Slowdown =
    std::function<double(std::size_t who, const std::vector<Party>& parties, const std::vector<bool>& sources)>;

class Traffic {
 public:
  /// `others[i]` is job i + 1.
  Traffic(const std::vector<OnOffSource>& sources, std::vector<IterationProfile> others, Slowdown slowdown);

  /// When our collective is over that begins at `begin` and takes `alone` on a quiet network. What begins before time
  /// has come this far meets the traffic of now.
  Seconds carry(const Party& ours, Seconds begin, Seconds alone);

  /// The mean iteration of every other job so far, or of its first where that is not over.
  std::vector<Seconds> iterations_of_others();
  [[nodiscard]] std::vector<Seconds> iterations_alone() const;

 private:
  struct Source {
    OnOffSource of;
    bool is_on;
    Seconds change;
    std::uint64_t draws;
  };
  struct Job {
    IterationProfile alone;
    std::size_t turn = 0;  // the collective that is under way or next
    bool is_sending = false;
    double left = 0;     // of that collective
    Seconds wake;        // when it begins, or the iteration is over after the last
    Seconds start;       // of the iteration
    int iterations = 0;  // that are over
    Seconds over;        // the last of them
  };
  struct Own {
    Party party;
    Seconds alone;
    double left = 1;
  };
  /// Who is under way, and how long each has left at this pace.
  struct Pace {
    std::vector<Party> parties;
    std::vector<std::size_t> jobs;  // of the parties; ours is the first where there is one
    std::vector<Seconds> left;
  };

  void go_on_to(Seconds until, Own* own);
  [[nodiscard]] Pace pace_of(const Own* own) const;
  [[nodiscard]] Seconds next_change(const Pace& pace) const;
  void spend(Seconds moment, const Pace& pace, Own* own);
  void change_what_is_due();
  static Seconds stretch(Source& source);
  void wake_up(Job& job) const;
  void end_turn(Job& job) const;
  static double draw(Source& source);

  std::vector<Source> sources_;
  std::vector<Job> jobs_;
  Slowdown slowdown_;
  Seconds now_;
};

/// A clock of our collectives of one operation, beside the traffic. `quiet`: without it.
std::unique_ptr<CollectiveClock> make_traffic_clock(std::shared_ptr<Traffic> traffic, Operation operation,
                                                    std::unique_ptr<CollectiveClock> quiet);

}  // namespace farandole
