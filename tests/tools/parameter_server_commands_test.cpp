// Parameter servers and unequal contributions on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::parameter_server_commands_test { namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr double gigabytes_per_second = 25e9 / 8;
constexpr double latency = 2e-6;

json first_point(const std::string& arguments) {
  const Finished finished = Workplace().farandole("collective --topology ethernet-25g --format json " + arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return json::parse(finished.out).at("points").at(0);
}

double seconds(const std::string& arguments) {
  return first_point(arguments).at("seconds").get<double>();
}

std::string refusal(const std::string& arguments) {
  const Finished finished = Workplace().farandole("collective --topology ethernet-25g " + arguments);
  EXPECT_EQ(finished.status, 2) << finished.out;
  return finished.err;
}

TEST(ParameterServerCommand, SaysHowManyServersThereAre) {
  const std::string server = "--op parameter_server -b 1M -e 1M --ranks 6 --algorithm ";
  EXPECT_EQ(first_point(server + "dedicated").at("servers"), 1);
  EXPECT_EQ(first_point(server + "dedicated --servers 2").at("servers"), 2);
  EXPECT_EQ(first_point(server + "colocated").at("servers"), 6);
  EXPECT_EQ(first_point(server + "colocated --servers 2").at("servers"), 2);
  EXPECT_EQ(first_point("--op allreduce -b 1M -e 1M --ranks 6").at("servers"), 0);
}

TEST(ParameterServerCommand, CountsServersAmongTheRanks) {
  // One server, 5 workers: 2 (L + 5 M / B).
  EXPECT_NEAR(seconds("--op parameter_server --algorithm dedicated -b 8M -e 8M --ranks 6"),
              2 * (latency + 5 * 8388608 / gigabytes_per_second), 1e-12);
}

TEST(ParameterServerCommand, CutsShardsIntoKeysOf256KiBOrWhatIsAskedFor) {
  // K = 4 MiB / 2 servers / 256 KiB = 8: (K + 1) (L + 4 workers 256 KiB / B).
  const std::string keys = "--op parameter_server -b 4M -e 4M --servers 2 --ranks 6 --algorithm ";
  const double expected = 9 * (latency + 4 * 262144 / gigabytes_per_second);
  EXPECT_NEAR(seconds(keys + "dedicated_keys"), expected, 1e-12);
  EXPECT_NEAR(seconds(keys + "dedicated --key 256K"), expected, 1e-12);
  EXPECT_NEAR(seconds(keys + "dedicated --segments 8"), expected, 1e-12);
}

TEST(ParameterServerCommand, PlacesTheTensorsOfAModel) {
  const std::string vgg16 = "--op parameter_server --algorithm dedicated --ranks 12 --servers 4 --model vgg16 ";
  EXPECT_EQ(first_point(vgg16).at("bytes"), 553430176);
  // fc6 stays whole: by size, the server that has it has little else, and all 8 workers push it there.
  const double fc6 = 25088.0 * 4096 * 4;
  const double least = 2 * 8 * fc6 / gigabytes_per_second;
  EXPECT_GT(seconds(vgg16 + "--sharding by_size"), least);
  EXPECT_LT(seconds(vgg16 + "--sharding by_size"), 1.1 * least);
  EXPECT_GT(seconds(vgg16 + "--sharding round_robin"), seconds(vgg16 + "--sharding by_size"));
  EXPECT_NEAR(seconds(vgg16 + "--sharding even"), 2 * (latency + 8 * 553430176.0 / 4 / gigabytes_per_second), 1e-9);
}

TEST(ParameterServerCommand, HasALatencyPerTensorWhereTensorsAreMessages) {
  // VGG-16 has 32 tensors: 31 messages more each way on the one server.
  const std::string vgg16 = "--op parameter_server --algorithm dedicated --ranks 3 --model vgg16 ";
  EXPECT_NEAR(seconds(vgg16 + "--messages per_tensor") - seconds(vgg16), 2 * 31 * latency, 1e-9);
}

TEST(ParameterServerCommand, RefusesWhatDoesNotFitWithTheNearestName) {
  const std::string server = "--op parameter_server --ranks 4 ";
  EXPECT_THAT(refusal(server + "--algorithm dedicatd"), HasSubstr("did you mean \"dedicated\"?"));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --servers 4"), HasSubstr("--servers: expected at most 3"));
  EXPECT_THAT(refusal(server + "--algorithm colocated --servers 5"), HasSubstr("--servers: expected at most 4"));
  EXPECT_THAT(refusal("--ranks 4 --servers 2"), HasSubstr("no servers, for an algorithm of allreduce"));
  EXPECT_THAT(refusal("--ranks 4 --model vgg16"), HasSubstr("no --model for allreduce"));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --model vgg111"), HasSubstr("did you mean \"vgg11\"?"));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --model vgg16/torchvison"), HasSubstr("\"torchvision\""));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --model vgg16 --sharding by_siz"), HasSubstr("\"by_size\""));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --sharding by_size"), HasSubstr("a --model"));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --messages per_tensor"), HasSubstr("--messages"));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --messages per_tenser"), HasSubstr("\"per_tensor\""));
  EXPECT_THAT(refusal(server + "--algorithm dedicated --key 0"), HasSubstr("at least a byte"));
}

TEST(ShowCommand, DrawsParameterServers) {
  const Finished finished =
      Workplace().farandole("show algorithm dedicated --op parameter_server --ranks 5 --servers 2");
  EXPECT_THAT(finished.out, HasSubstr("rank 4 sends segment 1 to rank 1, which adds it"));
  EXPECT_THAT(finished.out, HasSubstr("rank 1 holds 1{2+3+4}"));
}

TEST(ShowCommand, DrawsTheRingThatPassesWholeArraysOn) {
  const Workplace place;
  const Finished finished = place.farandole("show algorithm plain_ring --op allreduce --ranks 4");
  EXPECT_THAT(finished.out, HasSubstr("which adds it and keeps it to pass on"));
  EXPECT_THAT(finished.out, HasSubstr("rank 0 holds 0{0+3} 1{3}"));
  EXPECT_THAT(place.farandole("show algorithm plain_ring --ranks 4 --format svg").out, HasSubstr("round 3 of 3"));
}

TEST(UnequalContributions, AreTimedAtAllFidelities) {
  // Rank 1 of 4 contributes all 4 MB to an allgather around a ring: three hops of it.
  for (const std::string fidelity : {"analytic", "flow", "message"}) {
    EXPECT_NEAR(
        seconds("--op allgather -b 4000000 -e 4000000 --ranks 4 --contributions 0,1,0,0 --fidelity " + fidelity),
        3 * (latency + 4e6 / gigabytes_per_second), 1e-12);
    // Direct alltoall of 3 ranks: only rank 0 sends, 3 MB to each of the other two, over its one link.
    EXPECT_NEAR(seconds("--op alltoall --algorithm direct -b 3000000 -e 3000000 --ranks 3 --contributions 1,0,0 "
                        "--fidelity " +
                        fidelity),
                latency + 6e6 / gigabytes_per_second, 1e-12);
    EXPECT_NEAR(seconds("--op alltoall --algorithm direct -b 3000000 -e 3000000 --ranks 3 --contributions "
                        "0,1,0,0,0,0,0,0,0 --fidelity " +
                        fidelity),
                latency + 9e6 / gigabytes_per_second, 1e-12);
  }
}

TEST(AlgorithmFromAFile, TakesNoOptionsThatItWouldNotHeed) {
  const Workplace place;
  place.write("pair.json",
              R"({"name": "pair", "op": "allreduce", "ranks": 2, "chunks": 1, "phases": [{"name": "exchange",
    "transfers": [{"from": 0, "to": 1, "chunk": 0, "action": "reduce"},
                  {"from": 1, "to": 0, "chunk": 0, "action": "reduce"}]}]})");
  for (const std::string option : {"--servers 1", "--key 1K", "--contributions 1,2", "--messages per_tensor"}) {
    const Finished finished =
        place.farandole("collective --topology ethernet-25g --ranks 2 --algorithm pair.json " + option);
    EXPECT_EQ(finished.status, 2) << option;
    EXPECT_THAT(finished.err, HasSubstr("for an algorithm from a file")) << option;
  }
}

TEST(UnequalContributions, AreRefusedWhereTheyDoNotFit) {
  EXPECT_THAT(refusal("--op allgather --ranks 4 --contributions 1,2,3"),
              HasSubstr("one number for each of 4 ranks, got \"3 numbers: 1,2,3\""));
  EXPECT_THAT(refusal("--op alltoall --algorithm direct --ranks 3 --contributions 1,2"),
              HasSubstr("one number for each of 3 ranks, or one for each of 9 pairs"));
  EXPECT_THAT(refusal("--op allreduce --ranks 2 --contributions 1,2"), HasSubstr("contribute alike to allreduce"));
  EXPECT_THAT(refusal("--op allgather --ranks 2 --contributions 1,x"), HasSubstr("got \"x\""));
  EXPECT_THAT(refusal("--op allgather --ranks 2 --contributions 1,-1"), HasSubstr("at least 0"));
  EXPECT_THAT(refusal("--op allgather --ranks 2 --contributions 0,0"), HasSubstr("at least one above 0"));
}

}}  // namespace farandole::test::parameter_server_commands_test
