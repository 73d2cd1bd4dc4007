#include <algorithm>
#include <cctype>
#include <utility>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {
namespace {

using Words = std::span<const std::string>;

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_setting(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() < word.size() && !name.empty() && !is_number(name.substr(0, 1)) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Typographic hyphens and dashes, U+2010 to U+2015 and the minus sign, which word processors put for "-".
bool is_typographic_dash(std::string_view word) {
  return (word.starts_with("\xe2\x80") && word.size() > 2 && word[2] >= '\x90' && word[2] <= '\x95') ||
         word.starts_with("\xe2\x88\x92");
}

const Option* find_option(const Launcher& launcher, std::string_view name) {
  for (const Option& option : launcher.options) {
    if (is_among(option.names, name)) return &option;
  }
  return nullptr;
}

std::vector<std::string> option_names(const Launcher& launcher) {
  std::vector<std::string> result;
  for (const Option& option : launcher.options) {
    for (std::string_view names = option.names; !names.empty();) {
      const auto end = std::min(names.find(' '), names.size());
      result.push_back((end == 1 ? "-" : "--") + std::string(names.substr(0, end)));
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  return result;
}

/// An option word taken apart: "--num-proc=16" and, where the launcher allows it, "-n128".
struct Spelling {
  std::string dashes;
  std::string name;
  std::optional<std::string> value;
};

Spelling spell(const std::string& word, const Launcher& launcher) {
  const auto start = std::min(word.find_first_not_of('-'), std::size_t{2});
  const std::string dashes = word.substr(0, start);
  const std::string body = word.substr(start);
  if (const auto equals = body.find('='); equals != std::string::npos) {
    return {dashes, body.substr(0, equals), body.substr(equals + 1)};
  }
  const bool attached = launcher.attached_numbers && dashes == "-" && body.size() > 1 && is_number(body.substr(1));
  if (attached) return {dashes, body.substr(0, 1), body.substr(1)};
  return {dashes, body, std::nullopt};
}

[[noreturn]] void fail_unknown(const Reading& reading, const Launcher& launcher, const Spelling& spelling) {
  const std::string written = spelling.dashes + spelling.name;
  std::string hint;
  const auto letters = spelling.name.find_first_of("0123456789");
  const std::string head = spelling.name.substr(0, letters);
  if (letters != std::string::npos && find_option(launcher, head) != nullptr) {
    hint = "; did you mean " + quoted(spelling.dashes + head + " " + spelling.name.substr(letters)) + "?";
  } else if (spelling.name.size() > 3) {
    hint = suggestion("--" + spelling.name, option_names(launcher));
  }
  reading.where.fail("an option of " + std::string(launcher.name), quoted(written), hint);
}

/// Fills in the arguments of `given` from the words after it and returns what is left of them.
Words take_arguments(const Reading& reading, const Option& option, Given& given, Words words) {
  if (!given.arguments.empty() && option.arguments == 0) {
    reading.where.fail("no argument of " + given.name, quoted(given.arguments.front()));
  }
  while (given.arguments.size() < static_cast<std::size_t>(option.arguments)) {
    if (given.arguments.size() == 1 && is_setting(given.arguments.front())) break;
    if (words.empty()) reading.where.fail("an argument after " + given.name, "the end of the launch line");
    given.arguments.push_back(words.front());
    words = words.subspan(1);
  }
  return words;
}

Words read_option(Reading& reading, const Launcher& launcher, Words words) {
  const Spelling spelling = spell(words.front(), launcher);
  const Option* option = find_option(launcher, spelling.name);
  if (option == nullptr) fail_unknown(reading, launcher, spelling);
  Given given{spelling.dashes + spelling.name, {}, option->variable};
  if (spelling.value) given.arguments.push_back(*spelling.value);
  words = take_arguments(reading, *option, given, words.subspan(1));
  option->act(reading, given);
  return words;
}

/// Prompt, settings and harmless commands before the launcher.
Words read_prologue(Reading& reading, Words words) {
  if (!words.empty() && words.front() == "$") words = words.subspan(1);
  for (; !words.empty(); words = words.subspan(1)) {
    const std::string& word = words.front();
    if (is_setting(word)) {
      set_variable(reading, {"", {word}, {}});
    } else if (is_among("env time nohup exec", word)) {
      reading.ignored.push_back(word);
    } else {
      break;
    }
  }
  return words;
}

const Launcher& find_launcher(const Reading& reading, Words words) {
  const std::string expected = "a launch line of horovodrun, mpirun, mpiexec or aprun";
  if (words.empty()) reading.where.fail(expected, "no launcher");
  const std::string_view program = std::string_view(words.front()).substr(words.front().rfind('/') + 1);
  for (const Launcher& launcher : launchers()) {
    if (is_among(launcher.programs, program)) return launcher;
  }
  reading.where.fail(expected, quoted(words.front()));
}

void check_program(const Reading& reading, Words words) {
  if (words.empty()) return;
  if (is_typographic_dash(words.front())) reading.where.fail("options that begin with \"-\"", quoted(words.front()));
  if (std::ranges::find(words, ":") != words.end()) reading.where.fail("one program", "several, separated by \":\"");
}

}  // namespace

std::string read_line(std::string_view text, Reading& reading) {
  const auto split = split_words(text, reading.where);
  Words words = read_prologue(reading, split);
  const Launcher& launcher = find_launcher(reading, words);
  words = words.subspan(1);
  while (!words.empty() && words.front().starts_with('-') && words.front() != "-") {
    if (words.front() == "--") {
      words = words.subspan(1);
      break;
    }
    words = read_option(reading, launcher, words);
  }
  check_program(reading, words);
  return std::string(launcher.name);
}

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
