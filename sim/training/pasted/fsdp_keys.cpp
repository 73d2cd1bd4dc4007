#include <algorithm>
#include <cctype>

#include "config/section.hpp"
#include "training/pasted/translation.hpp"

namespace farandole { inline namespace training {
namespace {

std::string upper(const Value& value) {
  auto text = read<std::string>(value);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// On where the workload computes the forward pass of its blocks again.
void expect_recompute(const Value& value, Translation& translation) {
  if (!read_flag(value) || translation.into().recomputes) return;
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
  for (const char* key : {"forward_prefetch", "state_dict_type", "sync_module_states", "use_orig_params"}) {
    keys.push_back(free_of_charge(key));
  }
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

std::optional<Value> find_member(const Value& object, const std::string& key) {
  for (const auto& [name, value] : object.members()) {
    if (name == key) return value;
  }
  return std::nullopt;
}

}}  // namespace farandole::training
