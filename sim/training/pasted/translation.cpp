#include "training/pasted/translation.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace training {
namespace {

bool is_off(const Value& value) {
  const auto& node = value.node().value;
  if (std::holds_alternative<std::nullptr_t>(node)) return true;
  if (const auto* flag = std::get_if<bool>(&node)) return !*flag;
  if (const auto* number = std::get_if<std::int64_t>(&node)) return *number == 0;
  if (const auto* text = std::get_if<std::string>(&node)) return text->empty() || *text == "none" || *text == "None";
  if (const auto* array = std::get_if<Node::Array>(&node)) return array->empty();
  if (!value.is_object()) return false;
  const auto members = value.members();
  // {"device": "none"} and {"enabled": false} are off, too.
  return members.empty() || std::ranges::any_of(members, [](const auto& member) {
           return (member.first == "enabled" || member.first == "device") && is_off(member.second);
         });
}

}  // namespace

const Node* Translation::find(const std::string& key) const {
  const auto& members = std::get<Node::Object>(pasted_.strategy.value);
  const auto found = std::ranges::find(members, key, &Node::Member::key);
  return found == members.end() ? nullptr : &found->node;
}

void Translation::set(const std::string& key, decltype(Node::value) value, const Value& because) {
  if (find(key) != nullptr) because.fail(fmt::format("one \"{}\", in the scenario or in what is pasted", key), "both");
  set_usual(key, std::move(value), because);
}

void Translation::set_usual(const std::string& key, decltype(Node::value) value, const Value& because) {
  if (find(key) != nullptr) return;
  Node node = because.node();
  node.value = std::move(value);
  std::get<Node::Object>(pasted_.strategy.value).push_back({key, std::move(node)});
}

void refuse_unknown(const Value& object, std::span<const PastedKey> keys) {
  const std::vector<std::string> known = mapped(keys, &PastedKey::name);
  for (const auto& [name, value] : object.members()) {
    if (std::ranges::find(known, name) == known.end())
      object.fail("a key that is known", quoted(name), suggestion(name, known));
  }
}

void translate(const Value& object, std::span<const PastedKey> keys, Translation& translation) {
  refuse_unknown(object, keys);
  for (const auto& [name, value] : object.members()) {
    const auto row = std::ranges::find(keys, name, &PastedKey::name);
    const auto* text = std::get_if<std::string>(&value.node().value);
    if (text == nullptr || *text != "auto") row->take(value, translation);
  }
}

PastedKey sets(std::string key, std::string setting) {
  return {std::move(key), [setting](const Value& value, Translation& translation) { translation.set(setting, value); }};
}

PastedKey free_of_charge(std::string key) {
  return {std::move(key), [](const Value& value, Translation& translation) { translation.ignore(value); }};
}

PastedKey not_simulated(std::string key) {
  return {key, [key](const Value& value, Translation&) {
            if (!is_off(value)) value.fail(fmt::format("no {}, which is not simulated", key));
          }};
}

PastedKey within(std::string key, std::vector<PastedKey> keys) {
  return {std::move(key), [keys = std::move(keys)](const Value& value, Translation& translation) {
            translate(value, keys, translation);
          }};
}

void add_rows(std::vector<PastedKey>& keys, PastedKey (*row)(std::string), std::string_view names) {
  std::istringstream text{std::string(names)};
  for (std::string name; text >> name;) keys.push_back(row(name));
}

std::int64_t pasted_count(const Value& value) {
  const auto* number = std::get_if<double>(&value.node().value);
  if (number == nullptr) return read_at_least(value, 0);
  constexpr double most = 1e15;
  if (!(*number >= 0 && *number <= most) || *number != std::floor(*number)) value.fail("a whole number");
  return static_cast<std::int64_t>(*number);
}

void expect_batch(const Value& value, Translation& translation) {
  const std::int64_t batch = translation.into().batch_per_rank;
  if (batch == 0 || pasted_count(value) == batch) return;
  value.fail(fmt::format("{}, the \"batch_per_rank\" of the workload", batch));
}

void expect_precision(const Value& value, const std::string& precision, Translation& translation) {
  if (precision == translation.into().precision) return;
  value.fail(fmt::format("{}, the \"precision\" of the workload", translation.into().precision), precision);
}

namespace {

std::string upper(const Value& value) {
  auto text = read<std::string>(value);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// On where the workload computes the forward pass of its blocks again.
void expect_recompute(const Value& value, Translation& translation) {
  if (!read<bool>(value) || translation.into().recomputes) return;
  value.fail("\"recompute\" in the workload, which activation checkpointing is");
}

}  // namespace

void take_sharding_strategy(const Value& value, Translation& translation) {
  std::string name = upper(value);
  if (name == "HYBRID_SHARD_ZERO2") name = "_HYBRID_SHARD_ZERO2";
  const std::vector<std::string> known{"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                       "_HYBRID_SHARD_ZERO2"};
  if (std::ranges::find(known, name) == known.end()) value.fail_unknown("a sharding strategy", known);
  translation.set("sharding_strategy", name, value);
}

void take_backward_prefetch(const Value& value, Translation& translation) {
  const bool is_none = std::holds_alternative<std::nullptr_t>(value.node().value);
  std::string name = is_none ? "NO_PREFETCH" : upper(value);
  if (name == "NONE") name = "NO_PREFETCH";
  const std::vector<std::string> known{"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"};
  if (std::ranges::find(known, name) == known.end()) value.fail_unknown("a way to prefetch", known);
  translation.set("backward_prefetch", name, value);
}

std::vector<PastedKey> common_fsdp_keys() {
  std::vector<PastedKey> keys{{"backward_prefetch", take_backward_prefetch},
                              sets("limit_all_gathers", "limit_all_gathers"),
                              {"activation_checkpointing", expect_recompute}};
  // What is gathered ahead in the forward pass is what the limiter lets through: the host is never late.
  add_rows(keys, free_of_charge, "forward_prefetch state_dict_type sync_module_states use_orig_params");
  return keys;
}

void set_usual_types(Translation& translation, const char* parameters, const char* gradients, const Value& because) {
  translation.set_usual("param_dtype", std::string(parameters), because);
  translation.set_usual("reduce_dtype", std::string(gradients), because);
}

void set_usual_group(Translation& translation, const Value& because) {
  const Node* kind = translation.find("sharding_strategy");
  if (kind == nullptr) return;
  const auto* name = std::get_if<std::string>(&kind->value);
  if (name == nullptr || name->find("HYBRID") == std::string::npos) return;
  translation.set_usual("shard_group", std::int64_t{translation.into().ranks_per_node}, because);
}

}}  // namespace farandole::training
