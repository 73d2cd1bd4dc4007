// --html and --markdown as a user types them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::page_commands_test { namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* small_sweep =
    " --quiet --set '/sweep={\"/workload/model\": [\"vgg16\"], \"/platform/ranks\": [1, 4]}' --set "
    "/measure/iterations=5";

bool has_d3(const Workplace& place) {
  return place.farandole("doctor").out.find("d3             not built") == std::string::npos;
}

TEST(Pages, OfARunHaveItsNumbersAndLeaveItsResultAsItIs) {
  const Workplace place;
  const std::string run = "run " + scenario("horovod-512-roce25") + small_sweep + " --format json";
  const Finished plain = place.farandole(run);
  const Finished with_page = place.farandole(run + " --markdown page.md");
  EXPECT_EQ(with_page.status, 0) << with_page.err;
  EXPECT_EQ(with_page.out, plain.out);
  const std::string page = contents(place.folder() / "page.md");
  EXPECT_THAT(page, HasSubstr("**vgg16 scales at "));
  EXPECT_THAT(page, HasSubstr("exposed\\_bandwidth"));
  EXPECT_THAT(page, HasSubstr("/sweep="));
}

TEST(Pages, AreTheSameTwice) {
  const Workplace place;
  if (!has_d3(place)) GTEST_SKIP() << "built without D3; tools/setup browser installs it";
  const std::string run =
      "run " + scenario("horovod-512-roce25") + small_sweep + " --output result.txt --html page.html";
  ASSERT_EQ(place.farandole(run).status, 0);
  const std::string once = contents(place.folder() / "page.html");
  ASSERT_EQ(place.farandole(run + " --jobs 1").status, 0);
  EXPECT_EQ(contents(place.folder() / "page.html"), once);
  EXPECT_THAT(once, HasSubstr("</html>"));
}

TEST(Pages, OfOneShardAreRefused) {
  const Workplace place;
  const Finished run =
      place.farandole("run " + scenario("horovod-512-roce25") + " --shard 1/2 --output a --html page.html");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--shard: expected no page"));
}

TEST(Pages, OfACollectiveNameTheBusiestLinks) {
  const Workplace place;
  const Finished run = place.farandole("collective -b 1M -e 4M --topology roce25-4xp100 --ranks 16 --markdown page.md");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(contents(place.folder() / "page.md"), HasSubstr("busbw"));
}

TEST(Points, SayWhatTheSweepPutWhere) {
  const Workplace place;
  const Finished run =
      place.farandole("run " + scenario("horovod-512-roce25") +
                      " --quiet --format json --set '/platform/override={}' --set /measure/iterations=5 --set "
                      "'/sweep={\"/platform/override/~1node~1nic~1rate\": [\"25 Gbit/s\", \"100 Gbit/s\"]}'");
  ASSERT_EQ(run.status, 0) << run.err;
  const auto points = nlohmann::json::parse(run.out)["points"];
  EXPECT_EQ(points[1]["swept"]["/platform/override/~1node~1nic~1rate"], "100 Gbit/s");
}

}}  // namespace farandole::test::page_commands_test
