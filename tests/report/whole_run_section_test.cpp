// How long a whole training takes, as a page says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/answer.hpp"
#include "report/page_parts.hpp"
#include "report/points.hpp"

namespace farandole::whole_run_section_test { namespace {

using testing::HasSubstr;

// 5,875,200 s are 68 days; 90 min are no 2 hours yet.
TEST(Answer, OfATrainingThatMayFailIsHowLongItTakesAndItsGoodput) {
  TrainingPoint failing = vgg16_on_512_ranks();
  failing.run = WholeRun{};
  failing.run->total = Seconds(5875200);
  failing.run->goodput = 0.982;
  failing.run->failures = 16.5;
  EXPECT_THAT(answer(std::vector{failing}, {}).front(), HasSubstr("scales at 68 %"));
  failing.run->mtbf = 3600_s;
  EXPECT_EQ(answer(std::vector{failing}, {}).front(),
            "The whole training of vgg16 takes 68 days at 98.2 % goodput, with 16.5 failures in the mean.");
  TrainingPoint brief = failing;
  brief.model = "resnet50";
  brief.run->total = Seconds(5400);
  EXPECT_EQ(answer(std::vector{failing, brief}, {}).front(),
            "The whole training is shortest with resnet50, 90 minutes at 98.2 % goodput, with 16.5 failures in the "
            "mean; longest with vgg16, 68 days at 98.2 % goodput, with 16.5 failures in the mean.");
}

// What nobody asked for is read by those who unfold it.
TEST(WholeRunSection, IsOpenWhereSomethingFails) {
  TrainingPoint point = vgg16_on_512_ranks();
  EXPECT_FALSE(whole_run_section(std::vector{point}, series_of(std::vector{point})));
  point.run = WholeRun{};
  EXPECT_TRUE(whole_run_section(std::vector{point}, series_of(std::vector{point}))->folded);
  point.run->mtbf = 3600_s;
  EXPECT_FALSE(whole_run_section(std::vector{point}, series_of(std::vector{point}))->folded);
}

}}  // namespace farandole::whole_run_section_test
