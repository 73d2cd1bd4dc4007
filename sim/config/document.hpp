// A JSON document that remembers the line of every value.
//
// Everything Farandole reads from JSON goes through here. Parsing refuses what JSON readers let pass: duplicate keys,
// nesting beyond 64 levels, files over 64 MiB, anything after the document. Values may be replaced before they are
// read (`--set`, sweeps), and then say so in errors. A Document owns its values; a `Value` is a light handle
// (node and pointer path) that must not outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/error.hpp"

namespace farandole { inline namespace config {

struct Node {
  struct Member;
  using Array = std::vector<Node>;
  using Object = std::vector<Member>;  // in file order, keys unique

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value;
  int line = 0;
  std::shared_ptr<const std::string> source;  // the file's name, or "--set"
};

struct Node::Member {
  std::string key;
  Node node;
};

/// A value and where it stands.
class Value {
 public:
  Value(const Node& node, std::string pointer) : node_(&node), pointer_(std::move(pointer)) {}

  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] Place place() const;
  /// The value in a message: `"25 GB"`, `-4`, `an object`, ...
  [[nodiscard]] std::string describe() const;

  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail(std::string_view expected, std::string_view got, std::string_view hint = {}) const;
  /// For a name that is not in a catalogue: "expected a model, got \"vgg61\"; did you mean \"vgg16\"?".
  [[noreturn]] void fail_unknown(std::string_view what, const std::vector<std::string>& known) const;

  /// The elements of an array; fails where the value is not one.
  [[nodiscard]] std::vector<Value> elements() const;
  /// The members of an object, for objects whose keys are data; fails where the value is not one.
  [[nodiscard]] std::vector<std::pair<std::string, Value>> members() const;
  /// One of them, if it is there.
  [[nodiscard]] std::optional<Value> member(std::string_view key) const;
  /// By a token of a pointer: a member, or an element by its number; nothing where there is none.
  [[nodiscard]] std::optional<Value> step(std::string_view token) const;
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Node::Object>(node_->value); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Node::Array>(node_->value); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(node_->value); }

 private:
  const Node* node_;
  std::string pointer_;
};

class Document {
 public:
  static Document read(const std::filesystem::path& file);
  static Document parse(std::string_view text, std::string source);

  [[nodiscard]] Value root() const { return Value(root_, ""); }
  [[nodiscard]] const std::string& source() const { return *root_.source; }

  /// Replaces or adds what `pointer` (RFC 6901) names, with the objects around it that are not there; arrays must have
  /// the index. `text` is read as JSON, and as a plain string where it is none ("25 Gbit/s" needs no quotes).
  void set(std::string_view pointer, std::string_view text);
  /// The same with a ready value, for sweeps.
  void set(std::string_view pointer, const Node& value);

  /// The document without one member of its outermost object.
  [[nodiscard]] Document without(std::string_view key) const;

  /// The value a pointer names, if it is there.
  [[nodiscard]] std::optional<Value> find(std::string_view pointer) const;
  /// Takes out the member of an object that a pointer names; nothing happens where there is none.
  void remove(std::string_view pointer);

  [[nodiscard]] nlohmann::json to_json() const;
  /// With the members of objects in the order of the file.
  [[nodiscard]] nlohmann::ordered_json to_ordered_json() const;

 private:
  Node root_;
};

nlohmann::json to_json(const Node& node);

// Checks a document against one of our JSON Schemas (valijson), so that editors and the program agree.
//
// The typed readers are the law and give the better messages; the schema is for editors, for `farandole check`, and
// for tests that hold the two together.

/// Throws InputError for the first violation, with its file, line and pointer.
void check_schema(const Document& document, const std::filesystem::path& schema_file);

// JSON pointers (RFC 6901): "/links/0/rate", with "~1" for a slash and "~0" for a tilde inside a key.

/// One key as it stands in a pointer.
std::string pointer_token(std::string_view key);

/// The keys a pointer names; nothing where it does not start with "/" or has a "~" that is no escape.
std::optional<std::vector<std::string>> split_pointer(std::string_view pointer);

/// Whether it names what the other does, or a part of that.
bool is_within(std::string_view pointer, std::string_view around);

/// An array index: digits without sign or leading zero.
std::optional<std::size_t> array_index(std::string_view token);

}}  // namespace farandole::config
