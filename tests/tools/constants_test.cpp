// Libraries as files: what `show constants` lists of them, and a cluster's own one in a run.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::constants_test { namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

json constants_of(const Workplace& place, const std::string& name) {
  const Finished shown = place.farandole("show constants " + name + " --format json");
  EXPECT_EQ(shown.status, 0) << shown.err;
  return json::parse(shown.out).at("constants");
}

json find(const json& constants, const std::string& pointer) {
  for (const json& constant : constants) {
    if (constant.at("pointer") == pointer) return constant;
  }
  return {};
}

TEST(ShowConstants, SaysOfEveryNumberOfALibraryWhatItIsAndWhereItComesFrom) {
  const Workplace place;
  for (const char* library :
       {"nccl-2.7", "nccl-2.28", "nccl-2.21-tcpxo", "rccl-2.26", "openmpi-4", "mpich-3", "oneccl-2021.16"}) {
    const json constants = constants_of(place, library);
    EXPECT_GT(constants.size(), 8U) << library;
    for (const json& constant : constants) {
      EXPECT_THAT(constant.value("kind", ""), testing::AnyOf("ported", "assumed")) << library << constant;
      EXPECT_NE(constant.value("source", ""), "") << library << constant;
      EXPECT_EQ(constant.contains("range"), constant.value("kind", "") == "assumed") << library << constant;
    }
  }
  // What a release says itself has its own source; what it takes over, the one of where it was written.
  const json newest = constants_of(place, "nccl-2.28");
  EXPECT_EQ(find(newest, "/tree/per_channel/blackwell").at("value"), "70 GB/s, 42.8 GB/s, 24 GB/s");
  EXPECT_THAT(find(newest, "/tree/per_channel/blackwell").at("source"), HasSubstr("v2.28.3-1"));
  EXPECT_THAT(find(newest, "/latency/nvlink/ring").at("source"), HasSubstr("v2.23.4-1"));
  EXPECT_EQ(find(constants_of(place, "nccl-2.7"), "/collnet_rates/before_hopper").at("kind"), "assumed");
}

TEST(ShowConstants, OfTopologiesAndDevicesSaysWhatTheirFilesSayAndNoMore) {
  const Workplace place;
  const json fabric = constants_of(place, "tcp25-4xp100");
  const json fitted = find(fabric, "/node/nic/host_rate");
  EXPECT_EQ(fitted.at("kind"), "fitted");
  EXPECT_EQ(fitted.at("range"), "3.19 GB/s .. 4.64 GB/s");
  EXPECT_FALSE(find(fabric, "/node/nic/rate").contains("kind"));
  const json peak = find(constants_of(place, "v100"), "/peak/fp32");
  EXPECT_EQ(peak.at("value"), "15.7 TFLOP/s");
  EXPECT_THAT(peak.at("source"), HasSubstr("datasheet"));
  EXPECT_FALSE(peak.contains("kind"));
}

TEST(ShowConstants, AsTextHasASourceOnceAboveItsNumbers) {
  const Workplace place;
  const Finished shown = place.farandole("show constants mpich");
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("ported: src/mpi/coll/coll_selection.json\n"),
                               HasSubstr("/decisions/allreduce/0/up_to"), HasSubstr("8 B\n")));
  EXPECT_EQ(shown.out.find("ported"), shown.out.rfind("ported"));
}

TEST(ShowConstants, OfNothingThatIsThereIsRefused) {
  const Workplace place;
  for (const auto& [name, hint] :
       {std::pair("nccl-2.29", "did you mean \"nccl-2."), {"./none.json", "got \"./none.json\""}}) {
    const Finished refused = place.farandole(std::string("show constants ") + name);
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_THAT(refused.err, HasSubstr(hint));
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
}

// What `check` refuses is not listed as if it were right.
TEST(ShowConstants, OfAFileThatIsWrongIsRefused) {
  const Workplace place;
  const auto refusal = [&](const std::string& text) {
    place.write("nccl-bad.json", text);
    const Finished refused = place.farandole("show constants ./nccl-bad.json");
    EXPECT_EQ(refused.status, 2) << refused.out;
    return refused.err;
  };
  const std::string like = R"("name": "nccl-bad", "summary": "s", "source": "s", "like": "nccl-2.28")";
  EXPECT_THAT(refusal(R"({"name": "nccl-bad"})"),
              HasSubstr("expected a \"$schema\" of a library, a topology or a device"));
  EXPECT_THAT(refusal(R"({"$schema": "library.schema.json", )" + like + R"(, "newest": 7})"), HasSubstr("/newest: "));
  EXPECT_THAT(refusal(R"({"$schema": "device.schema.json", "name": "d"})"), HasSubstr("expected a key"));
}

class OwnLibrary : public testing::Test {
 protected:
  OwnLibrary() {
    json topology = json::parse(contents(FARANDOLE_SOURCE_DIR "/topologies/dgx-a100.json"));
    topology["name"] = "t";
    topology["transport"]["library"] = "./nccl-mine.json";
    topology["transport"].erase("library_times");
    place.write("t.json", topology.dump());
    write_library("9.6 us");
  }
  void write_library(const std::string& hop) const {
    place.write("nccl-mine.json",
                R"({"$schema": "library.schema.json", "name": "nccl-mine", "summary": "ours", "source": "a test",
      "like": "nccl-2.10", "latency": {"kind": "fitted", "source": "a test", "network": {"tree": ["5 us", "8.5 us", "28 us"],
      "ring": ["2.7 us", "4 us", ")" +
                    hop + R"("]}}})");
  }
  [[nodiscard]] double seconds(const std::string& topology) const {
    const Finished run =
        place.farandole("collective --topology " + topology +
                        " --ranks 32 -b 1G -e 1G --op reduce_scatter --algorithm library --format json");
    EXPECT_EQ(run.status, 0) << run.err;
    return json::parse(run.out).at("points").at(0).at("seconds");
  }

  Workplace place;
};

TEST_F(OwnLibrary, PicksAndTakesAsItsFileSays) {
  const double as_released = seconds("./t.json");
  EXPECT_EQ(place.farandole("check t.json nccl-mine.json").status, 0);
  write_library("96 us");
  EXPECT_GT(seconds("./t.json"), as_released);
}

// Edited between two halves of a study it would mix two of them.
TEST_F(OwnLibrary, IsPartOfTheIdentityOfAStudyAndIsNotWritten) {
  place.write("s.json", R"({"name": "s", "workload": {"model": "resnet18", "batch_per_rank": 32},
    "platform": {"topology": "./t.json", "ranks": 2}, "strategy": {"kind": "ddp"},
    "measure": {"iterations": 3, "warmup": 0, "fidelity": "analytic"}, "sweep": {"/platform/ranks": [8, 16]}})");
  const auto shard = [&](const std::string& which) {
    return place.farandole("run s.json --format json --shard " + which + "/2 --output s" + which);
  };
  EXPECT_EQ(shard("1").status, 0);
  write_library("10 us");
  EXPECT_EQ(shard("2").status, 0);
  EXPECT_THAT(place.farandole("merge s1 s2 --output all.json").err,
              HasSubstr("with other values, options or data files"));
  const Finished refused = place.farandole("run s.json --output nccl-mine.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected another file than a file of the scenario"));
}

TEST_F(OwnLibrary, ThatIsWrongOrNotThereIsRefusedInOneLine) {
  const auto refusal = [&] {
    const Finished refused = place.farandole("collective --topology ./t.json --ranks 16 --algorithm library");
    EXPECT_EQ(refused.status, 2);
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    return refused.err;
  };
  write_library("9.6 ms");
  EXPECT_THAT(refusal(), HasSubstr("nccl-mine.json:3: /latency/network/ring/2: expected a number with its unit"));
  std::filesystem::remove(place.folder() / "nccl-mine.json");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("/transport/library: expected a library, got \"./nccl-mine.json\""),
                               HasSubstr("there is no such file")));
}

}}  // namespace farandole::test::constants_test
