// Every file in scenarios/ is read, and agrees with its schema.
#include <filesystem>

#include <gtest/gtest.h>

#include "config/document.hpp"
#include "scenario/anchor.hpp"
#include "scenario/scenario.hpp"
#include "scenario/sweep.hpp"
#include "support/source_folder.hpp"

namespace farandole::files_test { namespace {

const std::filesystem::path source = test::source_folder();

TEST(ScenarioFiles, AreAllReadableInEveryPointAndAgreeWithTheirSchema) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source / "scenarios")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Document document = Document::read(entry.path());
    EXPECT_NO_THROW(check_schema(document, source / "sim/config/schemas/scenario.schema.json")) << entry.path();
    const Document ready = anchored(document, Catalogue());
    for (const Configuration& configuration : expand_sweep(ready)) {
      EXPECT_NO_THROW(read_scenario(configuration.root(), Catalogue())) << entry.path();
    }
  }
  EXPECT_GT(files, 0);
}

TEST(ScenarioFiles, AreNamedAsTheyCallThemselves) {
  for (const auto& entry : std::filesystem::directory_iterator(source / "scenarios")) {
    if (entry.path().extension() != ".json") continue;
    const Document document = Document::read(entry.path());
    const Document ready = anchored(document, Catalogue());
    EXPECT_EQ(read_scenario(expand_sweep(ready).front().root(), Catalogue()).name, entry.path().stem().string());
  }
}

TEST(ScenarioSchema, RefusesWhatTheReaderRefuses) {
  Document document = Document::read(source / "scenarios/horovod-512-roce25.json");
  document.set("/workload/batch_per_rnk", "3");
  EXPECT_THROW(check_schema(document, source / "sim/config/schemas/scenario.schema.json"), InputError);
}

}}  // namespace farandole::files_test
