#include "slurm_topology.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "config/error.hpp"
#include "config/text.hpp"

namespace farandole {
namespace {

constexpr std::size_t most_names = 200'000;
constexpr int most_switch_levels = 3;
constexpr int most_brackets = 4;  // of one name, after the first

struct Statement {
  int line = 0;
  std::map<std::string, std::string> values;  // by lower-case key
};

struct Switch {
  int line = 0;
  std::vector<std::string> nodes;
  std::vector<std::string> below;  // switches
};

[[noreturn]] void refuse_line(const Place& place, const std::string& expected, const std::string& got) {
  const std::string line = place.line > 0 ? fmt::format(":{}", place.line) : "";
  throw InputError(fmt::format("{}{}: expected {}, got {}", place.source, line, expected, got));
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The names of one list: "a[1-3,7],b" are a1, a2, a3, a7 and b.
class NameList {
 public:
  NameList(std::string_view text, Place place) : text_(text), place_(std::move(place)) {}

  std::vector<std::string> names() {
    std::string_view rest = text_;
    while (!rest.empty()) {
      const std::size_t end = end_of_name(rest);
      expand("", rest.substr(0, end));
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    return names_;
  }

 private:
  [[noreturn]] void fail() const { refuse_line(place_, "names such as node[01-16,20]", quoted(text_)); }

  /// The next comma outside of brackets.
  [[nodiscard]] std::size_t end_of_name(std::string_view rest) const {
    bool inside = false;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] == '[') inside = true;
      if (rest[i] == ']') inside = false;
      if (rest[i] == ',' && !inside) return i;
    }
    return rest.size();
  }

  [[nodiscard]] long number(std::string_view digits) const {
    long value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() || !is_digit(digits[0])) fail();
    return value;
  }

  void expand(const std::string& head, std::string_view rest) {
    const std::size_t open = rest.find('[');
    if (open == std::string_view::npos) {
      if (head.empty() && rest.empty()) fail();
      if (names_.size() >= most_names) refuse_line(place_, fmt::format("at most {} names", most_names), "more");
      names_.push_back(head + std::string(rest));
      return;
    }
    const std::size_t close = rest.find(']', open);
    if (close == std::string_view::npos) fail();
    const std::string before = head + std::string(rest.substr(0, open));
    std::string_view ranges = rest.substr(open + 1, close - open - 1);
    while (true) {
      const std::size_t comma = std::min(ranges.find(','), ranges.size());
      expand_range(before, ranges.substr(0, comma), rest.substr(close + 1));
      if (comma == ranges.size()) return;
      ranges.remove_prefix(comma + 1);
    }
  }

  void expand_range(const std::string& before, std::string_view range, std::string_view after) {
    const std::size_t dash = std::min(range.find('-'), range.size());
    if (std::ranges::count(after, '[') > most_brackets) fail();
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == range.size() ? first : range.substr(dash + 1);
    const long from = number(first);
    const long to = number(last);
    if (to < from || static_cast<std::size_t>(to - from) >= most_names) fail();
    for (long value = from; value <= to; ++value) {
      expand(before + fmt::format("{:0{}}", value, first.size()), after);
    }
  }

  std::string_view text_;
  Place place_;
  std::vector<std::string> names_;
};

std::vector<Statement> statements(std::string_view text, const std::string& source) {
  std::vector<Statement> result;
  Statement statement;
  int line = 0;
  bool goes_on = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    ++line;
    row = row.substr(0, row.find('#'));
    while (!row.empty() && std::isspace(static_cast<unsigned char>(row.back())) != 0) row.remove_suffix(1);
    if (!goes_on) statement = {line, {}};
    goes_on = row.ends_with('\\');
    if (goes_on) row.remove_suffix(1);
    while (!row.empty()) {
      const std::size_t start = std::min(row.find_first_not_of(" \t"), row.size());
      row.remove_prefix(start);
      const std::size_t length = std::min(row.find_first_of(" \t"), row.size());
      if (length == 0) break;
      const std::string_view word = row.substr(0, length);
      row.remove_prefix(length);
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos)
        refuse_line({source, line, ""}, "KEY=VALUE, such as SwitchName=leaf1 Nodes=node[1-16]", quoted(word));
      statement.values[lower(word.substr(0, equals))] = word.substr(equals + 1);
    }
    if (!goes_on && !statement.values.empty()) result.push_back(statement);
  }
  return result;
}

class Tree {
 public:
  Tree(std::string_view text, std::string source) : source_(std::move(source)) {
    for (const Statement& statement : statements(text, source_)) add(statement);
    if (switches_.empty()) refuse_line({source_, 0, ""}, "lines SwitchName=... Nodes=...", "none");
    find_root();
  }

  [[nodiscard]] SwitchTree tree() const {
    const int levels = level(root_);
    SwitchTree result;
    if (levels == 1) return {{{leaf(root_)}}};
    const Switch& root = switches_.at(root_);
    if (levels == 2) {
      result.pods.emplace_back();
      for (const std::string& name : root.below) result.pods.back().push_back(leaf(name));
      return result;
    }
    for (const std::string& name : root.below) {
      result.pods.emplace_back();
      for (const std::string& below : switches_.at(name).below) result.pods.back().push_back(leaf(below));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& name, const std::string& expected, const std::string& got) const {
    refuse_line({source_, switches_.at(name).line, ""}, expected, got);
  }

  void add(const Statement& statement) {
    const Place place{source_, statement.line, ""};
    const auto value = [&](const char* key) {
      const auto found = statement.values.find(key);
      return found == statement.values.end() ? std::string() : found->second;
    };
    const std::string name = value("switchname");
    if (name.empty())
      refuse_line(place, "SwitchName=..., as topology/tree has it",
                  quoted(statement.values.begin()->first + "=" + statement.values.begin()->second));
    if (switches_.contains(name)) refuse_line(place, "each switch once", quoted(name));
    Switch& added = switches_[name];
    added.line = statement.line;
    order_.push_back(name);
    if (!value("switches").empty()) {
      added.below = NameList(statement.values.at("switches"), place).names();
      return;  // what scontrol prints of such a switch's nodes is those below
    }
    if (value("nodes").empty()) refuse_line(place, "Nodes=... or Switches=...", quoted(name));
    added.nodes = NameList(statement.values.at("nodes"), place).names();
    for (const std::string& node : added.nodes) {
      if (!nodes_.insert(node).second) refuse_line(place, "each node under one switch", quoted(node));
    }
  }

  void find_root() {
    std::set<std::string> with_parent;
    for (const std::string& name : order_) {
      for (const std::string& below : switches_.at(name).below) {
        if (!switches_.contains(below)) fail(name, "switches that have a line", quoted(below));
        if (!with_parent.insert(below).second) fail(name, "each switch under one other", quoted(below));
      }
    }
    for (const std::string& name : order_) {
      if (with_parent.contains(name)) continue;
      if (!root_.empty()) fail(name, "one switch above all others", quoted(root_) + " and " + quoted(name));
      root_ = name;
    }
    if (root_.empty()) fail(order_.front(), "a switch above all others", "a circle");
    std::size_t below = 1;
    count(root_, below, most_switch_levels);
    if (below != order_.size()) fail(root_, "a tree of switches", "a circle");
  }

  void count(const std::string& name, std::size_t& below, int levels) const {
    if (levels == 0) fail(name, "at most three levels of switches", "more above " + quoted(name));
    for (const std::string& one : switches_.at(name).below) count(one, ++below, levels - 1);
  }

  [[nodiscard]] int level(const std::string& name) const {
    const Switch& top = switches_.at(name);
    int most = 0;
    for (const std::string& below : top.below) {
      const int of_it = level(below);
      if (most != 0 && most != of_it)
        fail(name, "switches of one level below it", quoted(top.below.front()) + " and " + quoted(below));
      most = of_it;
    }
    return most + 1;
  }

  [[nodiscard]] SwitchTree::Leaf leaf(const std::string& name) const { return {name, switches_.at(name).nodes}; }

  std::string source_;
  std::map<std::string, Switch> switches_;
  std::set<std::string> nodes_;
  std::vector<std::string> order_;
  std::string root_;
};

}  // namespace

std::size_t SwitchTree::leaves() const {
  std::size_t count = 0;
  for (const auto& pod : pods) count += pod.size();
  return count;
}

std::size_t SwitchTree::nodes() const {
  std::size_t count = 0;
  for (const auto& pod : pods) {
    for (const Leaf& leaf : pod) count += leaf.nodes.size();
  }
  return count;
}

SwitchTree slurm_topology_of(std::string_view text, const std::string& source) {
  return Tree(text, source).tree();
}

SwitchTree read_slurm_topology(const std::filesystem::path& file) {
  return slurm_topology_of(read_text(file), file.string());
}

bool comes_before(std::string_view one, std::string_view other) {
  while (!one.empty() && !other.empty()) {
    if (is_digit(one.front()) && is_digit(other.front())) {
      const auto digits = [](std::string_view text) {
        const auto end = std::ranges::find_if_not(text, is_digit);
        return text.substr(0, static_cast<std::size_t>(end - text.begin()));
      };
      std::string_view a = digits(one);
      std::string_view b = digits(other);
      one.remove_prefix(a.size());
      other.remove_prefix(b.size());
      while (a.size() > 1 && a.front() == '0') a.remove_prefix(1);
      while (b.size() > 1 && b.front() == '0') b.remove_prefix(1);
      if (a.size() != b.size()) return a.size() < b.size();
      if (a != b) return a < b;
      continue;
    }
    if (one.front() != other.front()) return one.front() < other.front();
    one.remove_prefix(1);
    other.remove_prefix(1);
  }
  return one.empty() && !other.empty();
}

}  // namespace farandole
