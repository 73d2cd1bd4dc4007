#include "collective/files/xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace farandole { inline namespace collective {
namespace {

constexpr int most_depth = 16;
constexpr int most_elements = 2'000'000;  // of a few hundred bytes each

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  XmlElement document() {
    skip_between();
    skip_doctype();
    XmlElement root = element(0);
    skip_between();
    if (at_ < text_.size()) fail("the end of the file");
    return root;
  }

 private:
  XmlElement element(int depth) {
    if (depth > most_depth) fail("fewer elements inside one another");
    if (++elements_ > most_elements) fail("at most 2,000,000 elements");
    XmlElement result{{}, {}, {}, place()};
    expect("<");
    result.name = word();
    for (skip_space(); !looking_at("/>") && !looking_at(">"); skip_space()) attribute(result);
    if (take("/>")) return result;
    expect(">");
    for (skip_between(); !looking_at("</"); skip_between()) result.children.push_back(element(depth + 1));
    expect("</" + result.name);
    skip_space();
    expect(">");
    return result;
  }

  void attribute(XmlElement& owner) {
    const std::string name = word();
    skip_space();
    expect("=");
    skip_space();
    const std::string quote = looking_at("'") ? "'" : "\"";
    expect(quote);
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("a closing quote");
    const std::string_view value = text_.substr(at_, end - at_);
    if (value.find('<') != std::string_view::npos) fail("an attribute without \"<\"");
    if (!owner.attributes.emplace(name, decoded(value)).second) fail("an attribute \"" + name + "\" only once");
    at_ = end + 1;
  }

  /// The five entities that XML knows by itself, and characters of ASCII by their number.
  std::string decoded(std::string_view value) {
    std::string result;
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (value[at] != '&') {
        result += value[at];
        continue;
      }
      const std::size_t end = std::min(value.find(';', at), value.size());
      const auto character = character_of(value.substr(at + 1, end - at - 1));
      if (!character || end == value.size()) fail("no entities but &amp; &lt; &gt; &quot; &apos; and &#1; to &#127;");
      result += *character;
      at = end;
    }
    return result;
  }

  static std::optional<char> character_of(std::string_view entity) {
    constexpr std::array known{std::pair{std::string_view("amp"), '&'}, std::pair{std::string_view("lt"), '<'},
                               std::pair{std::string_view("gt"), '>'}, std::pair{std::string_view("quot"), '"'},
                               std::pair{std::string_view("apos"), '\''}};
    for (const auto& [name, character] : known) {
      if (entity == name) return character;
    }
    int number = 0;
    const char* end = entity.data() + entity.size();
    if (!entity.starts_with('#') || std::from_chars(entity.data() + 1, end, number).ptr != end) return std::nullopt;
    return number >= 1 && number <= 127 ? std::optional(static_cast<char>(number)) : std::nullopt;
  }

  std::string word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == start) fail("a name");
    return std::string(text_.substr(start, at_ - start));
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  void skip_between() {
    for (skip_space(); looking_at("<!--") || looking_at("<?"); skip_space()) {
      const std::string_view closing = looking_at("<?") ? "?>" : "-->";
      const std::size_t end = text_.find(closing, at_ + 2);
      if (end == std::string_view::npos) fail(closing);
      at_ = end + closing.size();
    }
  }

  void skip_doctype() {
    if (!take("<!DOCTYPE")) return;
    const std::size_t end = text_.find_first_of("[>", at_);
    if (end == std::string_view::npos || text_[end] == '[') fail("a doctype that only names one");
    at_ = end + 1;
    skip_between();
  }

  [[nodiscard]] bool looking_at(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  bool take(std::string_view what) {
    if (!looking_at(what)) return false;
    at_ += what.size();
    return true;
  }

  void expect(std::string_view what) {
    if (!take(what)) fail(quoted(what));
  }

  /// Lines are counted on from the last place, so that all of them are counted once.
  Place place() {
    line_ += static_cast<int>(std::ranges::count(text_.substr(counted_, at_ - counted_), '\n'));
    counted_ = at_;
    return {source_, line_, ""};
  }

  [[noreturn]] void fail(std::string_view expected) {
    const std::string_view rest = text_.substr(at_, 20);
    throw InputError(place(), expected, rest.empty() ? "the end of the file" : quoted(rest));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  int line_ = 1;
  int elements_ = 0;
};

}  // namespace

const std::string& XmlElement::text(const std::string& attribute) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end())
    throw InputError(place, "an attribute \"" + attribute + "\"", "<" + name + "> without");
  return found->second;
}

int XmlElement::number(const std::string& attribute) const {
  const std::string& digits = text(attribute);
  int value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end) throw InputError(place, attribute + " to be a whole number", quoted(digits));
  return value;
}

int XmlElement::number(const std::string& attribute, int fallback) const {
  return attributes.contains(attribute) ? number(attribute) : fallback;
}

XmlElement parse_xml(std::string_view text, const std::string& source) {
  return Reader(text, source).document();
}

}}  // namespace farandole::collective
