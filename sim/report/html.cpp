#include "report/html.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "report/table.hpp"

namespace farandole { inline namespace report {
namespace {

std::string_view entity(char c) {
  using Row = std::pair<char, std::string_view>;
  static constexpr std::array rows{Row{'&', "&amp;"}, Row{'<', "&lt;"}, Row{'>', "&gt;"}, Row{'"', "&quot;"}};
  const auto found = std::ranges::find(rows, c, &Row::first);
  return found == rows.end() ? std::string_view() : found->second;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const std::string_view known = entity(c);
    result += known.empty() ? std::string_view(&c, 1) : known;
  }
  return result;
}

std::string script_json(const Record& record) {
  std::string result;
  for (const char c : json_text(record)) result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

std::string script_source(std::string_view digest) {
  constexpr std::string_view symbols = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "'sha256-";
  // Three bytes, six hexadecimal digits, make four symbols; a group that ends early is filled up.
  for (std::size_t at = 0; at < digest.size(); at += 6) {
    const std::string_view group = digest.substr(at, 6);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const char digit = i < group.size() ? group[i] : '0';
      bits = bits * 16 + static_cast<std::uint32_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_filled_up = i > group.size() / 2;
      text += is_filled_up ? '=' : symbols[(bits >> (18 - 6 * i)) & 63U];
    }
  }
  return text + "'";
}

namespace {

std::string with_backslashes(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// What Graphviz draws with.
constexpr std::array drawing{
    "svg",     "g",      "title", "polygon", "polyline", "path",           "text",           "tspan",
    "ellipse", "circle", "line",  "rect",    "defs",     "linearGradient", "radialGradient", "stop"};
/// What is left out with all it holds.
constexpr std::array hidden{"script", "style", "foreignObject"};

bool is_element_of(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Fills, strokes, places; not "onclick", "href", "xlink:href" or "style", nor a value that names a URL.
bool draws(std::string_view attribute, std::string_view value) {
  if (attribute.starts_with("xmlns")) return true;
  if (attribute.starts_with("on") || attribute == "style" || attribute.find("href") != std::string_view::npos) {
    return false;
  }
  const bool local = value.find("url(") == std::string_view::npos || value.starts_with("url(#");
  return local && value.find("script:") == std::string_view::npos && value.find('<') == std::string_view::npos;
}

class Filter {
 public:
  explicit Filter(std::string_view text) : text_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("<!--")) {
        at_ = behind("-->");
      } else if (text_[at_] == '<') {
        take_tag();
      } else {
        if (hidden_.empty()) result_ += text_[at_];
        ++at_;
      }
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t behind(std::string_view what) const {
    const std::size_t found = text_.find(what, at_);
    return found == std::string_view::npos ? text_.size() : found + what.size();
  }

  std::string_view word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n=/>\"'<").find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(start, at_ - start);
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// Declarations and doctypes go; so do tags of elements that are not for drawing.
  void take_tag() {
    if (text_.substr(at_).starts_with("<!") || text_.substr(at_).starts_with("<?")) {
      at_ = behind(">");
      return;
    }
    ++at_;
    const bool closes = at_ < text_.size() && text_[at_] == '/';
    if (closes) ++at_;
    const std::string_view name = word();
    const std::string attributes = take_attributes();
    const bool is_whole = at_ > 1 && at_ <= text_.size() && text_[at_ - 1] == '>' && text_[at_ - 2] == '/';
    if (closes && name == hidden_)
      hidden_.clear();
    else if (hidden_.empty() && !closes && !is_whole && is_element_of(hidden, name))
      hidden_ = name;
    if (!is_element_of(drawing, name) || !hidden_.empty()) return;
    result_ += fmt::format("<{}{}{}{}>", closes ? "/" : "", name, closes ? "" : attributes, is_whole ? "/" : "");
  }

  /// Up to and with the end of the tag; those that draw.
  std::string take_attributes() {
    std::string kept;
    for (skip_space(); at_ < text_.size() && text_[at_] != '>'; skip_space()) {
      const std::string_view name = word();
      skip_space();
      std::string_view value;
      if (at_ < text_.size() && text_[at_] == '=') {
        ++at_;
        skip_space();
        value = quoted_value();
      } else if (name.empty()) {
        ++at_;
      }
      if (!name.empty() && draws(name, value)) kept += fmt::format(" {}=\"{}\"", name, value);
    }
    at_ = std::min(at_ + 1, text_.size());
    return kept;
  }

  std::string_view quoted_value() {
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return word();
    const std::size_t start = at_ + 1;
    const std::size_t end = std::min(text_.find(text_[at_], start), text_.size());
    at_ = std::min(end + 1, text_.size());
    const std::string_view value = text_.substr(start, end - start);
    return value.find('"') == std::string_view::npos ? value : std::string_view();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string hidden_;  // the element that is being left out with what it holds
  std::string result_;
};

}  // namespace

std::string dot_string(std::string_view text) {
  return '"' + with_backslashes(text) + '"';
}

std::string dot_label(std::string_view text) {
  return with_backslashes(printable(text));
}

std::string xml_attribute(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("&#{};", static_cast<int>(c));
    } else {
      result += c == '\'' ? "&apos;" : escaped(std::string_view(&c, 1));
    }
  }
  return result;
}

std::string harmless_svg(std::string_view document) {
  const auto start = document.find("<svg");
  return start == std::string_view::npos ? std::string() : Filter(document.substr(start)).run();
}

}}  // namespace farandole::report
