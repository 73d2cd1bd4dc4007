#include "house/defined_types.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace house {
namespace {

struct Token {
  std::string text;  // an identifier, "::", or one character
  std::size_t index = 0;
};

bool is_of_a_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool continues(const std::string& line) {
  return !line.empty() && line.back() == '\\';
}

void add_tokens(const std::string& line, std::size_t index, std::vector<Token>& tokens) {
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i + 1;
    if (is_of_a_word(line[i])) {
      while (end < line.size() && is_of_a_word(line[end])) ++end;
    } else if (line.compare(i, 2, "::") == 0) {
      ++end;
    }
    if (std::isspace(static_cast<unsigned char>(line[i])) == 0) tokens.push_back({line.substr(i, end - i), index});
    i = end;
  }
}

/// Without what is the preprocessor's.
std::vector<Token> tokens_of(const std::vector<std::string>& code) {
  std::vector<Token> tokens;
  bool is_directive = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto first = code[i].find_first_not_of(" \t");
    is_directive = is_directive || (first != std::string::npos && code[i][first] == '#');
    if (!is_directive) add_tokens(code[i], i, tokens);
    is_directive = is_directive && continues(code[i]);
  }
  return tokens;
}

/// Finds what is defined while it walks through the file once.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& code) : tokens_(tokens_of(code)) {}

  std::vector<DefinedType> read() {
    while (at_ < tokens_.size()) step();
    return found_;
  }

 private:
  /// A brace that is open: of a namespace or a type, with its name, or of anything that nobody outside can look into.
  using Scope = std::optional<std::string>;

  [[nodiscard]] std::string_view text(std::size_t at) const {
    return at < tokens_.size() ? tokens_[at].text : std::string_view();
  }

  void step() {
    const std::string_view now = text(at_);
    if (now == "namespace") {
      open_namespace();
    } else if (now == "struct" || now == "class" || now == "union" || now == "enum") {
      open_type(now == "enum");
    } else {
      if (now == "{") scopes_.push_back(std::nullopt);
      if (now == "}" && !scopes_.empty()) scopes_.pop_back();
      ++at_;
    }
  }

  /// `namespace a::inline b {`, or an alias or a directive, which open nothing.
  void open_namespace() {
    const std::string name = name_from(++at_);
    if (text(at_) != "{") return;
    scopes_.push_back(name.empty() ? std::nullopt : Scope(name));
    ++at_;
  }

  void open_type(bool is_enumeration) {
    const std::size_t index = tokens_[at_].index;
    ++at_;
    if (is_enumeration && (text(at_) == "class" || text(at_) == "struct")) ++at_;
    const std::string name = name_from(at_);
    if (text(at_) == "final") ++at_;
    if (text(at_) == ":") skip_to_the_body();
    if (text(at_) != "{") return;
    const bool is_visible = std::ranges::all_of(scopes_, [](const Scope& scope) { return scope.has_value(); });
    if (is_visible && !name.empty()) found_.push_back({qualified(name), index});
    scopes_.push_back(name.empty() || is_enumeration ? std::nullopt : Scope(name));
    ++at_;
  }

  void skip_to_the_body() {
    while (at_ < tokens_.size() && text(at_) != "{" && text(at_) != ";") ++at_;
  }

  /// Leaves `at` behind it. An attribute before it is skipped, arguments of a template are part of it.
  std::string name_from(std::size_t& at) {
    if (text(at) == "[") skip_over(at, "[", "]");
    std::string name;
    while (text(at) == "::" ||
           (!text(at).empty() && is_of_a_word(text(at)[0]) && text(at) != "final" && !ends_in_word(name))) {
      if (text(at) != "inline") name += text(at);
      ++at;
    }
    if (!name.empty() && text(at) == "<") {
      const std::size_t from = at;
      skip_over(at, "<", ">");
      for (std::size_t i = from; i < at; ++i) name += text(i);
    }
    return name;
  }

  static bool ends_in_word(const std::string& name) { return !name.empty() && is_of_a_word(name.back()); }

  void skip_over(std::size_t& at, std::string_view opening, std::string_view closing) {
    for (int depth = 0; at < tokens_.size(); ++at) {
      depth += text(at) == opening ? 1 : text(at) == closing ? -1 : 0;
      if (depth == 0) break;
    }
    at = std::min(at + 1, tokens_.size());
  }

  [[nodiscard]] std::string qualified(const std::string& name) const {
    std::string all;
    for (const Scope& scope : scopes_) all += *scope + "::";
    return all + name;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  std::vector<DefinedType> found_;
};

}  // namespace

std::vector<DefinedType> types_defined_in(const std::vector<std::string>& code) {
  return Reader(code).read();
}

}  // namespace house
