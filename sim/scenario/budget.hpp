// What a run takes to simulate, estimated from its plan, and the budget that it must keep to.
//
// One number that is far too large (iterations, seeds, points of a sweep, ranks, messages) would fill the memory or run
// for ever. It is refused before anything is allocated for it, by name, with what would allow it. The estimate is of
// one processor's time, so that a refusal does not depend on the machine or on --jobs, and of what such numbers tell;
// what takes more than the budget all the same is ended as it runs (study/point_timer.hpp). Called by plans of `run`
// and by `collective`.
#pragma once

#include <span>
#include <string>

#include "collective/schedule.hpp"
#include "config/text.hpp"
#include "scenario/scenario.hpp"
#include "simulate/routed_schedule.hpp"
#include "units/count.hpp"

namespace farandole { inline namespace scenario {

struct Budget {
  Seconds time = Seconds::infinity();  // of one processor, for all points together
  Bytes memory = Bytes::infinity();    // of one process

  [[nodiscard]] bool is_limited() const { return time < Seconds::infinity() || memory < Bytes::infinity(); }
};

/// "20 ms", "30 s", "5 min", "3 h": rounded up.
std::string about(Seconds time);

constexpr const char* default_budget = "30 s, 1 GiB";

/// "30 s, 1 GiB", "10 min" or "4 GiB": what is left out is as in the default. Fails at `where` otherwise.
Budget read_budget(const Value& where);

/// What something takes, and the number that most of it comes from.
struct Cost {
  Seconds time;
  Bytes memory;
  std::string pointer;  // of that number; empty: the place that is blamed
  std::string what;     // "1,000,000 iterations"
};

/// One point: all its runs and seeds.
Cost cost_of(const Scenario& scenario);

/// Whether ranks are known to be alike in every round, before any way is worked out.
bool are_alike(RoutedSchedule unrouted, Fidelity fidelity);

/// What a schedule is worked out with.
struct Workings {
  Fidelity fidelity;
  bool folds;           // where it may
  bool alike;           // it may, and ranks are known to be alike in every round (simulate/folding/moves.hpp)
  bool to_all = false;  // what every rank sends to all others at once is sent one by one where ranks are not alike
  // Links on the way of each, where what is alike of all that is sent to many is found among all of it.
  std::size_t coloured = 0;
};

/// A schedule of these sizes, one after the other.
Cost cost_of(const Schedule& schedule, std::span<const Bytes> sizes, const Workings& workings);

/// InputError at `place`, with the pointer of the cost where it has one: "expected what --budget "30 s, 1 GiB" allows,
/// got 1,000,000 iterations, about 5 min of one processor; --budget "5 min" allows it".
void require_within(const Budget& budget, const Cost& cost, Place place);

/// The same of so many ranks, before there is anything for each. More than any platform has are left to the placement,
/// which refuses them whatever the budget.
void require_ranks_within(const Budget& budget, Count ranks, const Place& place);

/// What the points of a plan take together, counted while they are read.
class Expenses {
 public:
  /// `evaluations`: how often such plans are run; `shards`: that share the points out, each with a budget of its own. A
  /// point is one shard's.
  Expenses(const Budget& budget, int evaluations, int shards)
      : budget_(budget), of_all_{budget.time * shards, budget.memory}, evaluations_(evaluations) {}

  /// Before they are read. Fails at the document's sweep, or at its ranks.
  void expect_points(const Document& document, Count points) const;
  void expect_ranks(const Document& document, const TextReader& read_file) const;
  /// One more point. Fails at what makes it too large, or at the sweep.
  void add(const Scenario& scenario, const Document& document);

 private:
  void expect_inference(const Document& document) const;

  Budget budget_;
  Budget of_all_;
  int evaluations_;
  Seconds sum_;
  int points_ = 0;
};

}}  // namespace farandole::scenario
