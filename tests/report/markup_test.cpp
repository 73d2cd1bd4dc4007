// A picture that goes into a page draws, and does nothing else.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "report/html.hpp"

namespace farandole::markup_test { namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HarmlessSvg, KeepsWhatDraws) {
  const std::string picture =
      R"(<svg width="10" viewBox="0 0 1 1" xmlns="http://www.w3.org/2000/svg"><g id="node1" class="node">)"
      R"(<title>a &lt; b</title><polygon fill="#dce8f5" points="1,2 3,4"/><text x="1">a &lt; b</text></g></svg>)";
  EXPECT_EQ(harmless_svg("<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n" + picture), picture);
}

TEST(HarmlessSvg, LeavesOutLinksScriptsAndHandlers) {
  const std::string picture = harmless_svg(
      R"svg(<svg onload="a()"><a xlink:href="javascript:alert(1)" xlink:title="t"><text>node</text></a>)svg"
      R"svg(<script>if (a < b) alert("</g>")</script><style>@import url(x)</style><image href="http://x/y.png"/>)svg"
      R"svg(<rect fill="url(http://x)" stroke='red' style="background:url(x)"/><use xlink:href="#b"/></svg>)svg");
  EXPECT_EQ(picture, R"(<svg><text>node</text><rect stroke="red"/></svg>)");
}

/// The tags of a text, without what stands in quotation marks.
std::vector<std::string> bare_tags(const std::string& text) {
  std::vector<std::string> tags;
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    std::string tag;
    for (bool is_quoted = false; at < text.size() && (is_quoted || text[at] != '>'); ++at) {
      if (text[at] == '"') is_quoted = !is_quoted;
      if (!is_quoted) tag += text[at];
    }
    tags.push_back(tag);
  }
  return tags;
}

// Whatever stands in it, no tag of another name and no handler comes out.
RC_GTEST_PROP(HarmlessSvg, LetsNothingElseThrough, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{"<", ">", "/", "a", "script", "g", " ", "onclick", "href", "=", "\"",
                                                  "'", "javascript:", "<!--", "-->", "<svg"}));
  std::string text = "<svg>";
  for (const std::string& piece : pieces) text += piece;
  for (const std::string& tag : bare_tags(harmless_svg(text))) {
    for (const char* bad : {"<a", "<script", "</a", " onclick", " href", "<!--"}) {
      RC_ASSERT(tag.find(bad) == std::string::npos);
    }
  }
}

TEST(DotString, EndsWhereTheNameEnds) {
  EXPECT_EQ(dot_string(R"(a"b\)"), R"("a\"b\\")");
  EXPECT_EQ(dot_label("two\nlines \\N"), "two?lines \\\\N");
}

TEST(XmlAttribute, HasNoCharacterThatEndsIt) {
  EXPECT_EQ(xml_attribute("<a b=\"'&\n"), "&lt;a b=&quot;&apos;&amp;&#10;");
}

}}  // namespace farandole::markup_test
