// Files of libraries: what is read of them, and what is refused.
#include "simulate/library/library_file.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "simulate/library/library.hpp"
#include "simulate/library/nccl_tuning.hpp"
#include "simulate/library_kit.hpp"
#include "simulate/releases_kit.hpp"
#include "support/source_folder.hpp"

namespace farandole::library_file_test { namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class LibraryFiles : public testing::Test {
 protected:
  LibraryFiles() { std::filesystem::create_directories(folder_); }
  ~LibraryFiles() override { std::filesystem::remove_all(folder_); }
  LibraryFiles(const LibraryFiles&) = delete;
  LibraryFiles& operator=(const LibraryFiles&) = delete;

  /// The path of a file of that name, like another one but for `more`.
  [[nodiscard]] std::string like(const std::string& name, const std::string& other, const std::string& more) const {
    return write(name, R"({"name": ")" + name + R"(", "summary": "s", "source": "of a test", "like": ")" + other +
                           "\"" + more + "}");
  }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    const auto file = folder_ / (name + ".json");
    std::ofstream(file) << text;
    return file.string();
  }
  static std::string refusal(const std::string& file) {
    try {
      find_library(file);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("farandole-libraries-" + std::to_string(::getpid()));
};

// Whoever adds a release adds a file and nothing else: it is found, read and held to the schema here.
TEST_F(LibraryFiles, AllOfTheDataAreReadAndAreAsTheSchemaSays) {
  const auto schema = test::source_folder() / "sim/config/schemas/library.schema.json";
  const std::vector<std::string> names = library_names();
  EXPECT_GE(names.size(), 22U);
  for (const std::string& name : names) {
    const Library* library = find_library(name);
    ASSERT_NE(library, nullptr) << name;
    EXPECT_EQ(library->name, name);
    EXPECT_FALSE(library->operations.empty()) << name;
    EXPECT_NO_THROW(check_schema(Document::read(library_path(name)), schema)) << name;
  }
}

TEST_F(LibraryFiles, ComeInTheOrderOfTheirReleases) {
  std::vector<std::string> some;
  for (const std::string& name : library_names()) {
    if (name == "nccl-2.7" || name == "nccl-2.10" || name == "nccl-2.21-tcpxo" || name == "nccl-2.3") {
      some.push_back(name);
    }
  }
  EXPECT_THAT(some, ElementsAre("nccl-2.3", "nccl-2.7", "nccl-2.10", "nccl-2.21-tcpxo"));
}

TEST_F(LibraryFiles, OfOnesOwnAreTheOneTheyAreLikeButForWhatTheySay) {
  const std::string file = like("nccl-mine", "nccl-2.28",
                                R"(, "newest": "hopper", "pat": null,
      "latency": {"source": "measured here", "network": {"ring": ["2.7 us", "4 us", "7.5 us"]}})");
  const Library* mine = find_library(file);
  ASSERT_NE(mine, nullptr);
  const NcclTuning& known = test::tuning("2.28");
  EXPECT_EQ(mine->name, "nccl-mine");
  EXPECT_EQ(mine->operations, find_library("nccl-2.28")->operations);
  EXPECT_TRUE(mine->texts.contains(file));
  EXPECT_TRUE(mine->texts.contains(library_path("nccl-2.28")));
  EXPECT_EQ(mine->nccl->hop[2][1], (PerProtocol{2.7, 4, 7.5}));
  EXPECT_EQ(mine->nccl->hop[2][0], known.hop[2][0]);
  EXPECT_EQ(mine->nccl->tree_per_channel, known.tree_per_channel);
  EXPECT_EQ(mine->nccl->newest, 90);
  EXPECT_FALSE(mine->nccl->pat);
  EXPECT_TRUE(known.pat);
}

TEST_F(LibraryFiles, AreReadAgainWhenTheyHaveChanged) {
  const std::string file = like("nccl-mine", "nccl-2.28", R"(, "newest": "hopper")");
  EXPECT_EQ(find_library(file)->nccl->newest, 90);
  const auto before = std::filesystem::last_write_time(file);
  EXPECT_EQ(like("nccl-mine", "nccl-2.28", R"(, "newest": "volta")"), file);
  std::filesystem::last_write_time(file, before + std::chrono::seconds(2));
  EXPECT_EQ(find_library(file)->nccl->newest, 70);
}

TEST_F(LibraryFiles, ThatAreNotThereAreNone) {
  EXPECT_EQ(find_library("nccl-2.99"), nullptr);
  EXPECT_EQ(find_library("./no-such-file.json"), nullptr);
  EXPECT_EQ(find_library(""), nullptr);
}

TEST_F(LibraryFiles, AreRefusedInOneLineThatSaysWhere) {
  EXPECT_THAT(refusal(like("nccl-a", "nccl-2.99", "")),
              AllOf(HasSubstr("/like: expected a library"), HasSubstr("did you mean")));
  EXPECT_THAT(refusal(like("nccl-b", "nccl-2.28", R"(, "latency": {"base": null})")),
              HasSubstr("/latency: expected a \"source\" of what differs"));
  EXPECT_THAT(refusal(like("nccl-c", "nccl-2.28", R"(, "pat": {"source": "s", "base": "8 ms"})")),
              HasSubstr("/pat/base: expected a number with its unit, such as \"4.4 us\", got \"8 ms\""));
  EXPECT_THAT(refusal(like("nccl-d", "nccl-2.28", R"(, "pat": {"source": "s", "base": "-8 us"})")),
              HasSubstr("/pat/base: expected a number with its unit"));
  EXPECT_THAT(refusal(like("nccl-e", "nccl-2.28", R"(, "ring": {"source": "s", "steps": "net_appart"})")),
              HasSubstr("/ring/steps: expected a way to count, got \"net_appart\"; did you mean \"net_apart\"?"));
  EXPECT_THAT(refusal(like("nccl-f", "nccl-2.28", R"(, "tree": {"source": "s", "shares": 1})")),
              HasSubstr("/tree/shares"));
  EXPECT_THAT(refusal(like("nccl-g", "nccl-2.28", R"(, "tree": {"source": "s", "most": ["1 GB/s"]})")),
              HasSubstr("/tree/most: expected 3 numbers, got 1"));
  EXPECT_THAT(refusal(like("nccl-h", "nccl-2.28", R"(, "tree": {"source": "s", "kind": "guessed"})")),
              HasSubstr("/tree/kind: expected a kind of number, got \"guessed\""));
  EXPECT_THAT(refusal(like("nccl-i", "nccl-2.28", R"(, "tree": {"source": "s", "kind": "assumed"})")),
              HasSubstr("/tree: expected a key \"range\""));
  EXPECT_THAT(refusal(like("other-j", "nccl-2.28", "")), HasSubstr("/name: expected a name that begins with \"nccl\""));
  EXPECT_THAT(refusal(write("nccl-k", R"({"name": "nccl-x", "summary": "s", "source": "s", "operations": []})")),
              HasSubstr("/name: expected \"nccl-k\", as the file is called, got \"nccl-x\""));
  EXPECT_THAT(
      refusal(like("mpich-l", "mpich", R"(, "decisions": {"source": "s", "reduce": [{"algorithm": "binomal"}]})")),
      HasSubstr("/decisions/reduce/0/algorithm: expected an algorithm for reduce, got \"binomal\""));
  EXPECT_THAT(
      refusal(like("mpich-m", "mpich",
                   R"(, "decisions": {"source": "s", "reduce": [{"below": "1 KiB", "algorithm": "binomial"}]})")),
      HasSubstr("/decisions/reduce: expected a last row with an \"algorithm\" alone"));
}

TEST_F(LibraryFiles, ThatAreLikeEachOtherAreRefused) {
  const std::string first = like("nccl-a", "nccl-2.28", "");
  const std::string second = like("nccl-b", first, "");
  EXPECT_EQ(like("nccl-a", second, ""), first);
  EXPECT_THAT(refusal(second), HasSubstr("/like: expected a library that is not like this one"));
}

/// A table of one's own decides as it says, and counts sizes as it says.
TEST_F(LibraryFiles, OfAnMpiOfOnesOwnDecideByTheirRows) {
  const Library* mine =
      find_library(like("mpich-mine", "mpich", R"(, "by_block": ["allgather", "alltoall"], "decisions": {"source": "s",
      "allgather": [{"ranks_from": 8, "up_to": "1 KiB", "algorithm": "bruck"}, {"algorithm": "ring"}]})"));
  ASSERT_NE(mine, nullptr);
  const auto chosen = [&](int ranks, Bytes size) { return mpi_choice(*mine->mpi, Operation::allgather, ranks, size); };
  EXPECT_EQ(chosen(8, 8 * 1_KiB), "bruck");
  EXPECT_EQ(chosen(8, 8 * 1_KiB + 8_B), "ring");
  EXPECT_EQ(chosen(7, 7 * 1_KiB), "ring");
  EXPECT_EQ(mpi_choice(*mine->mpi, Operation::reduce, 16, 2049_B), test::mpich_choice(Operation::reduce, 16, 2049_B));
}

}}  // namespace farandole::library_file_test
