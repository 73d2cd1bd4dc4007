// farandole place: what it says of placements is what each gives by hand, and the mean is that of its draws.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::place_command_test { namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* scenario = R"({"name": "vgg", "workload": {"model": "vgg16", "batch_per_rank": 32},
  "platform": {"topology": "roce25-4xp100", "ranks": 32, "placement": {"order": "by_node"}}, "strategy": {"kind": "ddp"},
  "measure": {"iterations": 2, "warmup": 1}})";
constexpr const char* switched = " --nodes-per-switch 4 --nodes 32 --oversubscription 8 --draws 6 ";

class Place : public testing::Test {
 protected:
  Place() { place.write("s.json", scenario); }

  Json asked(const std::string& options) {
    const test::Finished done = place.farandole("place s.json --format json " + options);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }
  double by_hand(const Json& set, const Json& nodes = {}) {
    std::string line = "run s.json --format json --quiet";
    for (const auto& [pointer, given] : set.items()) {
      Json value = given;
      if (pointer == "/platform/placement" && !nodes.is_null()) value["nodes"] = nodes;
      line += " --set '" + pointer + "=" + value.dump() + "'";
    }
    const test::Finished done = place.farandole(line);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out).at("points").at(0).at("iteration_seconds");
  }
  static double mean(const Json& expected) {
    double sum = 0;
    for (const Json& draw : expected.at("draws")) sum += draw.at("iteration_seconds").get<double>();
    return sum / static_cast<double>(expected.at("draws").size());
  }
  static double seconds(const Json& placed) { return placed.at("point").at("iteration_seconds"); }

  const test::Workplace place;
};

TEST_F(Place, ExpectsTheMeanOfItsDrawsWhichLiesBetweenBestAndWorst) {
  const Json answer = asked(switched);
  ASSERT_EQ(answer.at("expected").at("draws").size(), 6U);
  const double expected = mean(answer.at("expected"));
  EXPECT_NEAR(answer.at("expected").at("iteration_seconds").get<double>(), expected, 1e-12);
  EXPECT_LE(seconds(answer.at("best")), expected);
  EXPECT_LE(expected, seconds(answer.at("worst")));
  EXPECT_LT(seconds(answer.at("best")), seconds(answer.at("worst"))) << "8:1 between switches is felt";
  for (const Json& one : answer.at("asked"))
    EXPECT_NEAR(one.at("expected").at("iteration_seconds").get<double>(), mean(one.at("expected")), 1e-12);
}

TEST_F(Place, GivesWhatItsOptionsGiveByHand) {
  const Json answer = asked(switched);
  for (const char* which : {"best", "worst"}) {
    const Json set = answer.at(which).at("set");
    EXPECT_EQ(set.at("/platform/placement").at("order"), "by_node") << "the scenario's own";
    EXPECT_DOUBLE_EQ(by_hand(set), seconds(answer.at(which))) << which;
  }
  const Json draw = answer.at("expected").at("draws").at(2);
  EXPECT_DOUBLE_EQ(by_hand(answer.at("best").at("set"), draw.at("nodes")), draw.at("iteration_seconds"));
}

TEST_F(Place, IsNeverFasterWithMoreOfOtherJobs) {
  double best = 0;
  double expected = 0;
  for (const char* others : {"0 %", "40 %", "80 %"}) {
    const Json answer = asked(std::string(switched) + "--others '" + others + "'");
    EXPECT_GE(seconds(answer.at("best")), best * (1 - 1e-9)) << others;
    EXPECT_GE(answer.at("expected").at("iteration_seconds").get<double>(), expected * (1 - 1e-9)) << others;
    best = seconds(answer.at("best"));
    expected = answer.at("expected").at("iteration_seconds");
  }
}

TEST_F(Place, AsksForNoMoreSwitchesThanItSays) {
  const Json answer = asked(switched);
  ASSERT_EQ(answer.at("asked").size(), 2U) << "8 nodes fit under 2 switches; then 4, of 8";
  for (const Json& one : answer.at("asked")) {
    for (const Json& draw : one.at("expected").at("draws")) {
      std::set<int> switches;
      for (const int node : draw.at("nodes")) switches.insert(node / 4);
      EXPECT_LE(switches.size(), one.at("switches").get<std::size_t>());
    }
  }
}

TEST_F(Place, ReadsTwoAndThreeLevelsOfSlurmsSwitches) {
  place.write("two.conf",
              "# ours\nSwitchName=a Nodes=n[1-4],x7 LinkSpeed=1\nSwitchName=b Nodes=n[5-8]\nswitchname=top \\\n  "
              "Switches=a,b\n");
  const Json two = asked("--topology-conf two.conf --draws 2 --set /platform/ranks=16");
  EXPECT_EQ(two.at("switches"), 2);
  EXPECT_EQ(two.at("of_nodes"), 9);
  place.write("three.conf",
              "SwitchName=l0 Nodes=n[00-03]\nSwitchName=l1 Nodes=n[04-07]\nSwitchName=l2 Nodes=n[08-11]\n"
              "SwitchName=p0 Switches=l[0-1]\nSwitchName=p1 Switches=l2\nSwitchName=top Switches=p[0-1]\n");
  const Json three = asked("--topology-conf three.conf --draws 2 --oversubscription 2,4 --set /platform/ranks=16");
  EXPECT_EQ(three.at("switches"), 3);
  const Json levels = three.at("best").at("set").at("/platform/override").at("/network").at("levels");
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels.at(1).at("link").at("rate"), "50 Gbit/s") << "4 nodes of 25 Gbit/s, 2:1";
  EXPECT_EQ(levels.at(2).at("link").at("rate"), "25 Gbit/s") << "2 leaves of 50 Gbit/s, 4:1";
}

TEST_F(Place, RefusesWhatIsNoTreeOfSwitches) {
  const auto refused = [&](const std::string& text) {
    place.write("bad.conf", text);
    const test::Finished done = place.farandole("place s.json --topology-conf bad.conf");
    EXPECT_EQ(done.status, 2) << text;
    return done.err;
  };
  EXPECT_THAT(refused("SwitchName=a Nodes=n[1-\n"), HasSubstr("bad.conf:1: expected names such as node[01-16,20]"));
  EXPECT_THAT(refused("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n"), HasSubstr("each node under one switch"));
  EXPECT_THAT(refused("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"), HasSubstr("one switch above all others"));
  EXPECT_THAT(refused("SwitchName=a Switches=b\nSwitchName=b Switches=a\n"), HasSubstr("circle"));
  EXPECT_THAT(
      refused("SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=b\nSwitchName=d Switches=c\n"),
      HasSubstr("at most three levels"));
  EXPECT_THAT(refused("BlockName=b1 Nodes=n[1-4]\n"), HasSubstr("SwitchName=..., as topology/tree has it"));
  EXPECT_THAT(refused(""), HasSubstr("lines SwitchName="));
}

TEST_F(Place, SaysWhereThereIsNothingToChoose) {
  EXPECT_THAT(place.farandole("place s.json --nodes-per-switch 4 --nodes 8").out,
              HasSubstr("nothing to choose: the job takes all nodes"));
  EXPECT_THAT(place.farandole("place s.json --set /platform/ranks=4").out, HasSubstr("nothing to choose: one node"));
  EXPECT_THAT(place.farandole("place s.json --nodes-per-switch 64 --nodes 64").out,
              HasSubstr("nothing to choose: all nodes stand under one"));
}

TEST_F(Place, RefusesWhatIsWrong) {
  for (const auto& [options, words] :
       std::map<std::string, std::string>{{"--nodes-per-switch 4 --nodes 4", "at most the 4 nodes of the machine"},
                                          {"--others '100 %'", "--others: expected a share from 0 % to below 100 %"},
                                          {"--oversubscription half", "--oversubscription: expected a number from 1"},
                                          {"--nodes 65537", "--nodes: expected a whole number of at most 65,536"},
                                          {"--draws 0", "--draws: expected a whole number of at least 1"},
                                          {"--format csv", "--format: expected table or json"}}) {
    const test::Finished done = place.farandole("place s.json " + options);
    EXPECT_EQ(done.status, 2) << options;
    EXPECT_THAT(done.err, HasSubstr(words));
  }
}

/// The sweep over placements is none of the scenario's: draws are what can be changed.
TEST_F(Place, BlamesItsDrawsWhereTheyAreBeyondTheBudget) {
  const test::Finished done = place.farandole(
      "place s.json --nodes-per-switch 4 --nodes 32 --draws 5000 --set /measure/iterations=100 --budget '2 s'");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, testing::StartsWith("farandole: --draws: expected what a --budget of 2 s allows, got "));
  EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
}

TEST_F(Place, AnswersInTheFormOfItsSchemaAndOnAPage) {
  EXPECT_EQ(place.farandole("place s.json --format json --output a.json --html a.html --draws 2").status, 0);
  EXPECT_EQ(place.farandole("check a.json").out, "a.json: place_answer, ok\n");
  std::string text = test::contents(place.folder() / "a.json");
  place.write("b.json", text.replace(text.find("\"worst\""), 7, "\"wrost\""));
  EXPECT_THAT(place.farandole("check b.json").err, HasSubstr("worst"));
  EXPECT_THAT(test::contents(place.folder() / "a.html"), HasSubstr("What asking for switches is worth"));
}

TEST_F(Place, SaysWhatItAssumesAndHowToTryIt) {
  const std::string text = place.farandole("place s.json --draws 2").out;
  EXPECT_THAT(text, HasSubstr("# assumed: 16 nodes under a switch"));
  EXPECT_THAT(text, HasSubstr("# assumed: no oversubscription"));
  EXPECT_THAT(text,
              HasSubstr("# best: --set '/platform/placement={\"order\":\"by_node\",\"nodes\":[0,1,2,3,4,5,6,7]}'"));
}

}}  // namespace farandole::place_command_test
