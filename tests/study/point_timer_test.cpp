// A point that hangs costs itself, not its study.
#include "study/point_timer.hpp"

#include <atomic>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "study/team.hpp"

namespace farandole::point_timer_test { namespace {

[[noreturn]] void hang() {
  while (true) ::pause();
}

TEST(PointTimer, EndsTheWorkerOfAPointThatHangsAndTheOthersAreRun) {
  const Work work = [](std::size_t task) -> std::string {
    const PointTimer timer(Seconds(0.2), PointTimer::Where::worker);
    if (task == 1) hang();
    return "done";
  };
  std::map<std::size_t, Outcome> outcomes;
  run_in_processes({0, 1, 2, 3}, 2, work, [&](std::size_t task, const Outcome& outcome) { outcomes[task] = outcome; });
  ASSERT_EQ(outcomes.size(), 4U);
  for (const auto& [task, outcome] : outcomes) {
    EXPECT_EQ(outcome.kind, task == 1 ? Outcome::Kind::failed : Outcome::Kind::done);
    EXPECT_EQ(outcome.text, task == 1 ? "it took longer than --point-timeout allows" : "done");
  }
}

TEST(PointTimer, IsOverWithItsPoint) {
  const Work work = [](std::size_t /*task*/) -> std::string {
    { const PointTimer timer(Seconds(0.05), PointTimer::Where::worker); }
    ::usleep(200'000);
    return "done";
  };
  run_in_processes({0, 1}, 2, work, [&](std::size_t, const Outcome& outcome) { EXPECT_EQ(outcome.text, "done"); });
}

TEST(PointTimer, EndsAProgramWithOneLineAndStatus1) {
  const auto point = [] {
    const PointTimer timer(Seconds(0.05), PointTimer::Where::program);
    hang();
  };
  EXPECT_EXIT(point(), testing::ExitedWithCode(1), "^farandole: a point took longer than --point-timeout allows\n$");
}

[[noreturn]] void work_for_ever() {
  for (std::atomic<int> turns = 0;; ++turns) {
  }
}

TEST(PointTimer, RefusesWhatTakesMoreOfAProcessorThanItsBudgetButNotWhatWaits) {
  end_beyond(Seconds(0.1), "s.json");
  const std::string refusal =
      "s.json: expected what a --budget of 100 ms allows, got a point that takes more time of a processor; --budget "
      "\"1 s\" lets it go on";
  const auto point = [](bool works) {
    const PointTimer timer(Seconds::infinity(), PointTimer::Where::program);
    if (works) work_for_ever();
    ::usleep(300'000);
    ::_exit(0);
  };
  EXPECT_EXIT(point(true), testing::ExitedWithCode(2), "^" + refusal + "\n$");
  EXPECT_EXIT(point(false), testing::ExitedWithCode(0), "^$");
  const Work work = [](std::size_t task) -> std::string {
    const PointTimer timer(Seconds::infinity(), PointTimer::Where::worker);
    if (task == 1) work_for_ever();
    return "done";
  };
  std::map<std::size_t, Outcome> outcomes;
  run_in_processes({0, 1, 2}, 1, work, [&](std::size_t task, const Outcome& outcome) { outcomes[task] = outcome; });
  EXPECT_EQ(outcomes.at(0).text, "done");
  EXPECT_EQ(outcomes.at(1).kind, Outcome::Kind::bad_input);
  EXPECT_EQ(outcomes.at(1).text, refusal);
  EXPECT_EQ(outcomes.at(2).text, "done");
  end_beyond(Seconds::infinity(), "");
}

}}  // namespace farandole::point_timer_test
