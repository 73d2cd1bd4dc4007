#include <algorithm>

#include "config/listed_members.hpp"
#include "config/section.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/sweep.hpp"

namespace farandole { inline namespace scenario {
namespace {

std::vector<SweptValue> read_values(const Value& where, const Configurations& configurations) {
  std::vector<SweptValue> values;
  for (const auto& [pointer, value] : listed_members(where)) {
    values.push_back({pointer, swept_text(value.node())});
    if (!configurations.put(values.back())) value.fail("a value that \"sweep\" puts there");
  }
  if (values.empty()) where.fail("at least one pointer of \"sweep\" with its value");
  return values;
}

}  // namespace

std::optional<Question> read_question(const Document& document, const Configurations& configurations) {
  const auto where = document.find("/question");
  if (!where || std::holds_alternative<std::nullptr_t>(where->node().value)) return std::nullopt;
  Section section(*where);
  Question question;
  question.ask = section.required<std::string>("ask");
  question.from = read_values(section.child("from"), configurations);
  const Value to = section.child("to");
  question.to = read_values(to, configurations);
  section.finish();
  const auto same = [](const SweptValue& a, const SweptValue& b) { return a.pointer == b.pointer; };
  if (!std::ranges::is_permutation(question.from, question.to, same)) to.fail("the same pointers as in \"from\"");
  return question;
}

}}  // namespace farandole::scenario
