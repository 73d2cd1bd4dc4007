// What the tables of pasted configurations are made of: rows that say what becomes of a key
// (training/pasted/pasted.hpp).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/pasted/pasted.hpp"

namespace farandole { inline namespace training {

/// One configuration on its way to settings of a strategy.
class Translation {
 public:
  Translation(const PastedInto& into, Pasted& pasted) : into_(into), pasted_(pasted) {}

  [[nodiscard]] const PastedInto& into() const { return into_; }
  /// A setting of the strategy; refused where the scenario gives it, too.
  void set(const std::string& key, const Value& value) { set(key, value.node().value, value); }
  void set(const std::string& key, decltype(Node::value) value, const Value& because);
  /// Unless it is set already, by whomever.
  void set_usual(const std::string& key, decltype(Node::value) value, const Value& because);
  [[nodiscard]] const Node* find(const std::string& key) const;
  void ignore(const Value& value) { pasted_.ignored.push_back(value.pointer()); }

 private:
  const PastedInto& into_;
  Pasted& pasted_;
};

struct PastedKey {
  std::string name;
  std::function<void(const Value&, Translation&)> take;
};

/// InputError for a member without a row.
void refuse_unknown(const Value& object, std::span<const PastedKey> keys);
/// Every member by its row; "auto", which other programs fill in, says nothing.
void translate(const Value& object, std::span<const PastedKey> keys, Translation& translation);

/// Rows.
PastedKey sets(std::string key, std::string setting);  // as it is
PastedKey free_of_charge(std::string key);             // no effect on time here
PastedKey not_simulated(std::string key);  // refused unless it is off: false, null, none, 0, {} or {enabled: false}
PastedKey within(std::string key, std::vector<PastedKey> keys);
/// A row of one of these two for each of the names, which are in a text with a space between.
void add_rows(std::vector<PastedKey>& keys, PastedKey (*row)(std::string), std::string_view names);

/// The whole number that a JSON number is, 5e8 too.
std::int64_t pasted_count(const Value& value);
void expect_batch(const Value& value, Translation& translation);  // of a rank
void expect_precision(const Value& value, const std::string& precision, Translation& translation);

using Translator = void (*)(const Value& pasted, Translation& translation);
void translate_deepspeed(const Value& pasted, Translation& translation);
void translate_accelerate(const Value& pasted, Translation& translation);
void translate_llm_foundry(const Value& pasted, Translation& translation);

// What accelerate's and llm-foundry's settings of FSDP have in common (training/pasted/pasted.hpp).

/// Rows of keys that both have, with PyTorch's own meaning.
std::vector<PastedKey> common_fsdp_keys();

void take_sharding_strategy(const Value& value, Translation& translation);
void take_backward_prefetch(const Value& value, Translation& translation);

/// Types of parameters and gradients where nothing was said of them.
void set_usual_types(Translation& translation, const char* parameters, const char* gradients, const Value& because);

/// PyTorch's group of hybrid sharding: a node.
void set_usual_group(Translation& translation, const Value& because);

}}  // namespace farandole::training
