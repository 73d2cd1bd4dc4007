// farandole collective: what is asked of a library besides operation and sizes, and laws of what it says.
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::collective_options_test { namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class CollectiveOptions : public testing::Test {
 protected:
  Json point(const std::string& options) {
    const test::Finished done = place.farandole("collective --format json " + options);
    EXPECT_EQ(done.status, 0) << options << done.err;
    return done.status == 0 ? Json::parse(done.out).at("points").at(0) : Json{{"seconds", -1}};
  }
  double seconds(const std::string& options) { return point(options).at("seconds"); }
  const test::Workplace place;
};

/// Published: eight H100 of one process take 40 us for 8 bytes, of eight processes 13; launches come one after another.
TEST_F(CollectiveOptions, DevicesOfOneProcessAreLaunchedOneAfterAnother) {
  const std::string eight = "--topology dgx-a100 --ranks 8 -b 8 -e 8 ";
  const double apart = seconds(eight);
  EXPECT_GE(seconds(eight + "--devices-per-process 8"), apart + 8 * 2.8e-6 / 2);
  EXPECT_THAT(place.farandole("collective " + eight + "--devices-per-process 9").err,
              HasSubstr("--devices-per-process: expected a whole number of at most 8"));
  EXPECT_THAT(place.farandole("collective --topology dgx-a100 --ranks 16 --devices-per-process 16").err,
              HasSubstr("--devices-per-process: expected at most the 8 devices of a node, got \"16\""));
  EXPECT_THAT(place.farandole("collective " + eight + "--devices-per-process 8 --algorithm ring").err,
              HasSubstr("--devices-per-process: expected NCCL or RCCL as the --algorithm, got \"ring\""));
}

/// Out of place a device also copies its own part.
TEST_F(CollectiveOptions, InPlaceNobodyCopiesItsOwnPart) {
  const std::string gather = "--op allgather --topology hgx-h100 --ranks 8 -b 1G -e 1G ";
  EXPECT_LT(seconds(gather + "--in-place"), seconds(gather));
  EXPECT_THAT(place.farandole("collective " + gather + "--in-place --algorithm ring").err,
              HasSubstr("--in-place: expected NCCL or RCCL as the --algorithm, got \"ring\""));
}

/// NVLink's switches add up no numbers of one byte; a table counts numbers of its type.
TEST_F(CollectiveOptions, TypesOfOneByteGoWithoutSwitches) {
  const std::string whole = "--topology hgx-h100 --ranks 8 -b 1G -e 1G ";
  EXPECT_EQ(point(whole + "--type half"), point(whole));
  EXPECT_EQ(point(whole).at("chosen_algorithm"), "nvls");
  EXPECT_NE(point(whole + "--type int8").at("chosen_algorithm"), "nvls");
  EXPECT_THAT(place.farandole("collective " + whole + "--type bfloat16").out, HasSubstr("536870912  bfloat16"));
  EXPECT_THAT(place.farandole("collective " + whole + "--type bfloat6").err, HasSubstr("did you mean \"bfloat16\"?"));
}

/// 2 (n - 1) / n of the data pass a link of a ring, half of that where switches add up: never more than it carries.
TEST_F(CollectiveOptions, NoLinkIsInUseForMoreThanAllOfTheTime) {
  for (const char* where : {"hgx-h100 --ranks 8", "hgx-h100 --ranks 16", "hgx-b200 --ranks 8", "gb200-nvl72 --ranks 64",
                            "gb200-nvl72 --ranks 144", "eos --ranks 64", "dgx-a100 --ranks 16"}) {
    const Json found = point(std::string("-b 4G -e 4G --links 6 --topology ") + where);
    for (const Json& link : found.at("links"))
      EXPECT_LE(link.at("utilisation").get<double>(), 1 + 1e-6) << where << link.dump();
  }
}

/// Where a library goes another way, more data may take less time; not by a cliff: 15 % for 5 % of the size, and what
/// rounding and full links add.
TEST_F(CollectiveOptions, TimesNeverFallOverACliffAsSizesGrow) {
  for (const char* where :
       {"--topology hgx-h100 --ranks 33", "--topology hgx-b200 --ranks 33", "--topology dgx-a100 --ranks 15",
        "--topology gb200-nvl72 --ranks 16", "--topology gcp-a3-mega --ranks 33", "--topology thetagpu --ranks 33",
        "--topology polaris --ranks 64", "--op allgather --topology polaris --ranks 16",
        "--op broadcast --topology hgx-h100 --ranks 9", "--op alltoall --topology gb200-nvl72 --ranks 64",
        "--topology mi300x-8 --ranks 16"}) {
    std::map<double, double> times;
    for (int offset = 0; offset < 15; ++offset) {
      const auto least = static_cast<long>(256 * std::pow(1.05, offset)) * 4;
      const test::Finished done =
          place.farandole(fmt::format("collective --format json {} -b {} -e {}", where, least, least << 15));
      ASSERT_EQ(done.status, 0) << where << done.err;
      const Json points = Json::parse(done.out).at("points");
      for (const Json& point : points) times[point.at("bytes")] = point.at("seconds");
    }
    EXPECT_GT(times.size(), 200U);
    for (auto next = std::next(times.begin()); next != times.end(); ++next)
      EXPECT_GE(next->second, 0.84 * std::prev(next)->second) << where << ", " << next->first << " bytes";
  }
}

/// Messages of a node's only device are bounded by its NIC, as all messages are: no more than by the plain schedule.
TEST_F(CollectiveOptions, AlltoallsOfUnequalNodesKeepTheirLinksBusy) {
  for (const char* where : {"hgx-h100 --ranks 9", "hgx-h100 --ranks 17", "hgx-h100 --ranks 73", "hgx-b200 --ranks 9",
                            "gb200-nvl72 --ranks 73", "gb200-nvl72 --ranks 80", "gb200-nvl72 --ranks 144",
                            "mi300x-8 --ranks 9", "thetagpu --ranks 9"}) {
    const std::string options = std::string("--op alltoall -b 1G -e 1G --topology ") + where;
    EXPECT_LE(seconds(options), 1.3 * seconds(options + " --algorithm direct")) << where;
  }
}

}}  // namespace farandole::collective_options_test
