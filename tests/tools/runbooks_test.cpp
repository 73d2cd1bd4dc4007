// The commands of tools/runbooks/ are ones that the program understands, and their job scripts ones that bash does.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::runbooks_test { namespace {

using testing::HasSubstr;

struct Block {
  std::string file;
  std::string text;
};

std::vector<Block> shell_blocks() {
  static const std::regex fence("```sh\n([^`]*)```");
  std::vector<Block> blocks;
  for (const auto& entry : std::filesystem::directory_iterator(FARANDOLE_SOURCE_DIR "/tools/runbooks")) {
    const std::string text = contents(entry.path());
    if (entry.path().extension() == ".sbatch") blocks.push_back({entry.path().filename(), text});
    for (std::sregex_iterator found(text.begin(), text.end(), fence), end; found != end; ++found) {
      blocks.push_back({entry.path().filename(), (*found)[1]});
    }
  }
  return blocks;
}

/// Continued lines as one, comments left out.
std::vector<std::string> lines_of(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\\\n\s*)"), " ");
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

/// What follows "farandole COMMAND", or "launch" and its numbers, which stands for `farandole bench` with options.
struct Call {
  std::string command;
  std::string arguments;
};

std::vector<Call> calls_of(const Block& block) {
  static const std::regex program(R"(build/release/farandole (\w+)(.*))");
  static const std::regex launch(R"(^\s*launch( .*))");
  std::vector<Call> calls;
  for (const std::string& line : lines_of(block.text)) {
    std::smatch match;
    if (std::regex_search(line, match, program)) calls.push_back({match[1], match[2]});
    if (std::regex_search(line, match, launch)) calls.push_back({"bench", match[1]});
  }
  return calls;
}

std::vector<std::string> options_of(const std::string& arguments) {
  static const std::regex option(R"( (--[a-z][a-z_-]*|-[a-z])(?= |=|$))");
  std::vector<std::string> options;
  for (std::sregex_iterator found(arguments.begin(), arguments.end(), option), end; found != end; ++found) {
    options.push_back((*found)[1]);
  }
  return options;
}

/// An option of the help text: "  --format FORMAT" or "  -b,--minbytes SIZE".
bool is_known(const std::string& option, const std::string& help) {
  return std::regex_search(help, std::regex("[ ,]" + option + "[ ,=\n]"));
}

TEST(Runbooks, NameOnlyCommandsAndOptionsThatThereAre) {
  const Workplace place;
  int tried = 0;
  for (const Block& block : shell_blocks()) {
    for (const Call& call : calls_of(block)) {
      const Finished help = place.farandole(call.command + " --help");
      EXPECT_EQ(help.status, 0) << block.file << ": " << call.command;
      for (const std::string& option : options_of(call.arguments)) {
        EXPECT_TRUE(is_known(option, help.out)) << block.file << ": " << call.command << " " << option;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(Runbooks, NameOnlyOperationsAndAlgorithmsThatThereAre) {
  static const std::regex pair(R"(--op (\w+) --algorithm ([\w.-]+))");
  const Workplace place;
  std::set<std::pair<std::string, std::string>> known;
  const auto shown = nlohmann::json::parse(place.farandole("show algorithms --format json").out);
  for (const auto& row : shown.at("algorithms")) known.emplace(row.at("op"), row.at("name"));
  ASSERT_FALSE(known.empty());
  for (const Block& block : shell_blocks()) {
    for (const Call& call : calls_of(block)) {
      std::smatch match;
      if (!std::regex_search(call.arguments, match, pair) || match[2] == "library" || match[2].str().empty()) continue;
      EXPECT_TRUE(known.contains({match[1], match[2]})) << block.file << ": " << match[0];
    }
  }
}

TEST(Runbooks, HaveScriptsThatBashUnderstands) {
  const Workplace place;
  const auto blocks = shell_blocks();
  ASSERT_GT(blocks.size(), 10U);
  for (const Block& block : blocks) {
    place.write("block.sh", block.text);
    EXPECT_EQ(place.run("bash -n block.sh").status, 0) << block.file << ":\n" << block.text;
  }
}

/// With programs in place of srun and module that say how they were called.
TEST(Runbooks, HaveBatchFilesThatRunAsTheyAreOnTheNodesTheyAskFor) {
  static const std::regex asked(R"(#SBATCH --nodes=(\d+))");
  static const std::regex step(R"(srun --nodes=(\d+) --ntasks=(\d+) --ntasks-per-node=(\d+) .*farandole bench )");
  int files = 0;
  for (const Block& block : shell_blocks()) {
    if (!block.file.ends_with(".sbatch")) continue;
    ++files;
    const Workplace place("-" + block.file);
    place.write("job.sh", block.text);
    place.write("srun", "#!/bin/sh\necho srun \"$@\" >>calls.txt\n");
    std::smatch nodes;
    ASSERT_TRUE(std::regex_search(block.text, nodes, asked)) << block.file;
    place.write("all.sh",
                "chmod +x srun\nmodule() { :; }\nexport -f module\nexport PATH=.:$PATH SLURM_SUBMIT_DIR=.\n"
                "export SLURM_JOB_NUM_NODES=" +
                    nodes[1].str() + "\nbash job.sh\n");
    const auto finished = place.run("bash all.sh");
    EXPECT_EQ(finished.status, 0) << block.file << ": " << finished.err;
    int steps = 0;
    for (const std::string& line : lines_of(contents(place.folder() / "calls.txt"))) {
      std::smatch call;
      ASSERT_TRUE(std::regex_search(line, call, step)) << block.file << ": " << line;
      EXPECT_LE(std::stoi(call[1]), std::stoi(nodes[1])) << line;
      EXPECT_EQ(std::stoi(call[2]), std::stoi(call[1]) * std::stoi(call[3])) << line;
      ++steps;
    }
    EXPECT_GE(steps, 8) << block.file;
  }
  EXPECT_EQ(files, 4);
}

TEST(Runbooks, NameOnlyFilesThatThereAre) {
  static const std::regex file(R"((scenarios/[\w-]+\.json)|--topology ([\w-]+) )");
  for (const Block& block : shell_blocks()) {
    for (std::sregex_iterator found(block.text.begin(), block.text.end(), file), end; found != end; ++found) {
      const std::string named = (*found)[1].matched ? (*found)[1].str() : "topologies/" + (*found)[2].str() + ".json";
      EXPECT_TRUE(std::filesystem::exists(std::string(FARANDOLE_SOURCE_DIR) + "/" + named))
          << block.file << ": " << named;
    }
  }
}

/// What `all_reduce_perf` prints on two nodes of eight, with the times of a published table.
std::string log_of_nccl_tests(const std::string& program) {
  std::ifstream in(FARANDOLE_SOURCE_DIR "/scenarios/published/collectives/thetagpu-16ranks.json");
  std::ostringstream log;
  log << "# Collective test starting: " << program << "_perf\n# Using devices\n";
  for (int rank = 0; rank < 16; ++rank) {
    log << "#  Rank " << rank << " Group  0 Pid 1 on node" << rank / 8 << " device " << rank % 8
        << " [0x07] NVIDIA A100\n";
  }
  log << "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
         "busbw "
         "#wrong\n";
  const auto table = nlohmann::json::parse(in);
  for (const auto& point : table.at("points")) {
    const double bytes = point.at("bytes");
    const double seconds = point.at("seconds");
    const std::string side = fmt::format(" {:.2f} {:.2f} {:.2f} 0", seconds * 1e6, bytes / seconds / 1e9, 0.0);
    log << fmt::format("{:.0f} {:.0f} float sum -1", bytes, bytes / 4) << side << side << "\n";
  }
  return log.str();
}

nlohmann::json result_of(const Finished& finished) {
  EXPECT_EQ(finished.status, 0) << finished.err;
  return nlohmann::json::parse(finished.out);
}

/// The block that says where it runs.
std::string block_of(const std::string& file, const std::string& where) {
  for (const Block& block : shell_blocks()) {
    if (block.file == file && block.text.starts_with("# " + where)) return block.text;
  }
  return "false # no such block";
}

TEST(Runbooks, ThatOfNcclTestsLogsIsRunAndTheNextRunTakesWhatWasMeasured) {
  const Workplace place;
  std::filesystem::create_directories(place.folder() / "logs");
  std::filesystem::create_directories(place.folder() / "build/release");
  place.write("logs/all_reduce-2x8.log", log_of_nccl_tests("all_reduce"));
  place.write("logs/all_gather-2x8.log", log_of_nccl_tests("all_gather"));
  std::filesystem::create_symlink(FARANDOLE_PROGRAM, place.folder() / "build/release/farandole");
  std::filesystem::create_directory_symlink(FARANDOLE_SOURCE_DIR "/scenarios", place.folder() / "scenarios");
  place.write("block.sh", "set -euo pipefail\n" + block_of("nccl-tests.md", "anywhere"));
  const Finished all = place.run("bash block.sh");
  ASSERT_EQ(all.status, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("calibration: all_reduce-2x8.log of 2026-11-21, median error left"));
  const std::string last =
      "run scenarios/thetagpu-dgx-a100.json --set '/sweep={\"/platform/ranks\": [192]}' "
      "--fidelity analytic --format json --set /platform/topology=";
  const auto calibrated = result_of(place.farandole(last + "my-cluster.json"));
  const auto before = result_of(place.farandole(last + "dgx-a100"));
  EXPECT_NE(calibrated.at("points").at(0).at("iteration_seconds"), before.at("points").at(0).at("iteration_seconds"));
  EXPECT_EQ(calibrated.at("points").at(0).at("algorithm"), "nccl-2.18");
  EXPECT_THAT(calibrated.at("settings").at("calibration").get<std::string>(),
              HasSubstr("used by nccl-2.18: allreduce of nccl-2.18, 16 ranks on 2 nodes"));
  EXPECT_FALSE(before.at("settings").contains("calibration"));
}

}}  // namespace farandole::test::runbooks_test
