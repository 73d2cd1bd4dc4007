// Launch lines as they really arrive: quoted, wrapped, contradictory, wrong.
#include <gmock/gmock.h>

#include "platform/launch_samples.hpp"

namespace farandole::nasty_launch_line_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(LaunchLine, UnderstandsQuotesAndEscapesAsAShellDoes) {
  const auto line =
      line_of(R"(mpirun -np '4' -x "HOROVOD_TIMELINE=/a \"b\" $c.json" -H "a:2",b':'2 -x HOROVOD_X=a\ b x)");
  EXPECT_EQ(line.ranks, 4);
  EXPECT_THAT(hosts_of(line), ElementsAre("a:2", "b:2"));
  EXPECT_THAT(line.environment, ElementsAre(Pair("HOROVOD_TIMELINE", "/a \"b\" $c.json"), Pair("HOROVOD_X", "a b")));
}

TEST(LaunchLine, ForgivesWindowsLineEndsCommentsAndABackslashAtTheEnd) {
  const auto line = line_of("# two servers\r\nmpirun -np 2 \\\r\n\t-H a,b \\\r\n x # and run\\");
  EXPECT_EQ(line.ranks, 2);
  EXPECT_THAT(hosts_of(line), ElementsAre("a:1", "b:1"));
  EXPECT_EQ(line_of("mpirun -np 2 x \\").ranks, 2);
  EXPECT_EQ(line_of("mpirun -np 2 \\ \t ").ranks, 2);
}

TEST(LaunchLine, JoinsAWordThatABackslashBreaksInTwo) {
  EXPECT_THAT(hosts_of(line_of("mpirun -H server1:4,\\\nserver2:4 x")), ElementsAre("server1:4", "server2:4"));
}

TEST(LaunchLine, AddsUpAHostThatIsListedTwice) {
  EXPECT_THAT(hosts_of(line_of("mpirun -H a,b,a -H b:3 x")), ElementsAre("a:2", "b:4"));
}

// 512 times 2^22 is 2^31, which an int does not hold.
TEST(LaunchLine, RefusesAHostWithMoreSlotsThanAnyMachineHas) {
  std::string hosts = "a:4194304";
  for (int again = 1; again < 512; ++again) hosts += ",a:4194304";
  EXPECT_THAT(refusal_of("mpirun -np 2 -H " + hosts + " x"),
              HasSubstr("expected at most 4194304 slots of a host, got \"a:8388608\""));
}

TEST(LaunchLine, WithoutRanksTakesAllSlotsOfTheHosts) {
  EXPECT_EQ(line_of("mpirun -H a:4,b:4 x").ranks, 8);
  EXPECT_EQ(line_of("horovodrun -H a:4,b x").ranks, 5);
}

TEST(LaunchLine, ReadsNothingAfterTheProgram) {
  const auto line = line_of("mpirun -np 2 python -np 7 -x HOROVOD_CYCLE_TIME=1");
  EXPECT_EQ(line.ranks, 2);
  EXPECT_TRUE(line.environment.empty());
  EXPECT_EQ(line_of("mpirun -np 2 -- -np 7").ranks, 2);
  EXPECT_EQ(line_of("mpirun -np 2").ranks, 2);
}

TEST(LaunchLine, TheLastSettingOfAVariableCounts) {
  EXPECT_THAT(line_of("HOROVOD_CYCLE_TIME=1 horovodrun -np 2 --cycle-time-ms 2 x").environment,
              ElementsAre(Pair("HOROVOD_CYCLE_TIME", "2")));
  EXPECT_THAT(line_of("env HOROVOD_CYCLE_TIME= horovodrun -np 2 x").environment,
              ElementsAre(Pair("HOROVOD_CYCLE_TIME", "")));
}

struct Wrong {
  const char* line;
  const char* message;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.line;
}

class WrongLaunchLine : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLaunchLine, IsRefusedInClearWords) {
  EXPECT_THAT(refusal_of(GetParam().line), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongLaunchLine,
    testing::Values(
        Wrong{"", "got no launcher"}, Wrong{" \n", "got no launcher"}, Wrong{"$", "got no launcher"},
        Wrong{"A=1", "got no launcher"},
        Wrong{"python train.py", "horovodrun, mpirun, mpiexec or aprun, got \"python\""},
        Wrong{"horovodrun --gloo x", "got a line of horovodrun without it"},
        Wrong{"aprun -N 4 x", "expected the number of ranks after -n, got a line of aprun without it"},
        Wrong{"mpirun -np", "expected an argument after -np, got the end of the launch line"},
        Wrong{"mpirun -np 4 -mca btl", "expected an argument after -mca"},
        Wrong{"mpirun -np four x", "after -np, got \"four\""}, Wrong{"mpirun -np 0 x", "from 1 to"},
        Wrong{"mpirun -np -4 x", "got \"-4\""}, Wrong{"mpirun -np 4.0 x", "got \"4.0\""},
        Wrong{"mpirun -np $NP x", "got \"$NP\""}, Wrong{"mpirun -np 99999999999 x", "from 1 to"},
        Wrong{"mpirun -np '' x", "got \"\""}, Wrong{"horovodrun -np16 x", "got \"-np16\"; did you mean \"-np 16\"?"},
        Wrong{"mpirun -np16 x", "got \"-np16\"; did you mean \"-np 16\"?"},
        Wrong{"mpirun -np 2 -np 4 x", "expected one value for -np, got 2 and 4"},
        Wrong{"horovodrun -np 2 --cycle-time 5 x", "expected an option of horovodrun, got \"--cycle-time\""},
        Wrong{"horovodrun -np 2 --cycle-time-sm 5 x", "did you mean \"--cycle-time-ms\"?"},
        Wrong{"mpirun -np 2 -- \u2013np 4 x", "expected options that begin with \"-\""},
        Wrong{"mpirun -np 2 --hots a x", "got \"--hots\"; did you mean \"--host\"?"},
        Wrong{"horovodrun -np 2 --cycle-time-ms fast x", "expected a number after --cycle-time-ms, got \"fast\""},
        Wrong{"horovodrun -np 2 --cycle-time-ms inf x", "expected a number"},
        Wrong{"horovodrun -np 2 --cycle-time-ms -1 x", "expected a number"},
        Wrong{"horovodrun -np 2 --fusion-threshold-mb 1.5 x", "expected a whole number of MiB"},
        Wrong{"horovodrun -np 2 --gloo=yes x", "expected no argument of --gloo, got \"yes\""},
        Wrong{"mpirun -np 9 -H a:4,b:4 x", "expected at most 8 ranks, one per slot of the hosts, got 9"},
        Wrong{"mpirun -np 4 -H a,b x", "a host without \":SLOTS\" has one slot"},
        Wrong{"mpirun -np 4 -H a:4,,b x", "expected a host's name in -H"},
        Wrong{"mpirun -np 4 -H a:4, b:4 x", "expected a host's name in -H, got \"a:4,\""},
        Wrong{"mpirun -np 4 -H :4 x", "expected a host's name"}, Wrong{"mpirun -np 4 -H a: x", "HOST:SLOTS"},
        Wrong{"mpirun -np 4 -H a:0 x", "at least one slot"}, Wrong{"mpirun -np 4 -H a:x x", "got \"a:x\""},
        Wrong{"mpirun -np 4 -H fe80::1 x", "HOST:SLOTS"}, Wrong{"mpirun -np 4 -H a:-4 x", "got \"a:-4\""},
        Wrong{"mpirun -np 8 -npernode 4 -H a:2,b:2 x", "slots for 4 ranks per node, got \"a:2\""},
        Wrong{"mpirun -np 8 --map-by ppr:2:socket x", "how many ranks each node gets, got \"--map-by ppr:2:socket\""},
        Wrong{"mpirun -np 8 --map-by ppr x", "how many ranks each node gets"},
        Wrong{"mpirun -np 8 -rf ranks.txt x", "got \"-rf ranks.txt\""},
        Wrong{"mpirun -np 1 a : -np 2 b", "expected one program, got several"},
        Wrong{"mpirun -np 2 -x 'A=1 x", "expected a closing ', got the end of the launch line"},
        Wrong{"mpirun -np 2 \"x", "expected a closing \""},
        Wrong{"mpirun -H a:4 \xe2\x80\x93np 2 x", "expected options that begin with \"-\""}));

}}  // namespace farandole::nasty_launch_line_test
