// libFuzzer target: YAML is a tree or refused, and as a configuration of DeepSpeed, accelerate or llm-foundry it is
// settings of a strategy or refused.
#include <nlohmann/json.hpp>

#include "fuzz/fuzz.hpp"
#include "training/pasted/pasted.hpp"

namespace {

using namespace farandole;

Node strategy_with(const std::string& key, const Node& pasted) {
  Node strategy =
      Document::parse(key == "deepspeed" ? R"({"kind": "zero"})" : R"({"kind": "fsdp"})", "fuzz.json").root().node();
  std::get<Node::Object>(strategy.value).push_back({key, pasted});
  return strategy;
}

void paste(const Node& pasted) {
  const PastedInto into{8, 2, 4, 32, 256, "bf16", "adam", false};
  for (const std::string form : {"deepspeed", "accelerate", "llm_foundry"}) {
    const Node strategy = strategy_with(form, pasted);
    fuzz::use_or_refuse([&] {
      const Pasted result = unpaste(Value(strategy, "/strategy"), into, read_text);
      const Value settings(result.strategy, "/strategy");
      fuzz::require(settings.is_object(), "a strategy is an object");
      for (const auto& [key, value] : settings.members()) fuzz::require(key != form, "what was pasted is taken out");
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const Node tree = parse_yaml(text, "fuzz.yaml");
    (void)to_json(tree).dump();
    if (std::holds_alternative<Node::Object>(tree.value)) paste(tree);
  });
  return 0;
}
