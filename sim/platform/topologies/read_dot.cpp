// Reader of undirected Graphviz graphs (https://graphviz.org/doc/info/lang.html), but for subgraphs, ports of vertices
// and HTML, which it refuses.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "platform/sections.hpp"
#include "platform/topologies/graph.hpp"
#include "platform/topologies/wiring.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace platform {
namespace {

using Attributes = std::map<std::string, std::string>;

struct Token {
  std::string text;  // empty at the end
  int line = 1;
  bool is_quoted = false;
};

class Tokens {
 public:
  Tokens(std::string_view text, std::string source) : text_(text), source_(std::move(source)) { advance(); }

  [[nodiscard]] const Token& next() const { return next_; }
  [[nodiscard]] bool at(std::string_view symbol) const { return !next_.is_quoted && next_.text == symbol; }
  Token take() {
    Token taken = next_;
    advance();
    return taken;
  }
  bool take_if(std::string_view symbol) {
    if (!at(symbol)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!take_if(symbol)) fail(next_, fmt::format("\"{}\"", symbol));
  }
  /// A name, quoted or not.
  Token name(const char* what) {
    const bool plain = !next_.text.empty() && (std::isalnum(static_cast<unsigned char>(next_.text[0])) != 0 ||
                                               next_.text[0] == '_' || next_.text[0] == '.');
    if (!next_.is_quoted && !plain) fail(next_, what);
    return take();
  }
  [[noreturn]] void fail(const Token& token, std::string_view expected) const {
    const std::string got = token.text.empty() && !token.is_quoted ? "the end of the file" : quoted(token.text);
    throw InputError(fmt::format("{}:{}: expected {}, got {}", source_, token.line, expected, got));
  }

 private:
  void skip_to(std::string_view end) {
    const auto found = text_.find(end, at_);
    const auto stop = found == std::string_view::npos ? text_.size() : found + end.size();
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
    at_ = stop;
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("/*")) {
        skip_to("*/");
      } else if (text_.substr(at_).starts_with("//") || text_[at_] == '#') {
        skip_to("\n");
      } else if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        line_ += text_[at_++] == '\n' ? 1 : 0;
      } else {
        return;
      }
    }
  }
  void advance() {
    skip_blanks();
    next_ = {"", line_, false};
    if (at_ == text_.size()) return;
    if (text_[at_] == '"') {
      take_quoted();
    } else if (text_.substr(at_).starts_with("--") || text_.substr(at_).starts_with("->")) {
      next_.text = text_.substr(at_, 2);
      at_ += 2;
    } else {
      take_word();
    }
  }
  void take_quoted() {
    next_.is_quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      if (text_[at_] == '\n') ++line_;
      next_.text += text_[at_];
    }
    if (at_ == text_.size()) fail(next_, "a closing quotation mark");
    ++at_;
  }
  void take_word() {
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    const std::size_t start = at_++;
    while (is_part(text_[start]) && at_ < text_.size() && is_part(text_[at_])) ++at_;
    next_.text = text_.substr(start, at_ - start);
  }

  std::string_view text_;
  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token next_;
};

/// Every vertex and every edge has those that were said of all: what is for the eye is not kept.
constexpr std::array<std::string_view, 5> understood{"kind", "ports", "rate", "latency", "cables"};
constexpr std::size_t most_edges = std::size_t{1} << 20U;

class DotReader {
 public:
  DotReader(std::string_view text, const std::string& source, const std::optional<Topology::LinkRate>& usual)
      : tokens_(text, source), source_(source), usual_(usual) {}

  GraphPlan read() {
    tokens_.take_if("strict");
    tokens_.expect("graph");
    if (!tokens_.at("{")) tokens_.name("the graph's name");
    tokens_.expect("{");
    while (!tokens_.take_if("}")) {
      read_statement();
      tokens_.take_if(";");
    }
    return plan();
  }

 private:
  struct Vertex {
    std::string name;
    Attributes attributes;
    int line = 0;
    int edges = 0;
  };
  struct Edge {
    int from;
    int to;
    Attributes attributes;
    int line;
  };

  void read_attributes(Attributes& attributes) {
    while (tokens_.take_if("[")) {
      while (!tokens_.take_if("]")) {
        const std::string key = tokens_.name("an attribute").text;
        tokens_.expect("=");
        std::string value = tokens_.name("a value").text;
        if (std::ranges::find(understood, key) != understood.end()) attributes[key] = std::move(value);
        if (!tokens_.take_if(",")) tokens_.take_if(";");
      }
    }
  }

  int vertex(const Token& name) {
    const auto [found, is_new] = numbers_.try_emplace(name.text, static_cast<int>(vertices_.size()));
    if (is_new) vertices_.push_back({name.text, usual_of_vertices_, name.line, 0});
    if (vertices_.size() > most_vertices)
      tokens_.fail(name, fmt::format("at most {} hosts and switches", most_vertices));
    return found->second;
  }

  void read_statement() {
    const Token first = tokens_.next();
    if (tokens_.at("subgraph") || tokens_.at("{")) tokens_.fail(first, "vertices and edges, no subgraphs");
    if (tokens_.take_if("graph")) {
      Attributes ignored;
      read_attributes(ignored);
    } else if (tokens_.take_if("node")) {
      read_attributes(usual_of_vertices_);
    } else if (tokens_.take_if("edge")) {
      read_attributes(usual_of_edges_);
    } else {
      const Token name = tokens_.name("a vertex");
      if (tokens_.take_if("=")) {
        tokens_.name("a value");
      } else {
        read_vertex_or_edges(name);
      }
    }
  }

  void read_vertex_or_edges(const Token& name) {
    int from = vertex(name);
    if (!tokens_.at("--")) {
      if (tokens_.at("->")) tokens_.fail(tokens_.next(), "\"--\", cables of both directions");
      read_attributes(vertices_[static_cast<std::size_t>(from)].attributes);
      return;
    }
    const std::size_t first = edges_.size();
    while (tokens_.take_if("--")) {
      const Token end = tokens_.name("a vertex");
      const int to = vertex(end);
      if (to == from) tokens_.fail(end, "another vertex");
      edges_.push_back({from, to, usual_of_edges_, end.line});
      if (edges_.size() > most_edges) tokens_.fail(end, fmt::format("at most {} edges", most_edges));
      ++vertices_[static_cast<std::size_t>(from)].edges;
      ++vertices_[static_cast<std::size_t>(to)].edges;
      from = to;
    }
    Attributes own;
    read_attributes(own);
    for (std::size_t i = first; i < edges_.size(); ++i) {
      for (const auto& [key, value] : own) edges_[i].attributes[key] = value;
    }
  }

  [[noreturn]] void fail(int line, std::string_view expected, const std::string& got) const {
    throw InputError(fmt::format("{}:{}: expected {}, got {}", source_, line, expected, got));
  }

  int number(const Attributes& attributes, const std::string& key, int least, int most, int fallback, int line) const {
    const auto found = attributes.find(key);
    if (found == attributes.end()) return fallback;
    const std::string& text = found->second;
    const bool digits =
        !text.empty() && text.size() < 9 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || std::stoi(text) < least || std::stoi(text) > most) {
      fail(line, fmt::format("{} from {} to {}", key, least, most), quoted(text));
    }
    return std::stoi(text);
  }

  template <class T>
  T quantity(const std::string& text, int line) const {
    const auto parsed = parse_quantity<T>(text);
    if (const auto* mismatch = std::get_if<UnitMismatch>(&parsed)) fail(line, mismatch->expected, mismatch->got);
    return std::get<T>(parsed);
  }

  [[nodiscard]] Topology::LinkRate rate_of(const Edge& edge) const {
    Topology::LinkRate link = usual_.value_or(Topology::LinkRate{});
    const auto rate = edge.attributes.find("rate");
    if (rate == edge.attributes.end() && !usual_)
      fail(edge.line, "a rate of every edge, or a \"link\" for them all", "none");
    if (rate != edge.attributes.end()) {
      link.wire = quantity<BytesPerSecond>(rate->second, edge.line);
      if (link.wire < least_link_rate) fail(edge.line, least_link_rate_text, quoted(rate->second));
    }
    const auto latency = edge.attributes.find("latency");
    if (latency != edge.attributes.end()) link.latency = quantity<Seconds>(latency->second, edge.line);
    return link;
  }

  [[nodiscard]] bool is_host(const Vertex& vertex) const {
    const auto kind = vertex.attributes.find("kind");
    if (kind == vertex.attributes.end()) return vertex.edges == 1;
    if (kind->second != "host" && kind->second != "switch") {
      fail(vertex.line, "kind=host or kind=switch", quoted(kind->second));
    }
    return kind->second == "host";
  }

  GraphPlan plan() const {
    GraphPlan graph;
    std::vector<int> number_of(vertices_.size());
    for (const bool hosts : {true, false}) {
      for (std::size_t i = 0; i < vertices_.size(); ++i) {
        const Vertex& vertex = vertices_[i];
        if (is_host(vertex) != hosts) continue;
        number_of[i] = static_cast<int>(graph.vertices.size());
        graph.vertices.push_back({vertex.name, number(vertex.attributes, "ports", 0, most_cables, 0, vertex.line)});
      }
      if (hosts) graph.hosts = static_cast<int>(graph.vertices.size());
    }
    for (const Edge& edge : edges_) {
      const Topology::LinkRate link = rate_of(edge);
      graph.edges.push_back({number_of[static_cast<std::size_t>(edge.from)],
                             number_of[static_cast<std::size_t>(edge.to)], link, link,
                             number(edge.attributes, "cables", 1, most_cables_together, 1, edge.line)});
    }
    return graph;
  }

  Tokens tokens_;
  std::string source_;
  std::optional<Topology::LinkRate> usual_;
  std::vector<Vertex> vertices_;
  std::map<std::string, int> numbers_;
  std::vector<Edge> edges_;
  Attributes usual_of_vertices_;
  Attributes usual_of_edges_;
};

}  // namespace

GraphPlan parse_dot(std::string_view text, const std::string& source, const std::optional<Topology::LinkRate>& usual) {
  return DotReader(text, source, usual).read();
}

}}  // namespace farandole::platform
