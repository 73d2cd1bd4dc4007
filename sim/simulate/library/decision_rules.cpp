#include "simulate/library/decision_rules.hpp"

#include <bit>

#include "config/section.hpp"
#include "simulate/library/library_file.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr int most_of_a_rule = 1 << 30;  // ranks and nodes

DecisionRule read_rule(Section& section) {
  DecisionRule rule;
  for (const auto& [key, number] : {std::pair("ranks_from", &rule.ranks_from),
                                    {"ranks_below", &rule.ranks_below},
                                    {"nodes_from", &rule.nodes_from},
                                    {"nodes_up_to", &rule.nodes_up_to},
                                    {"ranks_per_node_from", &rule.ranks_per_node_from}}) {
    if (const auto said = section.maybe(key)) *number = read_between(*said, 1, most_of_a_rule);
  }
  rule.power_of_two = section.maybe_read<bool>("power_of_two");
  rule.too_short = section.optional<bool>("too_short", false);
  rule.below = section.optional<Bytes>("below", rule.below);
  rule.up_to = section.optional<Bytes>("up_to", rule.up_to);
  rule.algorithm = section.required<std::string>("algorithm");
  rule.protocol = section.optional<std::string>("protocol", "");
  return rule;
}

}  // namespace

bool DecisionRule::fits(const DecisionCase& asked) const {
  const bool is_power = std::has_single_bit(static_cast<unsigned>(asked.ranks));
  return asked.ranks >= ranks_from && asked.ranks < ranks_below && asked.nodes >= nodes_from &&
         asked.nodes <= nodes_up_to && asked.ranks_per_node >= ranks_per_node_from &&
         power_of_two.value_or(is_power) == is_power && (!too_short || asked.is_too_short) && asked.size < below &&
         asked.size <= up_to;
}

DecisionRules read_decision_rules(const Value& value,
                                  const std::function<void(Section& row, Operation operation)>& check) {
  Section section = read_block(value);
  DecisionRules rules;
  for (const std::string& known : operation_names()) {
    const auto rows = section.maybe(known);
    if (!rows) continue;
    const Operation operation = *find_operation(known);
    for (const Value& each : rows->elements()) {
      Section row(each);
      rules[operation].push_back(read_rule(row));
      check(row, operation);
      row.finish();
    }
  }
  section.finish();
  return rules;
}

const DecisionRule* first_that_fits(const DecisionRules& rules, Operation operation, const DecisionCase& asked) {
  const auto found = rules.find(operation);
  if (found == rules.end()) return nullptr;
  for (const DecisionRule& rule : found->second) {
    if (rule.fits(asked)) return &rule;
  }
  return nullptr;
}

}}  // namespace farandole::simulate
