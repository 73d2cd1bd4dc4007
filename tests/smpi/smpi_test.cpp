// Against SimGrid's own MPI, on the same star with nothing but bandwidth and latency.
//
// SMPI runs the MPI program beside this file with the algorithms that it is told; its overheads are set to nothing.
// What is left on its side are 16 bytes more in every message. Its sends wait for their receiver to be ready
// (send-is-detached-thresh:0), and so do ours here (rendezvous from the first byte on). tests/README.md has the table
// of differences.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collective/algorithms.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::smpi_test { namespace {

constexpr Seconds latency = 2_us;
constexpr int floats_of_a_share[] = {64, 2500};  // what a rank sends to each other in an alltoall

/// The star of 25 Gbit/s and 2 us end to end; ranks reach themselves in no time.
constexpr const char* star = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="node-" suffix="" radical="0-{}" speed="1Gf" bw="3.125GBps" lat="1us"
           loopback_bw="1e18Bps" loopback_lat="0s"/>
</platform>
)";

constexpr const char* ideal =
    " --cfg=network/model:CM02 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:0 --cfg=network/weight-S:0"
    " --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1 --cfg=surf/precision:1e-12"
    " --cfg=smpi/bw-factor:1 --cfg=smpi/lat-factor:1 --cfg=smpi/os:0:0:0:0:0 --cfg=smpi/or:0:0:0:0:0"
    " --cfg=smpi/ois:0:0:0:0:0 --cfg=smpi/simulate-computation:0 --cfg=smpi/wtime:0 --cfg=smpi/test:0"
    " --cfg=smpi/iprobe:0 --cfg=smpi/init:0 --cfg=smpi/async-small-thresh:0 --cfg=smpi/send-is-detached-thresh:0"
    " --cfg=smpi/allgather:ring --cfg=smpi/bcast:binomial_tree --cfg=smpi/alltoall:pair --log=root.thres:error";

struct Timed {
  std::string operation;
  double bytes;
  double seconds;
};

/// A folder of this test's own, gone at its end.
class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / fmt::format("farandole-smpi-{}", getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string write(const char* name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string output_of(const std::string& command, int& status) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  status = WEXITSTATUS(pclose(pipe));
  return out;
}

bool is_power_of_two(int n) {
  return (n & (n - 1)) == 0;
}

std::vector<Timed> run_smpi(int ranks, const std::string& allreduce, const std::string& operations) {
  const Folder folder;
  std::string hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts += fmt::format("node-{}\n", rank);
  std::string arguments = operations + " -";
  for (const int floats : floats_of_a_share) arguments += fmt::format(" {}", 4L * floats * ranks);
  int status = 0;
  const std::string out = output_of(
      fmt::format("{} -np {} -platform {} -hostfile {} --cfg=smpi/tmpdir:{}{} --cfg=smpi/allreduce:{} {} {} 2>&1",
                  FARANDOLE_SMPIRUN, ranks, folder.write("star.xml", fmt::format(star, ranks - 1)),
                  folder.write("hosts", hosts), folder.path(), ideal, allreduce, FARANDOLE_SMPI_PROGRAM, arguments),
      status);
  EXPECT_EQ(status, 0) << out;
  std::vector<Timed> result;
  std::istringstream lines(out);
  for (Timed timed; lines >> timed.operation >> timed.bytes >> timed.seconds;) result.push_back(timed);
  return result;
}

double time_of(Fidelity fidelity, const std::string& operation, const std::string& algorithm, int ranks, Bytes size) {
  const Schedule schedule = find_algorithm(*find_operation(operation), algorithm)->build(ranks);
  Platform platform = test::star(ranks, 25_Gbps, latency);
  platform.transport.message.rendezvous_from = Bytes(0);
  const RoutedSchedule routed(schedule, platform, test::in_order(ranks));
  return make_collective_clock(fidelity, routed)->completion_times(size, all_at(ranks, 0_s)).maxCoeff();
}

struct Selected {
  int ranks;
  const char* allreduce;  // as SMPI calls it
  const char* ours;
};

void PrintTo(const Selected& selected, std::ostream* out) {
  *out << selected.allreduce;
}

class Smpi : public testing::TestWithParam<Selected> {
 protected:
  void SetUp() override {
    if (std::string(FARANDOLE_SMPI_PROGRAM).empty())
      GTEST_SKIP() << "SMPI (smpicc, smpirun) is not here; tools/setup test installs it";
  }
};

TEST_P(Smpi, ReducesInTheSameTimeWithTheSameAlgorithm) {
  const auto& [ranks, allreduce, ours] = GetParam();
  const std::vector<Timed> all = run_smpi(ranks, allreduce, "allreduce");
  EXPECT_EQ(all.size(), std::size(floats_of_a_share));
  for (const Timed& timed : all) {
    const auto expected = [&, own = ours](Fidelity fidelity) {
      return time_of(fidelity, "allreduce", own, GetParam().ranks, Bytes(timed.bytes));
    };
    for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
      EXPECT_NEAR(timed.seconds / expected(fidelity), 1, 0.01) << name(fidelity) << ", " << timed.bytes << " bytes";
    }
  }
}

std::string name_of(const testing::TestParamInfo<Selected>& info) {
  return fmt::format("{}_with_{}_ranks", info.param.allreduce, info.param.ranks);
}

// rab: where ranks are no power of two, Rabenseifner's own program, like Open MPI, has pairs of ranks first exchange
// halves of the data and then one hand the other its half of the sum; rab_rdb, like MPICH, hands over all data at once.
INSTANTIATE_TEST_SUITE_P(
    Allreduce, Smpi,
    testing::Values(Selected{8, "lr", "ring"}, Selected{12, "lr", "ring"}, Selected{33, "lr", "ring"},
                    Selected{64, "lr", "ring"}, Selected{8, "rdb", "recursive_doubling"},
                    Selected{12, "rdb", "recursive_doubling"}, Selected{33, "rdb", "recursive_doubling"},
                    Selected{64, "rdb", "recursive_doubling"}, Selected{8, "rab", "doubling_halving"},
                    Selected{12, "rab", "doubling_halving_split"}, Selected{64, "rab", "doubling_halving"},
                    Selected{8, "rab_rdb", "doubling_halving"}, Selected{12, "rab_rdb", "doubling_halving"},
                    Selected{33, "rab_rdb", "doubling_halving"}),
    name_of);

class SmpiOf : public Smpi {};

TEST_P(SmpiOf, OtherOperationsTakeAsLongAsOurMessages) {
  const std::map<std::string, std::string> ours{
      {"allgather", "ring"}, {"broadcast", "binomial"}, {"alltoall", "pairwise"}};
  const int ranks = GetParam().ranks;
  // SMPI's pair refuses other numbers of ranks than powers of two.
  const std::string operations = is_power_of_two(ranks) ? "allgather broadcast alltoall" : "allgather broadcast";
  const std::vector<Timed> all = run_smpi(ranks, GetParam().allreduce, operations);
  EXPECT_EQ(all.size(), std::size(floats_of_a_share) * (is_power_of_two(ranks) ? 3 : 2));
  for (const Timed& timed : all) {
    const double expected =
        time_of(Fidelity::message, timed.operation, ours.at(timed.operation), ranks, Bytes(timed.bytes));
    EXPECT_NEAR(timed.seconds / expected, 1, 0.01) << timed.operation << ", " << timed.bytes << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, SmpiOf,
                         testing::Values(Selected{8, "lr", ""}, Selected{12, "lr", ""}, Selected{33, "lr", ""},
                                         Selected{64, "lr", ""}),
                         name_of);

}}  // namespace farandole::smpi_test
