// Work on many processes: every task once, and a crash costs one.
#include <csignal>
#include <map>
#include <numeric>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.hpp"
#include "study/team.hpp"

namespace farandole::process_pool_test { namespace {

using testing::HasSubstr;
using Kind = Outcome::Kind;

std::map<std::size_t, Outcome> outcomes_of(std::size_t tasks, int processes, const Work& work) {
  std::vector<std::size_t> all(tasks);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::map<std::size_t, Outcome> outcomes;
  run_in_processes(all, processes, work, [&](std::size_t task, const Outcome& outcome) {
    EXPECT_TRUE(outcomes.emplace(task, outcome).second) << "task " << task << " came twice";
  });
  return outcomes;
}

TEST(ProcessPool, DoesEveryTaskOnceWhateverTheNumberOfProcesses) {
  for (const int processes : {1, 2, 7, 64}) {
    const auto outcomes = outcomes_of(50, processes, [](std::size_t task) { return std::string(task * 1000, 'x'); });
    ASSERT_EQ(outcomes.size(), 50U);
    for (const auto& [task, outcome] : outcomes) EXPECT_EQ(outcome.text.size(), task * 1000);
  }
}

TEST(ProcessPool, DoesNothingWhereThereIsNothingToDo) {
  EXPECT_TRUE(outcomes_of(0, 4, [](std::size_t) { return ""; }).empty());
}

TEST(ProcessPool, ReportsACrashAsThatTasksFailureAndFinishesTheOthers) {
  const auto outcomes = outcomes_of(20, 2, [](std::size_t task) {
    if (task % 5 == 3) ::raise(SIGKILL);
    return std::string("done");
  });
  ASSERT_EQ(outcomes.size(), 20U);
  for (const auto& [task, outcome] : outcomes) {
    EXPECT_EQ(outcome.kind, task % 5 == 3 ? Kind::failed : Kind::done) << task;
  }
  EXPECT_THAT(outcomes.at(3).text, HasSubstr("signal 9"));
}

TEST(ProcessPool, TellsBadInputFromOtherExceptions) {
  const auto outcomes = outcomes_of(2, 2, [](std::size_t task) -> std::string {
    if (task == 0) throw InputError("a.json: expected b");
    throw std::runtime_error("broken");
  });
  EXPECT_EQ(outcomes.at(0).kind, Kind::bad_input);
  EXPECT_EQ(outcomes.at(0).text, "a.json: expected b");
  EXPECT_EQ(outcomes.at(1).kind, Kind::failed);
}

TEST(ProcessPool, EndsItsWorkersWhereTheReceiverThrows) {
  const auto run = [] {
    run_in_processes(
        {0, 1, 2}, 2,
        [](std::size_t task) {
          if (task > 0) ::pause();
          return std::string();
        },
        [](std::size_t, const Outcome&) { throw std::runtime_error("the disk is full"); });
  };
  EXPECT_THROW(run(), std::runtime_error);
}

}}  // namespace farandole::process_pool_test
