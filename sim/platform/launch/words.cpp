#include <algorithm>
#include <utility>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

class Splitter {
 public:
  Splitter(std::string_view text, const Value& where) : rest_(text), where_(where) {}

  std::vector<std::string> split() {
    while (!rest_.empty()) {
      const char c = take();
      if (is_blank(c)) {
        end_word();
      } else if (c == '#' && !in_word_) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (c == '\'' || c == '"') {
        take_quoted(c);
      } else if (c == '\\') {
        take_escaped();
      } else {
        add(c);
      }
    }
    end_word();
    return std::move(words_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  /// Whether a backslash just read continues the line: only blanks follow it there. Takes them and the line's end.
  bool take_continuation() {
    const auto end = rest_.find_first_not_of(" \t\r");
    if (end != std::string_view::npos && rest_[end] != '\n') return false;
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return true;
  }

  void take_escaped() {
    if (!take_continuation()) add(take());
  }

  void take_quoted(char quote) {
    in_word_ = true;  // '' is a word
    while (!rest_.empty() && rest_.front() != quote) {
      const char c = take();
      const bool escape = quote == '"' && c == '\\' && !rest_.empty();
      if (escape && rest_.front() == '\n') {
        take();
      } else if (escape && std::string_view("\"\\$`").find(rest_.front()) != std::string_view::npos) {
        add(take());
      } else {
        add(c);
      }
    }
    if (rest_.empty()) where_.fail(std::string("a closing ") + quote, "the end of the launch line");
    take();
  }

  std::string_view rest_;
  const Value& where_;
  std::vector<std::string> words_;
  std::string word_;
  bool in_word_ = false;
};

}  // namespace

std::vector<std::string> split_words(std::string_view text, const Value& where) {
  return Splitter(text, where).split();
}

}}}  // namespace farandole::platform::launch
