// Pages as HTML and Markdown: whole, by themselves, and safe against what names contain.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html.hpp"
#include "report/page/assets.hpp"
#include "report/pages.hpp"
#include "report/points.hpp"

namespace farandole::page_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string html_of(const Page& page) {
  std::ostringstream out;
  write_html(out, page);
  return out.str();
}

std::string markdown_of(const Page& page) {
  std::ostringstream out;
  write_markdown(out, page);
  return out.str();
}

TrainingPageInput story() {
  TrainingPageInput told;
  told.heading = heading();
  told.points = {vgg16_on_512_ranks(), vgg16_on_512_ranks()};
  told.points.front().ranks = 16;
  told.command = "farandole run demo.json";
  return told;
}

bool has_chart(const Page& page, const std::string& key) {
  for (const PageSection& section : page.sections) {
    for (const Chart& chart : section.charts) {
      if (chart.key == key) return page.data.contains(key);
    }
  }
  return false;
}

class HtmlPage : public testing::Test {
 protected:
  void SetUp() override {
    if (d3_script().empty()) GTEST_SKIP() << "built without D3; tools/setup browser installs it";
  }
};

TEST_F(HtmlPage, NeedsNothingFromElsewhere) {
  const std::string html = html_of(training_page(story()));
  for (const char* reference : {"src=", "<link", "@import", "url("}) {
    const auto body_without_d3 =
        html.substr(0, html.find(d3_script())) + html.substr(html.find(d3_script()) + d3_script().size());
    EXPECT_THAT(body_without_d3, Not(HasSubstr(reference)));
  }
}

TEST_F(HtmlPage, SaysTheAnswerAsItsHeading) {
  EXPECT_THAT(html_of(training_page(story())), HasSubstr("<h1>vgg16 scales at 68&nbsp;% efficiency on 512 ranks"));
}

TEST(TrainingPageData, HasTheEndsThatCurvesShadeBetween) {
  TrainingPageInput told = story();
  EXPECT_FALSE(training_page(told).data.at("efficiency").at("rows").at(0).contains("low"));
  told.points.back().bands = Bands{0.8, {0.75, 1.25}, {0.25, 0.375}, {87381.3, 131072}, {0.6, 0.75}, {}, {}};
  const Page page = training_page(told);
  const auto row = [&](const char* chart) { return page.data.at(chart).at("rows").at(1); };
  EXPECT_EQ(row("efficiency").at("low"), 0.6);
  EXPECT_EQ(row("efficiency").at("high"), 0.75);
  EXPECT_EQ(row("throughput").at("low"), 87381.3);
  EXPECT_THAT(page.sections.front().charts.front().caption,
              HasSubstr("the 80 % interval, from uncertain compute times"));
}

TEST_F(HtmlPage, IsTheSameForTheSameResult) {
  EXPECT_EQ(html_of(training_page(story())), html_of(training_page(story())));
}

TEST_F(HtmlPage, LetsNoNameOutOfItsPlace) {
  TrainingPageInput told = story();
  told.points.front().model = "</script><b>&\"";
  told.heading.scenario = "<i>";
  const std::string html = html_of(training_page(told));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("</script><b>")), Not(HasSubstr("<i>")), HasSubstr("&lt;i&gt;")));
}

// A browser runs the two scripts whose digests the policy names; anything else that is slipped in stays text.
TEST_F(HtmlPage, SaysWhichScriptsAreItsOwnAndThatNothingMayBeFetched) {
  const std::string html = html_of(training_page(story()));
  const std::size_t policy = html.find("Content-Security-Policy");
  ASSERT_NE(policy, std::string::npos);
  EXPECT_LT(policy, html.find("<title>"));
  EXPECT_THAT(html.substr(policy, 400), AllOf(HasSubstr("default-src 'none'"), HasSubstr("script-src 'sha256-")));
  EXPECT_EQ(html.substr(policy, 400).find("'unsafe-inline'"),
            html.substr(policy, 400).find("style-src ") + std::string("style-src ").size());
}

// RFC 4648, section 10: "foobar" is Zm9vYmFy; and what ends early is filled up.
TEST(ScriptSource, IsBase64OfTheDigest) {
  EXPECT_EQ(script_source("666f6f626172"), "'sha256-Zm9vYmFy'");
  EXPECT_EQ(script_source("666f6f62"), "'sha256-Zm9vYg=='");
  EXPECT_EQ(script_source("666f6f6261"), "'sha256-Zm9vYmE='");
}

TEST(Page, LeavesOutWhatIsNotThere) {
  const Page page = training_page(story());
  EXPECT_TRUE(has_chart(page, "efficiency"));
  EXPECT_TRUE(has_chart(page, "shares"));
  EXPECT_FALSE(has_chart(page, "timeline"));
  EXPECT_FALSE(has_chart(page, "learning"));
  EXPECT_FALSE(has_chart(page, "trust"));
}

TEST(Page, ShowsTheLastWholeIterationOfATimelineWithSharedSpansAsOne) {
  Timeline timeline(100);
  for (const double at : {0.0, 1.0, 2.0}) {
    timeline.span("compute", "FORWARD_BACKWARD", Seconds(at), Seconds(at + 0.5));
    timeline.span("a", "NCCL_ALLREDUCE", Seconds(at + 0.5), Seconds(at + 0.75));
    timeline.span("b", "NCCL_ALLREDUCE", Seconds(at + 0.5), Seconds(at + 0.75));
  }
  TrainingPageInput told = story();
  told.timeline = &timeline;
  const Record data = training_page(told).data.at("timeline");
  EXPECT_EQ(data.at("total"), 1.0);
  ASSERT_EQ(data.at("rows").size(), 2U);
  EXPECT_EQ(data.at("rows")[1],
            Record({{"activity", "NCCL_ALLREDUCE"}, {"from", 0.5}, {"to", 0.75}, {"lanes", 2}, {"lane", "a"}}));
}

TEST(Page, MarksPublishedResultsOnTheirCurve) {
  TrainingPageInput told = story();
  told.published = {{1, 512, 90000, 0.7, "somebody-2017"}};
  const Record marks = training_page(told).data.at("efficiency").at("marks");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0], Record({{"series", "vgg16"}, {"x", 512}, {"y", 0.7}, {"source", "somebody-2017"}}));
}

TEST(Page, HasEveryKeyOfEveryPointAsCsv) {
  const Page page = training_page(story());
  EXPECT_EQ(std::ranges::count(page.csv, '\n'), 3);
  EXPECT_THAT(page.csv, HasSubstr("breakdown_exposed_communication"));
}

TEST(Page, OfMarkdownKeepsBarsAndStarsOfNamesFromMeaningSomething) {
  TrainingPageInput told = story();
  told.heading.settings["odd|name"] = "*x*";
  EXPECT_THAT(markdown_of(training_page(told)),
              AllOf(HasSubstr("| odd\\|name | \\*x\\* |"), HasSubstr("**vgg16 scales at 68 %")));
}

TEST(Page, OfACollectiveAnswersForTheLargestSize) {
  CollectiveStory told;
  told.topology = "ethernet-25g";
  told.points = {allreduce_of_a_mebibyte(), allreduce_of_a_mebibyte()};
  told.points.front().bytes = 1_KiB;
  const Page page = collective_page(told);
  EXPECT_THAT(page.answer.front(), HasSubstr("with ring over 16 ranks of ethernet-25g takes 500 us"));
  EXPECT_TRUE(has_chart(page, "bandwidth"));
}

TEST(Page, OfAValidationSaysHowFarOffItIs) {
  ValidationPoint row;
  row.family = "lab";
  row.row = "ring";
  row.bytes = 1_MiB;
  row.predicted = 1.1;
  row.measured = 1;
  row.error = 0.1;
  const Page page = validation_page({"validate", {}}, "farandole validate", std::vector{row});
  EXPECT_EQ(page.answer.front(), "The one prediction of collectives is 10.0 % off.");
  EXPECT_TRUE(has_chart(page, "scatter"));
  EXPECT_TRUE(has_chart(page, "errors"));
}

TEST_F(HtmlPage, KeepsANumberAndItsUnitOnOneLine) {
  Page page;
  page.answer = {"It takes 15.2 ms, at 2.1 GB/s and 3 of 4 nodes, for 25 USD."};
  EXPECT_THAT(html_of(page), HasSubstr("takes 15.2&nbsp;ms, at 2.1&nbsp;GB/s and 3 of 4 nodes, for 25&nbsp;USD."));
}

// A table is folded where it is long, or where a picture above it shows the same.
TEST_F(HtmlPage, FoldsTablesThatAreLongOrBelowAChart) {
  Grid grid{"short", {{"a"}}, {{Cell("1")}}};
  Grid tall{"tall", {{"a"}}, std::vector<std::vector<Cell>>(13, {Cell("1")})};
  Page page;
  page.sections = {{"alone", "alone", {}, {}, {}, {grid, tall}}};
  EXPECT_THAT(html_of(page),
              AllOf(Not(HasSubstr("<summary>short")), HasSubstr("<summary>tall: table of 13</summary>")));
  page.sections.front().charts = {{"curves", "rates", "Rates"}};
  EXPECT_THAT(html_of(page), HasSubstr("<summary>short: table of 1</summary>"));
}

// Whatever the file is called, the link stays in the page's folder and is no scheme of its own.
TEST_F(HtmlPage, LinksToAPageBesideItByItsNameAlone) {
  Page page;
  page.sections = {{"explore", "explore"}};
  page.sections.front().link = "javascript:a b#\".html";
  EXPECT_THAT(html_of(page), HasSubstr("href=\"./javascript%3Aa%20b%23%22.html\""));
}

TEST_F(HtmlPage, WritesFoldedSectionsLastWithOneEntryOfTheContentsForThem) {
  Page page;
  page.sections = {{"first", "First"}, {"aside", "Aside"}, {"second", "Second"}};
  page.sections[1].folded = true;
  const std::string html = html_of(page);
  EXPECT_LT(html.find("id=\"second\""), html.find("id=\"aside\""));
  EXPECT_THAT(html,
              AllOf(HasSubstr("<details><summary><h2 id=\"aside-h\">Aside</h2></summary>"),
                    HasSubstr("<li><a href=\"#details\">Details (1)</a></li>"), Not(HasSubstr("href=\"#aside\""))));
}

TEST(Page, SaysInItsFirstLinesHowFarPublishedRunsWereMissed) {
  TrainingPageInput told = story();
  ValidationPoint row;
  row.operation = "training";
  row.error = -0.034;
  row.measured = row.predicted = 1;
  told.trust = {true, {row}};
  EXPECT_THAT(training_page(told).answer,
              testing::Contains("The one published run on the same platforms is predicted within 3.4 %."));
  told.trust.points.front().counted = false;
  EXPECT_THAT(training_page(told).answer, Not(testing::Contains(HasSubstr("published run"))));
}

TEST_F(HtmlPage, BeginsWithWhatTheHeadingSpeaksOf) {
  TrainingPageInput told = story();
  Learning learning;
  learning.loss = {2, 1};
  learning.seconds = {Seconds(0), Seconds(1)};
  told.points.front().learning = learning;
  EXPECT_EQ(training_page(told).sections.front().id, "learning");
}

}}  // namespace farandole::page_test
