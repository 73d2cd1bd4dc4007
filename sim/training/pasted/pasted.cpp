#include "training/pasted/pasted.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/pasted/translation.hpp"

namespace farandole { inline namespace training {
namespace {

struct Form {
  const char* key;
  const char* strategy;
  const char* program;
  Translator translate;
};

constexpr std::array<Form, 3> forms{{
    {"deepspeed", "zero", "DeepSpeed", translate_deepspeed},
    {"accelerate", "fsdp", "accelerate", translate_accelerate},
    {"llm_foundry", "fsdp", "llm-foundry", translate_llm_foundry},
}};

/// The object itself, or what a file holds: YAML, and JSON where its name ends so.
Node tree_of(const Value& pasted, const TextReader& read_file) {
  if (pasted.is_object()) return pasted.node();
  if (!pasted.is_string()) pasted.fail("a configuration as an object, or the name of a file that holds one");
  const auto name = read<std::string>(pasted);
  const std::string text = read_file(name);
  if (name.ends_with(".json")) return Document::parse(text, name).root().node();
  return parse_yaml(text, name);
}

void expect_kind(const Value& strategy, const Form& form) {
  for (const auto& [key, value] : strategy.members()) {
    if (key == "kind" && read<std::string>(value) == form.strategy) return;
  }
  strategy.fail(fmt::format("\"kind\": \"{}\" beside a configuration of {}", form.strategy, form.program));
}

}  // namespace

Pasted unpaste(const Value& strategy, const PastedInto& into, const TextReader& text) {
  Pasted result{strategy.node(), {}};
  if (!strategy.is_object()) return result;
  for (const auto& [key, value] : strategy.members()) {
    const auto form = std::ranges::find_if(forms, [&, &name = key](const Form& row) { return name == row.key; });
    if (form == forms.end()) continue;
    expect_kind(strategy, *form);
    std::erase_if(std::get<Node::Object>(result.strategy.value),
                  [&, &name = key](const Node::Member& member) { return member.key == name; });
    const Node tree = tree_of(value, text);
    Translation translation(into, result);
    form->translate(Value(tree, value.is_object() ? value.pointer() : ""), translation);
  }
  return result;
}

}}  // namespace farandole::training
