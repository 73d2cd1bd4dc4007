// Which rows of files of runs are fitted to, and which are shown beside.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/posterior.hpp"

namespace farandole::test::training_rows_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrainingRows : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "farandole-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    file_ = std::filesystem::path(pattern) / "runs.json";
  }
  void TearDown() override { std::filesystem::remove_all(file_.parent_path()); }

  /// Notes of the rows, "" of those that are fitted to.
  [[nodiscard]] std::vector<std::string> notes(const std::string& rows, bool all_rows) const {
    std::ofstream(file_) << R"({"summary": "s", "source": "s", "confidence": "verbatim", "use": "validation",
      "scenario": {"name": "test", "workload": {"model": "resnet50", "variant": "tf_cnn_benchmarks", "batch_per_rank": 64},
        "platform": {"topology": "dgx1-p100"}, "strategy": {"kind": "ddp"},
        "measure": {"iterations": 1, "warmup": 1, "fidelity": "analytic"}},
      "rows": [)" << rows << "]}";
    const Catalogue catalogue;
    const Document topology = Document::read(catalogue.root() / "topologies/dgx1-p100.json");
    const std::vector<std::string> files{file_.string()};
    std::vector<std::string> result;
    for (const TrainingRow& row : read_training(files, {"dgx1-p100", {}, all_rows}, topology, catalogue)) {
      EXPECT_GT(row.step, 0_s);
      EXPECT_GT(row.noise, 0);
      EXPECT_EQ(row.family, "runs");
      result.push_back(row.note);
    }
    return result;
  }

  std::filesystem::path file_;
};

const std::string plain = R"({"ranks": 8, "images_per_second": 1600})";
const std::string doubtful = R"({"ranks": 16, "images_per_second": 3000, "note": "the batch is not stated"})";
const std::string for_it = R"({"ranks": 16, "images_per_second": 3100, "note": "calibration: a run of its own"})";

TEST_F(TrainingRows, WithoutANoteAreFittedToAndThoseWithOneShown) {
  for (const bool all : {false, true})
    EXPECT_THAT(notes(plain + ", " + doubtful, all), ElementsAre("", "the batch is not stated"));
}

TEST_F(TrainingRows, AreThoseForCalibrationWhereThereAreSomeAndAllWhereThatIsAsked) {
  EXPECT_THAT(notes(plain + ", " + for_it, false), ElementsAre(HasSubstr("kept to compare"), ""));
  EXPECT_THAT(notes(plain + ", " + for_it, true), ElementsAre("", ""));
  EXPECT_THAT(notes(doubtful + ", " + for_it, true), ElementsAre("the batch is not stated", ""));
}

TEST_F(TrainingRows, OfOneRankTellNothing) {
  EXPECT_THROW(static_cast<void>(notes(R"({"ranks": 1, "images_per_second": 219})", false)), InputError);
}

}}  // namespace farandole::test::training_rows_test
