// What accelerate's and llm-foundry's settings of FSDP have in common (training/pasted/pasted.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/pasted/translation.hpp"

namespace farandole {

/// Rows of keys that both have, with PyTorch's own meaning.
std::vector<PastedKey> common_fsdp_keys();

void take_sharding_strategy(const Value& value, Translation& translation);
void take_backward_prefetch(const Value& value, Translation& translation);

/// Types of parameters and gradients where nothing was said of them.
void set_usual_types(Translation& translation, const char* parameters, const char* gradients, const Value& because);

/// PyTorch's group of hybrid sharding: a node.
void set_usual_group(Translation& translation, const Value& because);

std::optional<Value> find_member(const Value& object, const std::string& key);

}  // namespace farandole
