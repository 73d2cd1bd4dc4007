#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {
namespace {

constexpr std::size_t most_expanded = std::size_t{1} << 20;
constexpr int deepest = 16;
constexpr long long largest = 1'000'000'000;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view take_name(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_of_name) - text.begin();
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end));
  text.remove_prefix(name.size());
  return name;
}

/// From an opening bracket, which has been taken, to the one that closes it.
std::string_view take_bracketed(std::string_view& text, char open, char close) {
  std::size_t length = 0;
  for (int depth = 1; length < text.size(); ++length) {
    if (text[length] == open) ++depth;
    if (text[length] == close && --depth == 0) break;
  }
  const std::string_view inside = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return inside;
}

/// What Slurm sets for a job, from what its #SBATCH lines ask for.
std::optional<std::string> slurm_value(std::string_view name, const Reading& script) {
  using Row = std::pair<std::string_view, std::optional<int> Reading::*>;
  static constexpr std::array table{
      Row{"SLURM_NNODES SLURM_JOB_NUM_NODES", &Reading::nodes},
      Row{"SLURM_NTASKS SLURM_NPROCS", &Reading::ranks},
      Row{"SLURM_NTASKS_PER_NODE SLURM_STEP_TASKS_PER_NODE", &Reading::ranks_per_node},
      Row{"SLURM_GPUS_PER_NODE SLURM_GPUS_ON_NODE", &Reading::devices},
  };
  const auto row = std::ranges::find_if(table, [&](const Row& each) { return is_among(each.first, name); });
  if (row == table.end()) return std::nullopt;
  Reading settled = script;
  settle_slurm(settled, script);
  const std::optional<int> value = settled.*row->second;
  return value ? std::optional(std::to_string(*value)) : std::nullopt;
}

/// Of one whose value is another that is not known, or what a command would print, nothing is known.
std::optional<std::string> value_of(std::string_view name, const Reading& script) {
  const auto set = script.variables.find(std::string(name));
  if (set == script.variables.end()) return slurm_value(name, script);
  if (set->second.starts_with('$') || set->second.starts_with('`')) return std::nullopt;
  return set->second;
}

std::optional<std::string> expanded(std::string_view reference, Reading& script, int depth);

/// What stands behind a "$": NAME, {...}, (...), ((...)). Takes it.
std::string_view take_reference(std::string_view& text) {
  const std::string_view whole = text;
  if (text.starts_with('(') || text.starts_with('{')) {
    const char open = text.front();
    text.remove_prefix(1);
    take_bracketed(text, open, open == '(' ? ')' : '}');
  } else {
    take_name(text);
  }
  return whole.substr(0, whole.size() - text.size());
}

using MaybeNumber = std::optional<long long>;

MaybeNumber operand(std::string_view& text, Reading& script, int depth);

MaybeNumber combined(MaybeNumber left, char sign, MaybeNumber right) {
  if (!left || !right || ((sign == '/' || sign == '%') && *right == 0)) return std::nullopt;
  const long long result = sign == '+'   ? *left + *right
                           : sign == '-' ? *left - *right
                           : sign == '*' ? *left * *right
                           : sign == '/' ? *left / *right
                                         : *left % *right;
  return std::abs(result) <= largest ? MaybeNumber(result) : std::nullopt;
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

/// Sums of products, from the left.
MaybeNumber arithmetic(std::string_view& text, Reading& script, int depth, bool products_only = false) {
  const auto next = [&] {
    return products_only ? operand(text, script, depth) : arithmetic(text, script, depth, true);
  };
  MaybeNumber value = next();
  for (skip_blanks(text); !text.empty(); skip_blanks(text)) {
    const char sign = text.front();
    if (std::string_view(products_only ? "*/%" : "+-").find(sign) == std::string_view::npos) break;
    text.remove_prefix(1);
    value = combined(value, sign, next());
  }
  return value;
}

MaybeNumber operand(std::string_view& text, Reading& script, int depth) {
  skip_blanks(text);
  if (text.empty() || depth > deepest) return std::nullopt;
  if (text.front() == '(') {
    text.remove_prefix(1);
    std::string_view inside = take_bracketed(text, '(', ')');
    return arithmetic(inside, script, depth + 1);
  }
  std::optional<std::string> value;
  if (text.front() == '$') {
    text.remove_prefix(1);
    value = expanded(take_reference(text), script, depth + 1);
  } else {
    const std::string_view name = take_name(text);
    value = whole<int>(name) ? std::string(name) : value_of(name, script);
  }
  const auto number = value ? whole<int>(*value) : std::nullopt;
  return number ? MaybeNumber(*number) : std::nullopt;
}

/// Its words, whatever separates them, with a blank between.
std::string one_text(std::string_view words, Reading& script, int depth) {
  std::string text;
  for (const std::string& word : split_words(words, script, depth)) {
    if (word != "\n" && word != ";") text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

/// NAME, NAME[@], NAME:-DEFAULT and the like, from between braces.
std::optional<std::string> parameter(std::string_view text, Reading& script, int depth) {
  const std::string_view name = take_name(text);
  const auto value = value_of(name, script);
  if (text.empty() || text == "[@]" || text == "[*]") return value;
  const bool or_empty = text.starts_with(':');
  if (or_empty) text.remove_prefix(1);
  if (text.starts_with('?')) return value;
  if (!text.starts_with('-') && !text.starts_with('=')) return std::nullopt;
  if (value && !(or_empty && value->empty())) return value;
  std::string otherwise = one_text(text.substr(1), script, depth + 1);
  return otherwise.starts_with('$') ? std::nullopt : std::optional(otherwise);
}

/// The value of a reference, where it is known.
std::optional<std::string> expanded(std::string_view reference, Reading& script, int depth) {
  if (reference.empty() || depth > deepest) return std::nullopt;
  if (reference.starts_with("((") && reference.ends_with("))")) {
    reference = reference.substr(2, reference.size() - 4);
    const MaybeNumber value = arithmetic(reference, script, depth + 1);
    return value && reference.empty() ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  if (reference.starts_with('(')) {
    // Of what commands print only the usual way to count a job's nodes is known.
    const bool counts_nodes = reference.find("scontrol show hostname") != std::string_view::npos &&
                              reference.find("wc -l") != std::string_view::npos;
    return counts_nodes ? value_of("SLURM_NNODES", script) : std::nullopt;
  }
  if (!reference.starts_with('{')) return value_of(reference, script);
  return parameter(reference.substr(1, reference.size() - 2), script, depth + 1);
}

class Shell {
 public:
  Shell(std::string_view text, Reading& script, int depth) : rest_(text), script_(script), depth_(depth) {}

  std::vector<std::string> split() {
    while (!rest_.empty()) take_next(take());
    end_command("\n");
    return std::move(words_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  void take_next(char c) {
    if (c == '\n') {
      end_line();
    } else if (is_blank(c)) {
      end_word();
    } else if (c == '#' && !in_word_) {
      take_comment();
    } else if (c == '\'' || c == '"') {
      take_quoted(c);
    } else if (c == '\\') {
      if (!take_continuation()) add(take());
    } else if (c == '$') {
      take_dollar(false);
    } else if (c == '`') {
      add(c);
      while (!rest_.empty() && rest_.front() != c) add(take());
    } else if (c == '(' && word_.ends_with('=') && depth_ < deepest) {
      take_array();
    } else if (c == ';' || c == '|' || (c == '&' && !word_.ends_with('>') && !rest_.starts_with('>'))) {
      end_command(";");
    } else {
      add(c);
    }
  }

  void add(char c) {
    in_word_ = true;
    is_continued_ = false;
    word_ += c;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::exchange(word_, {}));
    in_word_ = false;
  }

  /// A line that begins with an option continues the one before.
  void end_line() {
    const auto start = rest_.find_first_not_of(" \t\r");
    const bool goes_on = start != std::string_view::npos && rest_[start] == '-' && start + 1 < rest_.size() &&
                         !is_blank(rest_[start + 1]);
    if (goes_on && (in_word_ || words_.size() > begin_)) return end_word();
    end_command("\n");
  }

  void assign(const std::string& setting) {
    const auto equals = setting.find('=');
    const bool appends = equals > 0 && setting[equals - 1] == '+';
    const std::string name = setting.substr(0, appends ? equals - 1 : equals);
    std::string& value = script_.variables[name];
    value = (appends ? value + " " : "") + setting.substr(equals + 1);
    count_expanded(appends ? value.size() : 0);
    if (name.starts_with("HOROVOD_") || name.starts_with("NCCL_")) set_variable(script_, {"", {setting}, {}});
  }

  /// A command of settings alone is carried out; of others, those before them.
  void end_command(const char* mark) {
    end_word();
    std::size_t next = begin_;
    if (next < words_.size() && is_among("export declare local readonly", words_[next])) ++next;
    while (next < words_.size() && words_[next].starts_with('-') && next > begin_) ++next;
    const std::size_t first = next;
    while (next < words_.size() && is_setting(words_[next])) ++next;
    const bool is_whole = next == words_.size() && next > begin_;
    for (std::size_t i = first; i < next; ++i) {
      if (is_whole) {
        assign(words_[i]);
      } else {
        const auto equals = words_[i].find('=');
        script_.variables.insert_or_assign(words_[i].substr(0, equals), words_[i].substr(equals + 1));
      }
    }
    if (is_whole) words_.resize(begin_);
    if (words_.size() > begin_) words_.emplace_back(mark);
    begin_ = words_.size();
    is_continued_ = false;
  }

  /// One that is a line of its own among continued lines leaves them continued.
  void take_comment() {
    const auto end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(is_continued_ ? std::min(end + 1, rest_.size()) : end);
    if (line.starts_with("SBATCH ") && depth_ == 0) read_allocation(Shell(line, script_, deepest).split(), script_);
  }

  /// Whether a backslash just read continues the line: only blanks or a comment follow it. Takes them.
  bool take_continuation() {
    const auto start = rest_.find_first_not_of(" \t\r");
    const bool is_comment = start != std::string_view::npos && start > 0 && rest_[start] == '#';
    if (start != std::string_view::npos && rest_[start] != '\n' && !is_comment) return false;
    const auto end = rest_.find('\n', std::min(start, rest_.size()));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (is_comment) end_word();
    is_continued_ = true;
    return true;
  }

  void take_quoted(char quote) {
    in_word_ = true;  // '' is a word
    while (!rest_.empty() && rest_.front() != quote) {
      const char c = take();
      const bool escape = quote == '"' && c == '\\' && !rest_.empty();
      if (escape && (rest_.front() == '\n' || rest_.starts_with("\r\n"))) {
        rest_.remove_prefix(rest_.find('\n') + 1);
      } else if (escape && std::string_view("\"\\$`").find(rest_.front()) != std::string_view::npos) {
        add(take());
      } else if (quote == '"' && c == '$') {
        take_dollar(true);
      } else {
        add(c);
      }
    }
    if (rest_.empty()) script_.where.fail(std::string("a closing ") + quote, "the end of the launch line");
    take();
  }

  void count_expanded(std::size_t more) {
    script_.expanded += more;
    if (script_.expanded > most_expanded) {
      script_.where.fail("variables of at most " + std::to_string(most_expanded) + " characters, all in all", "more");
    }
  }

  void take_dollar(bool is_quoted) {
    const std::string_view reference = take_reference(rest_);
    const auto value = expanded(reference, script_, depth_);
    const bool is_array = reference.ends_with("[@]}");
    const bool splits = value && (!is_quoted || is_array) && !is_setting(word_);
    const std::string text = value.value_or("$" + std::string(reference));
    if (value) count_expanded(text.size());
    for (const char c : text) {
      if (splits && is_blank(c)) {
        end_word();
      } else {
        add(c);
      }
    }
  }

  /// NAME=( ... ), as one text.
  void take_array() {
    const std::string_view inside = take_bracketed(rest_, '(', ')');
    for (const char c : one_text(inside, script_, depth_ + 1)) add(c);
  }

  std::string_view rest_;
  Reading& script_;
  int depth_;
  std::vector<std::string> words_;
  std::string word_;
  std::size_t begin_ = 0;  // of the command, among the words
  bool in_word_ = false;
  bool is_continued_ = false;
};

}  // namespace

bool is_setting(std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  if (name.size() == word.size()) return false;
  if (name.ends_with('+')) name.remove_suffix(1);
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, is_of_name);
}

std::string_view take_until(std::string_view& text, char end) {
  const auto length = std::min(text.find(end), text.size());
  const std::string_view head = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return head;
}

std::vector<std::string> split_words(std::string_view text, Reading& script, int depth) {
  if (depth > deepest) return {std::string(text)};
  return Shell(text, script, depth).split();
}

}}}  // namespace farandole::platform::launch
